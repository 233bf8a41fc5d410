# SPDX-License-Identifier: MIT
"""The pages of `cachepeek dcache`, dtlb and icache."""
import json
import os

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tap import fits, hover, load, near, ok, pick, quiet, same, tabbed

GRID = """const table = document.getElementById(arguments[0]);
    const ids = [...table.querySelectorAll('thead th')].map(th => th.dataset.id);
    return [...table.querySelectorAll('tbody tr')].map(tr => [tr.cells[0].title || tr.cells[0].textContent,
        Object.fromEntries([...tr.cells].slice(1).map((td, i) => [ids[i + 1],
            td.dataset.value === undefined ? null : Number(td.dataset.value)]))]);"""
SOURCE = """return [...document.querySelectorAll('#source tr[data-line]')].map(tr => [Number(tr.dataset.line),
    Number(tr.cells[1].dataset.value), tr.cells[tr.cells.length - 1].textContent]);"""


def misses(measurement, counts):
    names = {'dcache': ('l1d_load_misses', 'l1d_bypasses', 'l1d_store_misses'),
             'dtlb': ('dtlb_load_misses', 'dtlb_store_misses'), 'icache': ('l1i_misses',)}
    return sum(counts.get(name) or 0 for name in names[measurement])


# The metrics of dcache, computed here; None: cannot be.
def dcache(counts):
    served = counts['l1d_load_lines'] + counts['l1d_bypasses']
    share = {f'{name}_share': counts[f'load_from_{name}'] / served if served else None
             for name in ('l2', 'llc', 'memory')}
    loads = counts['l1d_load_misses'] + counts['l1d_bypasses']
    return {'served': served, 'loads': loads, 'misses': loads + counts['l1d_store_misses'], 'latency': counts['load_latency'],
            'average': counts['load_latency'] / served if served else None, **share}


def same_values(found, wanted, name):
    wrong = {key: (found[key], wanted[key]) for key in found if key in wanted and (
        (found[key] is None) != (wanted[key] is None)
        or found[key] is not None and abs(found[key] - wanted[key]) > 1e-9 * max(1, abs(wanted[key])))}
    same(wrong, {}, name)


def check_tables(page, report):
    total = sum(misses('dcache', f['counts']) for f in report['functions'])
    for table, wanted in (('functions', report['functions']), ('data', report['data']),
                          ('threads', report['threads']), ('modules', report['modules'])):
        worth = [one for one in wanted if misses('dcache', one['counts']) >= 0.001 * total]
        found = page.ask("return document.getElementById(arguments[0] + '-found').textContent", table)
        if len(worth) < len(wanted):
            same(len(page.ask(GRID, table)), min(25, len(worth)), f'profile: {table}: those with 0.1 % and more')
            ok(f'{len(worth)} ' in found and 'the others have less than 0.1 % each' in found, f'profile: {table}: and it says so')
            page.ask("document.getElementById(arguments[0] + '-found').querySelector('button').click()", table)
        shown = page.ask(GRID, table)
        same(len(shown), min(25, len(wanted)), f'profile: {table}: a page of them')
        for (name, cells), one in zip(shown, wanted):
            known = {**one['counts'], **dcache(one['counts'])}
            same_values(cells, known, f'profile: {table}: {name}')
            if table == 'functions':
                near(cells['share'], misses('dcache', one['counts']) / total, f'profile: share of {name}')
                ok(one['function'] in name or 'unknown function' in name, f'profile: its name: {name}')
    total_shown = page.ask("""return Object.fromEntries([...document.querySelectorAll('#totals div')].map(div =>
        [div.children[0].textContent, div.children[1].dataset.value === undefined ? null : Number(div.children[1].dataset.value)]));""")
    same({n: total_shown[n] for n in report['counts']}, report['counts'], 'profile: the exact counts')
    same_values(total_shown, dcache(report['counts']), 'profile: and what is computed of them')


