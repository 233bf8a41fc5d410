#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# TAP: what the HTML report shows, read back from the page in headless Chromium,
# is what the JSON report of the same run has.
#	tests/browser/check.py DIRECTORY	(threads, hostile, many, ...: .html, .json)
import os
import sys

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import check_compare
import check_curve
import check_flame
import check_profile
import tap
from browser import browser
from tap import fits, hover, load, near, ok, pick, quiet, same, tabbed

# The table: a list of [name, {column: value or null}] as shown.
TABLE = '''
const ids = [...document.querySelectorAll('#regions thead th')].map(th => th.dataset.id);
return [...document.querySelectorAll('#regions tbody tr')].map(tr => [tr.cells[0].title,
	Object.fromEntries([...tr.cells].slice(1).map((td, i) => [ids[i + 1],
		[td.dataset.value === undefined ? null : Number(td.dataset.value), td.className, td.title]]))]);
'''


def name_of(region):
    return ' / '.join(region['path']) or 'whole run'


def values_of(region):
    """Column: value, of everything that a page may show."""
    calls = {'value': region['calls'], 'status': 'exact'} if region['path'] else \
        {'value': None, 'status': '', 'reason': 'the whole run is not called'}
    values = {'calls': calls, 'time_s': region['time_s']}
    values.update(region['metrics'])
    values.update({'#' + name: count for name, count in region['counts'].items()})
    return values


def check_table(page, report):
    page.ask('''const s = document.getElementById('columns'); s.value = 'all';
        s.dispatchEvent(new Event('change'));''')
    shown = page.ask(TABLE)
    same([row[0] for row in shown], [name_of(region) for region in report['regions']],
         'table: every region, in order')
    wrong, missing, reasons = [], [], 0
    for region, (name, cells) in zip(report['regions'], shown):
        for column, value in values_of(region).items():
            if column not in cells:
                missing.append((name, column, value))
                continue
            number, status, title = cells[column]
            if number != value['value'] or status != value['status']:
                wrong.append((name, column, number, status, value))
            if value['value'] is None and value['reason'] in title:
                reasons += 1
            if value['value'] is not None and value['status'] not in title:
                wrong.append((name, column, title))
    same(wrong, [], 'table: every value and its provenance')
    same([m for m in missing if m[2]['value'] is not None], [],
         'table: only columns without any value are left out')
    ok(reasons > 0, 'table: what is unavailable says why')
    same([column for column in shown[0][1] if all(cells[column][0] is None for _, cells in shown)], [], 'table: no column is empty')


# The bars are the cost first, of each region and level, where it is known.
def check_costs(page, report):
    names = {'L2': 'cost_l2', 'L3': 'cost_l3', 'memory': 'cost_memory', 'code': 'cost_code', 'page walks': 'cost_walks',
             "other threads' lines": 'cost_sharing'}
    chart = page.ask("""const c = Chart.getChart('served'), note = document.getElementById('served-note').textContent;
        return [document.getElementById('served-scale').value, c.data.labels, c.data.datasets.map(d => [d.label, d.data]), note];""")
    same(chart[0], 'cost', 'cost: what the bars begin with')
    metrics = {name_of(r): r['metrics'] for r in report['regions']}
    wrong = [(level, label) for level, data in chart[2] for label, value in zip(chart[1], data)
             if value != metrics[label][names[level]]['value']]
    same(wrong, [], 'cost: of each region and level')
    same([level for level in names if any(m[names[level]]['value'] for m in metrics.values())], [level for level, _ in chart[2]],
         'cost: those levels that cost something')
    ok(chart[3].startswith('Cycles that misses cost'), 'cost: the note says so')


