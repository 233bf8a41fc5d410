# SPDX-License-Identifier: MIT
"""The page of what changed between call paths, against the JSON of the same."""
import json
import sys

import tap
from browser import browser
from tap import ok, same

page_file, json_file = sys.argv[1:]
FRAMES = """return [...document.querySelectorAll('#flame .frame')].map(f =>
    [f.getAttribute('aria-label'), Number(f.dataset.value), Number(f.dataset.own), f.className]);"""
CHOOSE = """const s = document.getElementById('flame-of'); s.selectedIndex = arguments[0];
    s.dispatchEvent(new Event('change'));"""
TABLE = """return [...document.querySelectorAll('#paths tbody tr')].map(tr =>
    [...tr.cells].map(c => c.dataset.value ?? c.textContent));"""

paths = json.load(open(json_file))['paths']
quantities = list(paths[0]['after']['inclusive'])
WHAT = 'L1D misses'


def level(path):
    """The colour of a path: by how much of the whole it changed."""
    whole = max(paths[0][side]['inclusive'][WHAT] for side in ('before', 'after'))
    change = path['after']['inclusive'][WHAT] - path['before']['inclusive'][WHAT]
    n = sum(change != 0 and abs(change) >= least * whole for least in (0.001, 0.01, 0.1))
    return ('more' if change > 0 else 'less') + str(n) if n else 'same'


def named(frames, name):
    return [f for f in frames if f[0].startswith(name + ': ')]


with browser() as page:
    page.show(page_file)
    same(page.complaints(), [], 'the page has no complaints')
    same(page.ask("return [...document.getElementById('flame-of').options].map(o => o.textContent)"),
         [f'{q} after' for q in quantities] + [f'{q} before' for q in quantities], 'both sides can be shown')
    for side, index in (('after', quantities.index(WHAT)), ('before', len(quantities) + quantities.index(WHAT))):
        page.ask(CHOOSE, index)
        frames = page.ask(FRAMES)
        same(frames[0][1], paths[0][side]['inclusive'][WHAT], f'{side}: the whole')
        for name, there in (('exceptions', side == 'after'), ('main', True)):
            found = named(frames, name)
            same(len(found), int(there), f'{side}: {name} is {"" if there else "not "}there')
            if found:
                path = next(p for p in paths if p['function'] == name)
                same(found[0][1], path[side]['inclusive'][WHAT], f'{side}: {name}')
                ok(level(path) in found[0][3].split(), f'{side}: the colour of {name}', found[0][3], level(path))
                ok(f"before {path['before']['inclusive'][WHAT]}, after {path['after']['inclusive'][WHAT]} "
                   in found[0][0], f'{side}: both numbers of {name}', found[0][0])
    sums = {}
    for path in paths:
        row = sums.setdefault(path['function'] or '(program)', {'before': 0, 'after': 0})
        for side in row:
            row[side] += path[side]['exclusive'][WHAT]
    row = next(r for r in page.ask(TABLE) if r[0] == '_Unwind_RaiseException')
    expected = sums[row[0]]
    same([int(float(str(n).replace(',', ''))) for n in row[1:]],
         [expected['after'] - expected['before'], expected['before'], expected['after']], 'the row of a function')
print(f'1..{tap.count}')