ORDER = ['exact', 'scaled', 'simulated', 'estimated']
STATUSES = """const table = document.getElementById('functions');
    const ids = [...table.querySelectorAll('thead th')].map(th => th.dataset.id);
    return Object.fromEntries([...table.querySelector('tbody tr').cells].slice(1).map((td, i) => [ids[i + 1], td.className]));"""


def check_statuses(page, place, report):
    """A cell's status is the worst of the counts that it is made of, which the report says."""
    path = os.path.join(place, 'statuses.html')
    inputs = {'misses': ('l1d_load_misses', 'l1d_bypasses', 'l1d_store_misses'), 'loads': ('l1d_load_misses', 'l1d_bypasses'),
              'latency': ('load_latency',), 'average': ('load_latency', 'l1d_load_lines', 'l1d_bypasses'),
              'l2_share': ('load_from_l2', 'l1d_load_lines', 'l1d_bypasses')}
    inputs['share'] = inputs['misses']
    same({name for name, status in report['statuses'].items() if status == 'estimated'}, {'load_latency'}, 'statuses: latencies are estimates')
    with open(os.path.join(place, 'profile.html'), encoding='utf-8') as file:
        text = file.read()
    for changed in ({}, {'load_latency': 'simulated'}, {'l1d_store_misses': 'estimated'}, {'l1d_load_lines': 'estimated'},
                    {name: 'scaled' for name in report['statuses']}):
        said = {**report['statuses'], **changed}
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text.replace('"statuses": ' + json.dumps(report['statuses']), '"statuses": ' + json.dumps(said)))
        page.show(path)
        shown = page.ask(STATUSES)
        same({column: shown[column] for column in inputs}, {column: max((said[name] for name in names), key=ORDER.index)
             for column, names in inputs.items()}, f'statuses: of each column, with {changed}')
        ok('NaN' not in page.ask("return document.getElementById('functions').outerHTML"), 'statuses: with every number')


def check_sampled(page, place):
    path = os.path.join(place, 'sampled.html')
    if not os.path.exists(path):
        return
    report = load(place, 'sampled')
    page.show(path)
    quiet(page, path, 'sampled')
    text = page.ask("return document.querySelector('header').innerText")
    ok('Data TLB misses, sampled, on this machine' in text and 'imulated' not in text, 'sampled: it does not say that it is simulated', text)
    same(page.ask('return document.documentElement.dataset.engine'), 'perf', 'sampled: nor does it look so')
    totals = page.ask("""return Object.fromEntries([...document.querySelectorAll('#totals div')].map(div =>
        [div.children[0].textContent, div.children[1].className]));""")
    same({name: totals[name] for name in report['statuses']}, report['statuses'], 'sampled: each count is what the report says')