def check_served(page, report):
    chart = page.ask('''const s = document.getElementById('served-scale'); s.value = 'count';
        s.dispatchEvent(new Event('change'));
        const c = Chart.getChart('served');
        return {labels: c.data.labels, sets: c.data.datasets.map(d => [d.label, d.data]),
            patterns: c.data.datasets.every(d => d.backgroundColor.every(b => b instanceof CanvasPattern)),
            width: document.getElementById('served').getBoundingClientRect().width};''')
    same([name for name, _ in chart['sets']], ['L1D', 'L2', 'L3', 'memory'], 'chart: the levels')
    same(sorted(chart['labels']), sorted(name_of(r) for r in report['regions']), 'chart: a bar per region')
    for region in report['regions']:
        at = chart['labels'].index(name_of(region))
        n = {name: c['value'] for name, c in region['counts'].items()}
        same([data[at] for _, data in chart['sets']],
             [n[f'refs_from_{level}'] for level in ('l1', 'l2', 'l3', 'memory')], f'chart: {name_of(region)}')
        same(sum(data[at] for _, data in chart['sets']), n['l1d_accesses'], f'chart: {name_of(region)}: all data references')
    ok(not chart['patterns'], 'chart: what the whole page is, simulated, is not marked again')
    ok(chart['width'] > 300, 'chart: it is drawn', chart['width'])
    shares = page.ask('''const s = document.getElementById('served-scale'); s.value = 'share';
        s.dispatchEvent(new Event('change'));
        return Chart.getChart('served').data.datasets.map(d => d.data);''')
    for i in range(len(chart['labels'])):
        near(sum(data[i] for data in shares), 100, f"chart: shares of {chart['labels'][i]} are 100 %")
    whole = report['regions'][0]
    for (name, _), data in zip(chart['sets'], shares):
        metric = {'L1D': 'served_l1', 'L2': 'served_l2', 'L3': 'served_l3', 'memory': 'served_memory'}[name]
        near(data[chart['labels'].index('whole run')], 100 * whole['metrics'][metric]['value'], f'chart: {name}: the share of the answer')
    table = page.ask('''return [...document.querySelectorAll('#served-table tbody tr')].map(tr =>
        [tr.cells[0].title, ...[...tr.cells].slice(1).map(td => Number(td.dataset.value))]);''')
    same(table, [[label] + [data[i] for _, data in chart['sets']] for i, label in enumerate(chart['labels'])],
         'chart: its numbers as a table')
    pixels = page.ask('''const c = document.getElementById('served');
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = new Set();
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 250) seen.add(d[i] + ',' + d[i + 1] + ',' + d[i + 2]);
        return [...seen];''')
    for level, colour in (('L1D', '86,160,211'), ('memory', '196,70,1')):
        ok(colour in pixels, f'chart: the colour of {level} is on the canvas')


def check_two_levels(page, place):
    path = os.path.join(place, 'two.html')
    page.show(path)
    quiet(page, path, 'two levels')
    sets = page.ask("""const s = document.getElementById('served-scale'); s.value = 'count';
        s.dispatchEvent(new Event('change'));
        return Chart.getChart('served').data.datasets.map(d => [d.label, d.data[0]]);""")
    n = {name: c['value'] for name, c in load(place, 'two')['regions'][0]['counts'].items()}
    same(sets, [['L1D', n['refs_from_l1']], ['L2', n['refs_from_l2']], ['memory', n['refs_from_memory']]], 'two levels: what L2 served is not shown again as L3')
    ok('L2 is the last level.' in page.ask("return document.getElementById('served-note').textContent"),
       'two levels: it says so')
    # Some regions have no ratio, others have one.
    report = load(place, 'two')
    ok(any(len({region['metrics'][name]['status'] for region in report['regions']}) > 1 for name in report['regions'][0]['metrics']),
       'two levels: a metric of some regions')
    check_table(page, report)
    sure = page.ask("return document.getElementById('reasons').textContent")
    for name, title in (('l2_miss_ratio', 'L2 miss ratio'), ('l2_bandwidth', 'L2 bandwidth')):
        reasons = {region['metrics'][name]['reason'] for region in report['regions']} - {None}
        ok(reasons and title in sure and all(reason.split(': ')[-1] in sure for reason in reasons), f'two levels: how sure: why no {name}', reasons, sure)


def check_hover(page, report):
    label = page.ask("return Chart.getChart('served').data.labels[0]")
    region = next(r for r in report['regions'] if name_of(r) == label)
    hits = region['counts']['refs_from_l1']['value']
    tip = hover(page, 'served', 0, 0)
    same([tip[0], f'L1D: {hits:,}, simulated' in tip], [label, True], 'hover: the number and its provenance')


