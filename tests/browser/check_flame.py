# SPDX-License-Identifier: MIT
"""The flame graph of a profile with call paths, against the paths of the JSON report."""
import json
import os

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tap import fits, load, ok, pick, quiet, same

COUNTERS = {
    'instructions': ['instructions'],
    'references': ['l1d_loads', 'l1d_stores'],
    'L1D misses': ['l1d_load_misses', 'l1d_store_misses', 'l1d_bypasses'],
    'L2 misses': ['l2_load_misses', 'l2_store_misses'],
    'L3 misses': ['llc_load_misses', 'llc_store_misses'],
}

# Lists each frame that is shown: its number, name, what it has with and without what it
# calls, where it is and how wide, as parts of the whole width.
FRAMES = '''
const box = document.getElementById('flame').getBoundingClientRect();
return [...document.querySelectorAll('#flame .frame')].map(f => { const b = f.getBoundingClientRect();
	return [Number(f.dataset.id), f.title, Number(f.dataset.value), Number(f.dataset.own),
		(b.left - box.left) / box.width, b.width / box.width, (b.top - box.top) / 21, f.textContent]; });
'''


def amount(counts, what):
    return sum(counts.get(name, 0) for name in COUNTERS[what])


def tree_of(place):
    """{path: (path of the report, ...)}, a path being the (function, module) of each call."""
    tree, names = {}, []
    for one in load(place, 'tree')['call_paths']['paths']:
        name = ('(program)', '') if one['parent'] is None else (one['function'], one['module'])
        names.append((names[one['parent']] if one['parent'] is not None else ()) + (name,))
        tree[names[-1]] = one
    return tree


def stacks_of(place, name):
    """What the page holds, and the path of each stack."""
    with open(os.path.join(place, name + '.html'), encoding='utf-8') as file:
        stacks = json.loads(file.read().split('<script id="stacks" type="application/json">')[1].split('</script>')[0])
    paths = []
    for parent, frame, *_ in stacks['stacks']:
        paths.append((paths[parent] if parent is not None else ()) + (tuple(stacks['frames'][frame]),))
    return stacks, paths


def children(tree, path):
    return [one for one in tree if one[:-1] == path]


def kept_of(tree, percent):
    """The paths that have so many percent of something."""
    root = tree[(('(program)', ''),)]['inclusive']
    return {path for path, one in tree.items() if any(
        amount(one['inclusive'], what) and 100 * amount(one['inclusive'], what) >= percent * amount(root, what) for what in COUNTERS)}


def shown_below(tree, paths, zoomed, what, width):
    """Of these paths those that are at least one pixel wide, from that one on, and its callers."""
    whole = amount(tree[zoomed]['inclusive'], what)
    wide = {path for path in paths if path[:len(zoomed)] == zoomed and whole
            and amount(tree[path]['inclusive'], what) * width >= whole}
    return wide | {zoomed[:n] for n in range(1, len(zoomed))}


def check_frames(page, tree, paths, zoomed, what):
    """What is shown of a path that is looked at."""
    name = f'flame graph: {what} below {zoomed[-1][0]}'
    frames = page.ask(FRAMES)
    width = page.ask("return document.getElementById('flame').clientWidth")
    same(sorted(paths[f[0]] for f in frames), sorted(shown_below(tree, paths, zoomed, what, width)), f'{name}: each path that is wide enough')
    wrong = [f for f in frames if f[2] != amount(tree[paths[f[0]]]['inclusive'], what)]
    same(wrong, [], f'{name}: what each has is what the report says')
    wrong = []
    kept = set(paths)
    for f in frames:
        below = [tree[path] for path in children(tree, paths[f[0]]) if path in kept]
        if f[3] != f[2] - sum(amount(one['inclusive'], what) for one in below):
            wrong.append(f)
    same(wrong, [], f'{name}: and what it has by itself')
    whole = amount(tree[zoomed]['inclusive'], what)
    wrong = [f for f in frames if abs(f[5] - min(1, f[2] / whole)) > 0.002 or round(f[6], 2) != len(paths[f[0]]) - 1]
    same(wrong, [], f'{name}: as wide as that, below its caller')
    wrong = [f for f in frames if f"{f[2]:,} {what} with what it calls" not in f[1] or not f[1].startswith(paths[f[0]][-1][0])
             or 'simulated' not in f[1] or f[7] not in ('', paths[f[0]][-1][0])]
    same(wrong, [], f'{name}: and says so')
    lefts = {}
    for f in frames:
        lefts.setdefault(paths[f[0]][:-1], []).append((f[4], f[2]))
    wrong = [those for those in lefts.values() if [n for _, n in sorted(those)] != sorted((n for _, n in those), reverse=True)]
    same(wrong, [], f'{name}: the largest first')