def check_buckets(page, report):
    levels = (('load_from_l2', 'l2', 'L2'), ('load_from_llc', 'llc', 'L3'), ('load_from_memory', 'memory', 'memory'))
    latencies = [report['latencies'][key] for _, key, _ in levels]
    said = [{'assumed': ', assumed', 'user': ', yours'}.get(report['latencies_from'][key], '') for _, key, _ in levels]
    for by, label in (('functions', 'function'), ('modules', 'module')):
        weight = lambda one: sum(one['counts'][name] for name, _, _ in levels)
        whole = sum(weight(one) for one in report[by])
        most = sorted((one for one in report[by] if weight(one) >= 0.005 * whole), key=lambda one: -weight(one))[:20]
        pick(page, 'buckets-by', by)
        for of, factors in (('count', [1, 1, 1]), ('cycles', latencies)):
            pick(page, 'buckets-of', of)
            sets = page.ask("return Chart.getChart('buckets').data.datasets.map(d => [d.label, d.data])")
            same([name for name, _ in sets], [f'{name} ({cycles} cycles{who})' for (_, _, name), cycles, who in zip(levels, latencies, said)],
                 f'profile: buckets of {by}: each level with its latency')
            if of == 'count':
                same([data for _, data in sets], [[one['counts'][name] for one in most] for name, _, _ in levels],
                     f'profile: buckets of {by}: what came from there')
            else:
                same(sorted(sum(data[i] for _, data in sets) for i in range(len(sets[0][1]))),
                     sorted(one['counts']['load_latency'] for one in sorted(
                         (o for o in report[by] if o['counts']['load_latency'] >= 0.005 * sum(
                             each['counts']['load_latency'] for each in report[by])),
                         key=lambda o: -o['counts']['load_latency'])[:20]),
                     f'profile: buckets of {by}: the cycles are the latency')
    pick(page, 'buckets-of', 'share')
    sets = page.ask("return Chart.getChart('buckets').data.datasets.map(d => d.data)")
    ok(all(abs(sum(parts) - 100) < 1e-9 for parts in zip(*sets)), 'profile: shares are 100 %', sets)
    pick(page, 'buckets-by', 'functions')
    pick(page, 'buckets-of', 'count')
    values = page.ask("return Chart.getChart('buckets').data.datasets[2].data")
    tip = hover(page, 'buckets', 2, values.index(max(values)))
    ok(f'memory: {max(values):,}, simulated' in tip, 'profile: hover', tip)


def lines_of(report, file):
    """Line: misses, instructions."""
    lines = {}
    for function in report['functions']:
        for statement in function['statements']:
            if statement['file'] == file and statement['line']:
                line = lines.setdefault(statement['line'], [0, []])
                line[0] += misses(report['measurement'], statement['counts'])
                line[1] += statement['instructions']
    return lines


def check_source(page, report):
    file = next(s['file'] for f in report['functions'] for s in f['statements'] if s['file'].endswith('/profiled.c'))
    hottest = max({s['file'] for f in report['functions'] for s in f['statements'] if s['file']},
                  key=lambda name: sum(line[0] for line in lines_of(report, name).values()))
    same(page.ask("return document.getElementById('source-file').value"), hottest, 'source: the file with most misses comes first')
    pick(page, 'source-file', file)
    lines = lines_of(report, file)
    with open(file, encoding='utf-8') as source:
        text = source.read().split('\n')
    shown = page.ask(SOURCE)
    same([[number, count] for number, count, _ in shown], [[n, lines[n][0]] for n in sorted(lines)],
         'source: misses beside each line that has some')
    same([line for _, _, line in shown], [text[n - 1].replace('\t', '    ') for n in sorted(lines)], 'source: its text')
    hottest = max(lines, key=lambda n: lines[n][0])
    ok('/* the ' in text[hottest - 1], 'source: the line with the most', text[hottest - 1])
    around = page.ask("return [...document.querySelectorAll('#source tbody tr')].map(tr => tr.textContent)")
    ok(any(row.startswith(str(hottest - 1)) and text[hottest - 2].strip() in row for row in around), 'source: and lines around it')
    page.driver.find_element(By.CSS_SELECTOR, f'#source tr[data-line="{hottest}"] button').send_keys(Keys.ENTER)
    found = page.ask("""return [...document.querySelectorAll('#source .instruction')].map(tr => [tr.cells[0].textContent,
        Number(tr.cells[1].dataset.value), tr.cells[tr.cells.length - 1].textContent]);""")
    same(found, [[hex(i['address']), misses('dcache', i['counts']), i['text']] for i in lines[hottest][1]],
         'source: its instructions, by keyboard')
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    same(page.ask("return document.querySelectorAll('#source .instruction').length"), 0, 'source: and away again')