def order(page):
    return [row[0] for row in page.ask(TABLE)]


def check_sort(page, report):
    metric = 'l1d_miss_ratio'
    button = f'#regions th[data-id="{metric}"] button'
    known = [r for r in report['regions'] if r['metrics'][metric]['value'] is not None]
    down = [name_of(r) for r in sorted(known, key=lambda r: -r['metrics'][metric]['value'])]
    page.driver.find_element(By.CSS_SELECTOR, button).click()
    same(order(page)[:len(down)], down, 'sort: a click sorts, the most first')
    same(page.ask(f"return document.querySelector('th[data-id=\"{metric}\"]').getAttribute('aria-sort')"),
         'descending', 'sort: a screen reader is told')
    # By keyboard: the button kept the focus.
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    same(order(page)[:len(down)], down[::-1], 'sort: the Enter key turns it round')
    page.driver.switch_to.active_element.send_keys(Keys.SPACE)
    same(order(page)[:len(down)], down, 'sort: the space bar too')


def check_filter(page, report):
    page.driver.find_element(By.ID, 'filter').send_keys('WAL')
    wanted = [name_of(r) for r in report['regions'] if 'wal' in name_of(r).lower()]
    same(sorted(order(page)), sorted(wanted), 'filter: as it is typed')
    same(page.ask("return Chart.getChart('served').data.labels"), wanted, 'filter: the chart too')
    ok(page.ask("return document.getElementById('found').textContent")
       == f"{len(wanted)} region of {len(report['regions'])}", 'filter: how many were found')
    page.driver.find_element(By.ID, 'filter').send_keys(Keys.BACKSPACE * 3)
    same(len(order(page)), len(report['regions']), 'filter: and taken back')


def check_keyboard(page, path):
    """Tab reaches each control, in the order of the page."""
    seen = tabbed(page, path)
    wanted = ['skip', 'theme', 'served-scale', 'filter', 'columns', 'heat-of']
    same([name for name in seen if name in wanted], wanted, 'keyboard: every control, in order')
    ok('BUTTON:l1d_mpki' in seen, 'keyboard: the headings of the table', seen)


def check_heat(page, report):
    threads = [(p, t) for p in report['processes'] for t in p['threads']]
    for what, value_of in (('#l1d_misses', lambda r: r['counts']['l1d_misses']['value']),
                           ('l1d_mpki', lambda r: r['metrics']['l1d_mpki']['value'])):
        found = page.ask('''const s = document.getElementById('heat-of'); s.value = arguments[0];
            s.dispatchEvent(new Event('change'));
            return [...document.querySelectorAll('#heat tbody tr')].map(tr => [tr.cells[0].title,
                [...tr.cells].slice(1).map(td => td.dataset.value === undefined ? null : Number(td.dataset.value)),
                [...tr.cells].slice(1).map(td => [td.dataset.deviation === undefined ? null : Number(td.dataset.deviation),
                    td.style.backgroundColor])]);''', what)
        found = {name: (values, shades) for name, values, shades in found}
        for region in report['regions']:
            wanted = [next((value_of(r) for r in t['regions'] if r['path'] == region['path']), None)
                      for _, t in threads]
            values, shades = found[name_of(region)]
            same(values, wanted, f'map: {what} of {name_of(region)} per thread')
            known = [v for v in wanted if v is not None]
            mean = sum(known) / len(known)
            if not mean:
                continue
            ok(all((deviation is None) == (v is None) and (v is None or abs(deviation - (v / mean - 1)) < 1e-9)
                   for v, (deviation, _) in zip(wanted, shades)),
               f'map: {what} of {name_of(region)}: how far from the mean', wanted, shades)
            colours = {v > mean: colour[:12] for v, (_, colour) in zip(wanted, shades) if v is not None and v != mean}
            ok(len(set(colours.values())) == len(colours),
               f'map: {what} of {name_of(region)}: above and below have colours of their own', colours)


