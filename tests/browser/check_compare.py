# SPDX-License-Identifier: MIT
"""The page of `cachepeek compare`."""
import os

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tap import fits, hover, load, near, ok, pick, quiet, ran, same, tabbed

ROWS = """return [...document.querySelectorAll('#machines tbody tr')].map(tr => [tr.cells[0].firstChild.textContent,
    [...tr.cells].slice(1).map(td => [td.dataset.value === undefined ? null : Number(td.dataset.value), td.title])]);"""


def value(machine, name):
    return machine['counts'][name]['value']


def served(machine):
    """Of L1D, L2, L3 and memory; None where there is no such level."""
    return [value(machine, f'refs_from_{level}') for level in ('l1', 'l2', 'l3', 'memory')]


def check_served(page, report):
    pick(page, 'served-scale', 'count')
    chart = page.ask("const c = Chart.getChart('served'); return [c.data.labels, c.data.datasets.map(d => [d.label, d.data])]")
    same(chart[0], [m['name'] for m in report['machines']], 'compare: a bar per machine, in order')
    same([name for name, _ in chart[1]], ['L1D', 'L2', 'L3', 'memory'], 'compare: the levels')
    for at, machine in enumerate(report['machines']):
        same([data[at] for _, data in chart[1]], served(machine), f"compare: what served on {machine['name']}")
        same(sum(data[at] or 0 for _, data in chart[1]), value(machine, 'l1d_accesses'), f"compare: {machine['name']}: all data references")
    pick(page, 'served-scale', 'share')
    shares = page.ask("return Chart.getChart('served').data.datasets.map(d => d.data)")
    for at, machine in enumerate(report['machines']):
        near(sum(data[at] or 0 for data in shares), 100, f"compare: shares of {machine['name']} are 100 %")
    tip = hover(page, 'served', 0, 1)
    hits = served(report['machines'][1])[0]
    same(tip[:2], [report['machines'][1]['name'], f'L1D: {hits:,}, simulated'], 'compare: hover')


def check_beside(page, report):
    for name, factor in (('l1d_mpki', 1), ('l1d_miss_ratio', 100), ('l2_mpki', 1)):
        pick(page, 'beside-of', name)
        found = page.ask("return Chart.getChart('beside').data.datasets[0].data")
        values = [m['metrics'][name]['value'] for m in report['machines']]
        same(found, [None if v is None else factor * v for v in values], f'compare: {name} side by side')
    missing = [m['name'] for m in report['machines'] if m['metrics']['l2_mpki']['value'] is None]
    ok('Not counted on ' + ', '.join(missing) in page.ask("return document.getElementById('beside-note').textContent"),
       'compare: who does not count it is said')
    ok(page.ask("return document.getElementById('beside').getBoundingClientRect().width") > 300, 'compare: it is drawn')


def check_table(page, report):
    pick(page, 'columns', 'all')
    names = page.ask("return [...document.querySelectorAll('#machines thead th')].slice(1).map(th => th.dataset.id)")
    for (name, cells), machine in zip(page.ask(ROWS), report['machines']):
        wanted = [machine['counts' if n[0] == '#' else 'metrics'][n.lstrip('#')] for n in names]
        same([name, [cell[0] for cell in cells]], [machine['name'], [w['value'] for w in wanted]],
             f"compare: the row of {machine['name']}")
        ok(all((w.get('reason') or w['status']) in cell[1] for w, cell in zip(wanted, cells)),
           f"compare: and where it comes from, of {machine['name']}")
    counted = {n for m in report['machines'] for k in ('counts', 'metrics') for n, v in m[k].items() if v['value'] is not None}
    same({n.lstrip('#') for n in names}, counted, 'compare: each column that a machine counts')


def check_answer(page, report):
    """The columns that the page begins with: what <== goes by is the first."""
    answer = next(one for one in report['answers'] if one['most'])
    ids = page.ask("return [...document.querySelectorAll('#machines thead th')].slice(1).map(th => th.dataset.id)")
    same(ids, [answer['ranked_by'], 'served_l1', 'served_l2', 'served_l3', 'served_memory', 'l1d_mpki'], 'compare: the columns of the answer')
    worst = max((cells[0][0] or 0, name) for name, cells in page.ask(ROWS))[1]
    same(page.ask("return document.querySelector('#machines tr.worst').cells[0].firstChild.textContent"), worst,
         'compare: <== where most is')


def check_use(page, report):
    mpki = {m['name']: m['metrics']['l1d_mpki']['value'] for m in report['machines']}
    page.driver.find_element(By.CSS_SELECTOR, '#machines th[data-id="l1d_mpki"] button').click()
    down = sorted(mpki, key=lambda name: -mpki[name])
    same([row[0] for row in page.ask(ROWS)], down, 'compare: a click sorts')
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    same([row[0] for row in page.ask(ROWS)], down[::-1], 'compare: the Enter key turns it round')
    page.driver.find_element(By.ID, 'filter').send_keys('ZEN')
    same([row[0] for row in page.ask(ROWS)], ['zen3'], 'compare: filtered')
    same(page.ask("return ['served', 'beside'].map(id => Chart.getChart(id).data.labels)"), [['zen3'], ['zen3']],
         'compare: the charts too')


def check(page, place):
    path = os.path.join(place, 'compare.html')
    report = load(place, 'compare')
    page.show(path)
    quiet(page, path, 'compare')
    ran(page, report, 'compare')
    text = page.ask("return document.body.innerText")
    ok('Simulated:' in text and all(m['description'].split(': ')[1] in text for m in report['machines']),
       'compare: what was simulated')
    check_answer(page, report)
    check_served(page, report)
    check_beside(page, report)
    check_table(page, report)
    check_use(page, report)
    seen = tabbed(page, path)
    wanted = ['skip', 'theme', 'served-scale', 'beside-of', 'filter', 'columns']
    same([name for name in seen if name in wanted], wanted, 'compare: every control by keyboard, in order')
    for width in (390, 1400):
        page.show(path, width, 'dark')
        fits(page, f'compare, {width} px')
    same(page.complaints(), [], 'compare: and still nothing on the console')