def check_missing(page, place, report):
    with open(os.path.join(place, 'profile.html'), encoding='utf-8') as file:
        listed = json.loads(file.read().split('<script id="sources" type="application/json">')[1].split('</script>')[0])
    missing = [one for one in listed['files'] if one['reason'] and lines_of(report, one['file'])]
    ok(missing, 'missing source: there is some')
    wrong = []
    for one in missing:
        pick(page, 'source-file', one['file'])
        lines = sorted(lines_of(report, one['file']).items())
        if [[number, count] for number, count, _ in page.ask(SOURCE)] != [[n, line[0]] for n, line in lines]:
            wrong.append(one['file'])
    same(wrong, [], 'missing source: the numbers of its lines, of all functions together')
    ok(one['reason'] in page.ask("return document.getElementById('source-note').textContent"), 'missing source: why')
    places = [(s['file'], s['line']) for f in report['functions'] for s in f['statements'] if s['file'][:1] != '/']
    ok(len(places) > len(set(places)), 'missing source: some lines are in several functions')


def check_use(page, report):
    page.driver.find_element(By.CSS_SELECTOR, '#functions th[data-id="loads"] button').click()
    most = max(report['functions'], key=lambda f: dcache(f['counts'])['loads'])
    near(page.ask(GRID, 'functions')[0][1]['loads'], dcache(most['counts'])['loads'], 'profile: a click sorts')
    page.driver.find_element(By.ID, 'functions-filter').send_keys('STORE_LINES')
    same([row[0] for row in page.ask(GRID, 'functions')], ['store_lines (profiled)'], 'profile: filtered')
    page.driver.find_element(By.CSS_SELECTOR, '#functions button.link').send_keys(Keys.ENTER)
    ok(page.ask("return document.getElementById('source-file').value").endswith('/profiled.c'), 'profile: to its source')
    focus = page.ask("const a = document.activeElement; return Number(a.closest('tr[data-line]').dataset.line)")
    same(focus, most_missed(report, 'store_lines'), 'profile: to its line')


def check_links(page, report):
    """From functions and lines to data, and back."""
    pick(page, 'buckets-by', 'functions')
    rows = page.ask("""return [...document.querySelectorAll('#data tbody tr')].map(tr => [tr.cells[0].title,
        [...tr.querySelectorAll('.links .link')].map(a => a.textContent), tr.querySelector('.links')?.textContent || '']);""")
    wrong = []
    for (name, links, text), data in zip(rows, report['data']):
        places = data['places'][:3]
        wanted = [f"{p['file'].rsplit('/')[-1]}:{p['line']}" if p['file'] and p['line'] else p['function'] for p in places]
        named = [link if wish else '' for link, wish in zip(links, wanted)]
        if wanted != named or len(links) != len(wanted) or not text.startswith('missed at '):
            wrong.append((name, links, wanted))
    same(wrong, [], 'links: data has the lines that missed in it')
    by_function = {}
    for data in report['data']:
        for place in data['places']:
            at = by_function.setdefault((place['module'], place['function']), {})
            at[data['name']] = at.get(data['name'], 0) + place['misses']
    page.driver.find_element(By.ID, 'functions-filter').send_keys(Keys.BACKSPACE * 20, 'load_lines')
    [most] = {max(at, key=at.get) for (_, name), at in by_function.items() if name == 'load_lines'}
    link = page.driver.find_element(By.CSS_SELECTOR, '#functions .links .link')
    same(link.text, most, 'links: a function has the data that it missed in')
    link.send_keys(Keys.ENTER)
    same(page.ask("return document.activeElement.closest('tr').cells[0].title"), most, 'links: by keyboard to that data')
    page.ask("[...document.activeElement.closest('tr').querySelectorAll('.links .link')].find(a => /^profiled/.test(a.textContent)).click()")
    line = page.ask("return Number(document.activeElement.closest('tr[data-line]').dataset.line)")
    ok(line in [p['line'] for d in report['data'] if d['name'] == most for p in d['places']], 'links: and to a line that missed in it', line)
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    ways = page.ask("return [...document.querySelectorAll('#source .ways .link')].map(a => a.textContent)")
    names = {f['function'] for f in report['functions'] for s in f['statements'] if s['line'] == line and s['file'].endswith('/profiled.c')}
    ok(set(ways[:len(names)]) == names and most in ways, 'links: a line has its functions and its data', ways)
    page.ask("document.querySelector('#source .ways .link').click()")
    ok(page.ask("return document.activeElement.closest('table').id") == 'functions', 'links: and to the function')