def check_answer(page, report):
    """What the text report begins with, and the region that it says to look at."""
    [answer] = [one for one in report['answers'] if one['group'] == 'cache']
    shown = page.ask("return [...document.querySelectorAll('#answer > *')].map(one => one.textContent)")
    wanted = [text for line in answer['lines'] for text in (line['title'], line['text'])]
    same(shown[:len(wanted)] if len(report['groups']) < 2 else [text for text in shown if text in wanted], wanted, 'answer: its lines')
    ok(len(wanted) > 4, 'answer: there are some', wanted)
    marked = page.ask("return [...document.querySelectorAll('#regions tr.worst th')].map(th => [th.title, th.textContent.includes('<==')])")
    first = answer['look_first'] is not None and (' / '.join(answer['look_first']) or 'whole run')
    same(marked, [[first, True]] if first else [], 'answer: the region has the mark')
    pick(page, 'columns', 'answer')
    heads = page.ask("return [...document.querySelectorAll('#regions thead th')].map(th => [th.dataset.id, th.querySelector('button').title])")
    same([name for name, _ in heads], ['region', 'calls', 'own:miss_cost', 'own:instructions',
                                      'served_l1', 'served_l2', 'served_l3', 'served_memory', 'l1d_mpki'], 'answer: the columns of the text report')
    ok(all('l1d_mpki = 1000 * l1d_misses / instructions' in tip for name, tip in heads if name == 'l1d_mpki'),
       'answer: a heading says its formula', heads)
    for column in ('own:miss_cost', 'own:instructions'):
        parts = page.ask(TABLE)
        total = sum(cells[column][0] or 0 for _, cells in parts)
        ok(abs(total - 1) < 1e-6, f'answer: {column}: the regions add up to the run', total)
    best = max((row for row in page.ask(TABLE) if row[0] != 'whole run'), key=lambda row: row[1]['own:miss_cost'][0])
    if first:
        most = max(page.ask(TABLE), key=lambda row: row[1]['own:miss_cost'][0])
        same(most[0], first, 'answer: it has the most cost of its own')
    bars = page.ask("return Chart.getChart('served').data.labels")
    same(bars[:2], ['whole run', best[0]], 'answer: the chart has the whole, then what costs most')
    pick(page, 'columns', 'all')


def check_themes(page, path):
    background = "return getComputedStyle(document.body).backgroundColor"
    page.show(path, 390, 'dark')
    same(page.ask(background), 'rgb(13, 17, 23)', 'dark, where the system is')
    page.driver.find_element(By.ID, 'theme').click()
    same(page.ask(background), 'rgb(255, 255, 255)', 'light, by the button')
    fits(page, '390 px')
    page.show(path, 1000, 'dark', 'print')
    page.ask("dispatchEvent(new Event('beforeprint'))")
    same(page.ask(background), 'rgb(255, 255, 255)', 'print: light')
    ok(page.ask("return getComputedStyle(document.querySelector('#regions th button')).display !== 'none'"
                " && getComputedStyle(document.getElementById('filter').closest('.controls')).display === 'none'"),
       'print: headings, and no controls')
    page.ask("dispatchEvent(new Event('afterprint'))")
    same(page.ask('return document.documentElement.dataset.theme'), 'dark', 'print: and dark again')


def check_threads(page, place):
    path = os.path.join(place, 'threads.html')
    report = load(place, 'threads')
    page.show(path)
    ok('region_threads' in page.driver.title, 'the title names the command', page.driver.title)
    text = page.ask("return document.querySelector('header').textContent")
    for part in ('Simulated: these are counts of a simulated PMU', report['machine']['description'], '9 threads'):
        ok(part in text, f'header: {part}', text)
    quiet(page, path, 'threads')
    check_table(page, report)
    check_answer(page, report)
    check_costs(page, report)
    check_served(page, report)
    check_hover(page, report)
    check_heat(page, report)
    check_sort(page, report)
    check_filter(page, report)
    check_keyboard(page, path)
    check_themes(page, path)
    quiet_after = page.complaints()
    same(quiet_after, [], 'and still nothing on the console')