def frame(page, number):
    return page.driver.find_element(By.CSS_SELECTOR, f'#flame [data-id="{number}"]')


def focused(page):
    return page.ask("return document.activeElement.dataset.id ? Number(document.activeElement.dataset.id) : null")


def check_zoom(page, tree, paths):
    zoomed = next(path for path in paths if path[-1][0] == 'main')
    frame(page, paths.index(zoomed)).click()
    check_frames(page, tree, paths, zoomed, 'instructions')
    largest = max((path for path in children(tree, zoomed)), key=lambda path: amount(tree[path]['inclusive'], 'instructions'))
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    same(paths[focused(page)], largest, 'flame graph: an arrow goes to the largest call')
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    check_frames(page, tree, paths, largest, 'instructions')
    same(paths[focused(page)], largest, 'flame graph: Enter keeps the focus')
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_UP)
    same(paths[focused(page)], zoomed, 'flame graph: up to the caller')
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    check_frames(page, tree, paths, zoomed, 'instructions')
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    row = sorted(children(tree, zoomed), key=lambda path: -amount(tree[path]['inclusive'], 'instructions'))
    same(amount(tree[paths[focused(page)]]['inclusive'], 'instructions'), amount(tree[row[1]]['inclusive'], 'instructions'),
         'flame graph: right to the next one')
    same(page.ask("return document.querySelectorAll('#flame [tabindex=\"0\"]').length"), 1, 'flame graph: one stop of the Tab key')
    ok(f"{amount(tree[paths[focused(page)]]['inclusive'], 'instructions'):,} instructions" in
       page.ask("return document.getElementById('flame-detail').textContent"), 'flame graph: its numbers below')
    page.driver.find_element(By.ID, 'flame-whole').click()
    same(focused(page), 0, 'flame graph: back to the whole run')


def check_search(page, tree, paths):
    page.driver.find_element(By.ID, 'flame-search').send_keys('_DL_')
    hits = [path for path in paths if '_dl_' in path[-1][0]]
    total = sum(amount(tree[path]['inclusive'], 'instructions') for path in hits
                if not any('_dl_' in name for name, _ in path[:-1]))
    whole = amount(tree[paths[0]]['inclusive'], 'instructions')
    text = page.ask("return document.getElementById('flame-found').textContent")
    ok(text.startswith(f'{len(hits)} paths end in such a function; they have {total:,} instructions, {100 * total / whole:.2f} % of the run'),
       'flame graph: what a search finds', text, len(hits), total)
    page.driver.find_element(By.ID, 'flame-search').send_keys(Keys.ENTER)
    marked = page.ask("return [...document.querySelectorAll('#flame .found')].map(f => Number(f.dataset.id))")
    ok(marked and all('_dl_' in paths[number][-1][0] for number in marked), 'flame graph: marked', marked)
    ok(focused(page) in marked, 'flame graph: Enter goes to one of them', focused(page))
    same(page.ask("return document.querySelector('#flame [aria-current]').dataset.id"), '0', 'flame graph: and does not look closer')
    clear = "const s = document.getElementById('flame-search'); s.value = ''; s.dispatchEvent(new Event('input'));"
    page.ask(clear)
    same(page.ask("return document.querySelectorAll('#flame .found').length"), 0, 'flame graph: and taken back')
    # Closer at a function that is none of them, and calls none.
    drawn = page.ask("return [...document.querySelectorAll('#flame .frame')].map(f => Number(f.dataset.id))")
    other = next((number for number in drawn if not any(hit[:len(paths[number])] == paths[number] for hit in hits)), None)
    ok(other is not None, 'flame graph: there is a function without', drawn)
    page.ask('document.querySelector(arguments[0]).click()', f'#flame [data-id="{other}"]')
    page.driver.find_element(By.ID, 'flame-search').send_keys('_DL_')
    same(sorted(page.ask("return [...document.querySelectorAll('#flame .found')].map(f => Number(f.dataset.id))")), sorted(marked),
         'flame graph: what is found elsewhere is shown')
    page.ask(clear)