def most_missed(report, name):
    return next(f for f in report['functions'] if f['function'] == name)['statements'][0]['line']


def check_hostile(page, place):
    path = os.path.join(place, 'evil.html')
    page.show(path)
    quiet(page, path, 'hostile source')
    same(page.ask("return document.querySelectorAll('b, img, script').length"), 7, 'hostile source: no element is made')
    text = page.ask("return document.getElementById('source').innerText")
    ok('</script><b>' in text and '<!--<script>' in text, 'hostile source: shown as it is', text)
    ok(not any(ord(c) in (0x1b, 0x202e, 0x2066) for c in text), 'hostile source: nothing that controls the text')


def check_findings(page, place):
    report = load(place, 'blur')
    page.show(os.path.join(place, 'blur.html'))
    shown = page.ask("return [...document.querySelectorAll('#findings ul li')].map(li => li.textContent)")
    ok(report['findings'], 'findings: there are some')
    for one in report['findings']:
        text = f"blur.c:{one['line']}" + (' ' + one['data'] if one['data'] else '') + ': ' + one['evidence']
        ok(text in shown, f"findings: {text[:60]}", shown)
        ok(one['advice'] in page.ask("return document.getElementById('findings').textContent"), 'findings: its advice')
    same(len(shown), len(report['findings']), 'findings: each once')
    page.driver.find_element(By.CSS_SELECTOR, '#findings ul button.link').send_keys(Keys.ENTER)
    same(page.ask("return Number(document.activeElement.closest('tr[data-line]').dataset.line)"),
         report['findings'][0]['line'], 'findings: to the line')
    page.show(os.path.join(place, 'dtlb.html'))
    same(page.ask("return document.getElementById('advice').hidden"), not load(place, 'dtlb')['findings'],
         'findings: no section without any')


def check_others(page, place):
    for kind in ('dtlb', 'icache'):
        path = os.path.join(place, f'{kind}.html')
        report = load(place, kind)
        page.show(path)
        quiet(page, path, kind)
        shown = page.ask(GRID, 'functions')
        same([row[1]['misses'] for row in shown], [misses(kind, f['counts']) for f in report['functions'][:25]],
             f'{kind}: misses of each function')
        ok(page.ask("return Chart.getChart('buckets').data.datasets.length") > 0, f'{kind}: its chart')


def check(page, place):
    path = os.path.join(place, 'profile.html')
    report = load(place, 'profile')
    page.show(path)
    quiet(page, path, 'profile')
    ok('Simulated: data cache misses' in page.ask("return document.body.innerText"), 'profile: it says that it is simulated')
    check_tables(page, report)
    check_buckets(page, report)
    check_source(page, report)
    check_missing(page, place, report)
    check_use(page, report)
    check_links(page, report)
    seen = tabbed(page, path, 120)
    wanted = ['skip', 'theme', 'buckets-by', 'buckets-of', 'functions-filter', 'source-file']
    same([name for name in seen if name in wanted], wanted[:len([n for n in seen if n in wanted])],
         'profile: controls by keyboard, in order')
    ok('functions-filter' in seen, 'profile: as far as the functions', seen)
    for width in (390, 1400):
        page.show(path, width, 'dark')
        fits(page, f'profile, {width} px')
    same(page.complaints(), [], 'profile: and still nothing on the console')
    check_statuses(page, place, report)
    check_sampled(page, place)
    check_hostile(page, place)
    check_findings(page, place)
    check_others(page, place)