def check_hostile(page, place):
    path = os.path.join(place, 'hostile.html')
    report = load(place, 'hostile')
    page.show(path)
    quiet(page, path, 'hostile names')
    same(len(page.ask(TABLE)), len(report['regions']), 'hostile names: every region')
    same(page.ask("return document.querySelectorAll('b, script').length"), 4, 'hostile names: no element is made')
    shown = page.ask("return document.body.innerText")
    ok('</script><b>&amp;' in shown, 'hostile names: shown as they are')
    ok(not any(ord(c) in (0x1b, 0x07, 0x202e, 0x2066, 0x9b) for c in shown),
       'hostile names: nothing that controls the text')


def check_many(page, place):
    path = os.path.join(place, 'many.html')
    report = load(place, 'many')
    page.show(path)
    quiet(page, path, 'many')
    ok(len(report['regions']) > 10000, 'many: more than 10,000 regions', len(report['regions']))
    same(len(page.ask(TABLE)), 200, 'many: the first page of them')
    # The elements that a browser lays out when it scrolls do not grow with the regions.
    elements = "return document.querySelectorAll('*').length"
    there = page.ask(elements)
    ok(there < 8000, 'many: a page of few elements', there)
    page.driver.find_element(By.CSS_SELECTOR, '#region-pages button:last-child').click()
    same(order(page)[0], name_of(report['regions'][200]), 'many: the next page')
    ok(page.ask(elements) <= there + 10, 'many: of no more', page.ask(elements))
    page.driver.find_element(By.ID, 'filter').send_keys('region-9999')
    same(order(page), ['region-9999'], 'many: one is found')


def check_lanes(page, series):
    """Over instructions: where each region counted how much, also by keyboard."""
    whole, touch = series['lines']
    ends = [sum(whole['counts']['instructions']['values'][:i + 1]) for i in range(len(series['ends_s']))]
    same(page.ask("return document.getElementById('course-along').value"), 'instructions', 'lanes: over instructions, to begin with')
    same(page.ask("return Chart.getChart('course').data.datasets[0].data.map(p => p.x)"), [0] + ends, 'lanes: the chart below too')
    pick(page, 'course-of', 'l1d_misses')
    lanes = page.ask("""return [...document.querySelectorAll('#lanes .strip')].map(strip => [strip.previousElementSibling.textContent,
        strip.clientWidth, [...strip.querySelectorAll('i')].map(i => [Number(i.dataset.part), Number(i.dataset.value),
            Number(i.style.opacity), i.offsetLeft, i.title])]);""")
    same([lane[0] for lane in lanes], ['whole process', 'touch'], 'lanes: one for each region')
    n = min(80, len(ends))
    for line, (name, width, parts) in zip((whole, touch), lanes):
        near(sum(value for _, value, *_ in parts), sum(line['counts']['l1d_misses']['values']), f'lanes: {name}: all of it')
        most = max(value for _, value, *_ in parts)
        ok(all(abs(shade - max(0.12, value / most)) < 0.001 for _, value, shade, *_ in parts), f'lanes: {name}: the stronger, the more')
        ok(all(abs(left - width * part / n) <= 1 for part, _, _, left, _ in parts), f'lanes: {name}: where it was')
        # The first interval's share of each part of the axis, and so on.
        wanted = [0] * n
        values = [0] * line['first'] + line['counts']['l1d_misses']['values']
        for start, end, value in zip([0] + ends, ends, values):
            # On a busy machine nothing may have run in an interval.
            for i in range(n if end > start else 0):
                low, high = max(start, i * ends[-1] / n), min(end, (i + 1) * ends[-1] / n)
                wanted[i] += value * max(0, high - low) / (end - start)
        shown = {part: value for part, value, *_ in parts}
        ok(all(abs(shown.get(i, 0) - wanted[i]) < 1e-6 * max(wanted) for i in range(n)), f'lanes: {name}: spread over its interval',
           shown, wanted)
    page.driver.find_element(By.ID, 'lanes').send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    said = page.ask("return document.getElementById('lanes-status').textContent")
    ok(said.startswith('touch, ') and ': ~' in said, 'lanes: arrow keys read a part', said)
    page.driver.find_element(By.CSS_SELECTOR, '#lanes button').click()
    same(page.ask("return document.activeElement.title"), 'touch', 'lanes: the way to its row of the table')


