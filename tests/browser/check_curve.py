# SPDX-License-Identifier: MIT
"""The miss curve: a level in other sizes."""
import os

from tap import fits, load, ok, quiet, same

CHART = """const c = Chart.getChart('curve'); return [c.data.labels, c.data.datasets.map(d => [d.label, d.data]),
    c.data.datasets.every(d => d.borderDash.length), c.data.datasets[0].pointRadius];"""
TABLE = """return [...document.querySelectorAll('#curve-table tbody tr')].map(tr => [tr.cells[0].textContent,
    ...[...tr.cells].slice(1).map(td => Number(td.dataset.value))]);"""


def check_there(page, place):
    path = os.path.join(place, 'sweep.html')
    sweep = load(place, 'sweep')['sweep']
    page.show(path)
    quiet(page, path, 'curve')
    labels, lines, dashed, radius = page.ask(CHART)
    own = [point['value'] for point in sweep['points']].index(sweep['own'])
    wanted = [point['label'] + (' (this machine)' if i == own else '') for i, point in enumerate(sweep['points'])]
    same(labels, wanted, 'curve: each size, and which is the machine\'s')
    same(radius.index(max(radius)), own, 'curve: that one stands out')
    same(lines, [[' / '.join(curve['path']) or 'whole run', curve['misses']] for curve in sweep['curves']],
         'curve: the misses of the whole run and its regions')
    ok(max(lines[0][1]) > min(lines[0][1]), 'curve: which are not all the same', lines)
    ok(dashed, 'curve: simulated lines are dashed')
    same(page.ask(TABLE), [[label] + [line[1][i] for line in lines] for i, label in enumerate(labels)],
         'curve: its numbers as a table')
    ok(page.ask("return document.getElementById('curve').getBoundingClientRect().width") > 300, 'curve: it is drawn')
    page.show(path, 390, 'dark')
    fits(page, 'curve, 390 px')


def check(page, place):
    check_there(page, place)
    path = os.path.join(place, 'unswept.html')
    reason = load(place, 'unswept')['sweep']['curves'][0]['reason']
    page.show(path)
    quiet(page, path, 'no curve')
    ok(reason in page.ask("return document.getElementById('curve-note').textContent"), 'no curve: why', reason)
    ok(page.ask("return document.getElementById('curve-box').hidden"), 'no curve: and no chart')
    page.show(os.path.join(place, 'two.html'))
    ok(page.ask("return document.getElementById('curve-section').hidden"), 'no sweep: no curve')