def check_cut(page, place, tree):
    path = os.path.join(place, 'cut.html')
    stacks, _ = stacks_of(place, 'cut')
    page.show(path)
    quiet(page, path, 'flame graph, cut')
    for at, what in enumerate(stacks['quantities']):
        same(sum(one[3 + at] for one in stacks['stacks']), amount(tree[(('(program)', ''),)]['inclusive'], what),
             f'flame graph, cut: all {what} are there')
    note = page.ask("return document.getElementById('flame-note').textContent")
    left = len(tree) - len(stacks['stacks'])
    ok(left > 0 and f'Of {len(tree):,} paths, {left:,} have less than 3 %' in note, 'flame graph, cut: it says so', note)


def check_large(page, place):
    path = os.path.join(place, 'large.html')
    page.show(path)
    quiet(page, path, 'large profile')
    left = 'Instructions with less than 0.02 % of the misses are left out'
    ok(left in page.ask("return document.getElementById('source-note').textContent"), 'large profile: what is left out is said')
    page.show(os.path.join(place, 'paths.html'))
    ok(left not in page.ask("return document.getElementById('source-note').textContent"), 'small profile: nothing is')


def looks(page):
    """The least contrast of a frame's text."""
    return page.ask('''
        const light = c => { const [r, g, b] = c.match(/\\d+/g).map(x => { x /= 255;
            return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const text = light(getComputedStyle(document.querySelector('#flame .frame')).color);
        return Math.min(...[0, 1, 2, 3, 4, 5].map(i => { const one = document.createElement('i');
            one.className = 'flame' + i;
            document.body.append(one);
            const back = light(getComputedStyle(one).backgroundColor);
            one.remove();
            return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05); }));''')


def check(page, place):
    path = os.path.join(place, 'paths.html')
    tree = tree_of(place)
    stacks, paths = stacks_of(place, 'paths')
    page.show(path)
    quiet(page, path, 'flame graph')
    same(stacks['quantities'], list(COUNTERS), 'flame graph: what it shows')
    same(sorted(paths), sorted(kept_of(tree, 0.02)), 'flame graph: the paths that have 0.02 % of something')
    same(page.ask("return [...document.getElementById('flame-of').options].map(o => o.text)"), list(COUNTERS), 'flame graph: and lets choose')
    check_frames(page, tree, paths, paths[0], 'L1D misses')
    for at, what in enumerate(COUNTERS):
        pick(page, 'flame-of', str(at))
        check_frames(page, tree, paths, paths[0], what)
    pick(page, 'flame-of', '0')
    check_zoom(page, tree, paths)
    check_search(page, tree, paths)
    same(page.complaints(), [], 'flame graph: and still nothing on the console')
    for theme in ('light', 'dark'):
        page.show(path, 390, theme)
        fits(page, f'flame graph, {theme}, 390 px')
        check_frames(page, tree, paths, paths[0], 'L1D misses')
        ok(looks(page) > 4.5, f'flame graph, {theme}: names can be read on each colour', looks(page))
    check_cut(page, place, tree)
    check_large(page, place)
    page.show(os.path.join(place, 'profile.html'))
    ok(page.ask("return document.getElementById('flame-section').hidden"), 'flame graph: none without call paths')