def check_course(page, place):
    path = os.path.join(place, 'series.html')
    series = load(place, 'series')['processes'][0]['series']
    page.show(path)
    quiet(page, path, 'series')
    check_lanes(page, series)
    pick(page, 'course-along', 's')
    for name in ('l1d_misses', 'instructions'):
        sets = page.ask("""const s = document.getElementById('course-of'); s.value = arguments[0];
            s.dispatchEvent(new Event('change'));
            return Chart.getChart('course').data.datasets.map(d =>
                [d.label, d.data.map(p => p.x), d.data.map(p => p.y), d.borderDash.length, d.stepped]);""", name)
        lines = [(' / '.join(line['path']) or 'whole process', [0] * line['first'] + line['counts'][name]['values'])
                 for line in series['lines']]
        same([s[0] for s in sets], [line[0] for line in lines], f'series: {name}: the whole process and its region')
        same([s[2] for s in sets], [line[1][:1] + line[1] for line in lines], f'series: {name}: what each interval counted')
        same([s[4] for s in sets], ['after'] * len(sets), f'series: {name}: all along the interval')
        same([s[1] for s in sets], [[0] + series['ends_s']] * len(lines), f'series: {name}: when')
        ok(all(s[3] for s in sets), f'series: {name}: lines that are not counted by a processor are dashed')
        table = page.ask("""return [...document.querySelectorAll('#course-table tbody tr')].map(tr =>
            [...tr.cells].slice(1).map(td => Number(td.dataset.value)));""")
        same(table, [list(row) for row in zip(*[line[1] for line in lines])], f'series: {name}: as a table')
    ok(page.ask("return document.getElementById('course').getBoundingClientRect().width") > 300, 'series: it is drawn')
    page.show(path, 390, 'dark')
    fits(page, 'series, 390 px')
    page.show(os.path.join(place, 'two.html'))
    ok(page.ask("return document.getElementById('over-time').hidden"), 'series: no chart where there is none')
    ok(page.ask("return document.getElementById('threads').hidden"), 'map: none of one thread')
    looks = page.ask("""return ['.exact', '.simulated'].map(c => document.querySelector('#regions td' + c))
        .map(td => getComputedStyle(td).color + getComputedStyle(td).fontStyle);""")
    same(looks[0], looks[1], 'what the page says of all its numbers is not marked at each')


def check_working_sets(page, place):
    path = os.path.join(place, 'sets.html')
    line = load(place, 'sets')['processes'][0]['series']['lines'][0]
    page.show(path)
    quiet(page, path, 'sets')
    for name in ('data_pages', 'data_lines', 'code_pages', 'code_lines'):
        shown = page.ask("""const s = document.getElementById('course-of'); s.value = 'working set: ' + arguments[0];
            s.dispatchEvent(new Event('change'));
            return Chart.getChart('course').data.datasets[0].data.map(p => p.y);""", name.replace('_', ' '))
        values = line['working_set'][name]['values']
        shown_once = [None] * line['first'] + values
        same(shown, shown_once[:1] + shown_once, f'sets: {name} of each interval')
        ok(any(v for v in values), f'sets: {name}: there are some', values)
    page.ask("""const s = document.getElementById('course-of'); s.value = 'working set: data pages';
        s.dispatchEvent(new Event('change'));""")
    same(page.ask("""return [...document.querySelectorAll('#course-table tbody tr')].map(tr =>
        (tr.cells[1].textContent.match(/\\((.*)\\)/) || [null, null])[1]);"""),
        [None] * line['first'] + [reach if value is not None else None for reach, value in
            zip(line['working_set']['tlb_reach'], line['working_set']['data_pages']['values'])],
        'sets: the TLB reach of each interval')


with browser() as page:
    check_working_sets(page, sys.argv[1])
    check_course(page, sys.argv[1])
    check_threads(page, sys.argv[1])
    check_hostile(page, sys.argv[1])
    check_many(page, sys.argv[1])
    check_two_levels(page, sys.argv[1])
    check_compare.check(page, sys.argv[1])
    check_curve.check(page, sys.argv[1])
    check_profile.check(page, sys.argv[1])
    check_flame.check(page, sys.argv[1])
print(f'1..{tap.count}')
