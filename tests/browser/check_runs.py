#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# TAP: the pages of sharing, diff and repeat, read back in headless Chromium, have what their
# JSON has.
#	tests/browser/check_runs.py DIRECTORY	(shared, diff, repeat, ...: .html, .json)
import math
import os
import re
import sys

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import tap
from browser import browser
from tap import fits, hover, load, near, ok, pick, quiet, ran, same, tabbed

ROWS = """return [...document.querySelectorAll(arguments[0] + ' tbody tr')].map(tr => [tr.cells[0].title, tr.className,
    [...tr.cells].slice(1).map(td => [td.dataset.value === undefined ? null : Number(td.dataset.value), td.textContent, td.title])]);"""
INSIDE = "return JSON.parse(document.getElementById('report').textContent)"


def numbers(page, table):
    return [[value for value, *_ in cells] for _, _, cells in page.ask(ROWS, table)]


def answered(page, report, name):
    """The page begins with the answer, and has no number that its JSON has not."""
    lines = [[line['title'], line['text']] for answer in report['answers'] for line in answer['lines']]
    shown = page.ask("""return [...document.querySelectorAll('#answer dt')].map(dt =>
        [dt.textContent, dt.nextElementSibling.textContent]);""")
    same(shown, lines, f'{name}: the answer comes first')
    ok(lines, f'{name}: there is one')
    same(page.ask(INSIDE), report, f'{name}: the page holds the JSON')


def region_of(value):
    return ' / '.join(value['path']) or 'whole run'


def everywhere(page, path, name, wanted):
    """By keyboard, narrow, dark and printed."""
    seen = tabbed(page, path)
    same([one for one in seen if one in wanted], wanted, f'{name}: every control by keyboard, in order')
    for width in (390, 1400):
        page.show(path, width, 'dark')
        fits(page, f'{name}, {width} px')
    page.show(path, 1000, 'dark', 'print')
    page.ask("dispatchEvent(new Event('beforeprint'))")
    same(page.ask('return document.documentElement.dataset.theme'), 'light', f'{name}: light on paper')
    same(page.complaints(), [], f'{name}: and still nothing on the console')


# ---- sharing ----

def place(at):
    """A statement, as the page says it."""
    name = lambda path: path.rsplit('/', 1)[-1]
    function = at['function'] or name(at['module']) + '+' + at['address'] + ' [no symbol]'
    where = f" ({name(at['file'])}:{at['line']})" if at['file'] else f" in {name(at['module'])}" if at['function'] else ''
    return ('writes' if at['writes'] else 'reads') + ' in ' + function + where


def check_line(page, report, line):
    """The threads of a line, and the strips of bytes."""
    users = page.ask(ROWS, '#users')
    same([[cells[5][0], cells[6][0]] for _, _, cells in users], [[u['loads'], u['stores']] for u in line['threads']],
         'sharing: loads and stores of each thread')
    same([cells[4][1] for _, _, cells in users], [', '.join(map(place, u['places'])) for u in line['threads']],
         'sharing: where in the code each thread uses it')
    for kind in ('read', 'written'):
        strips = page.ask("""return [...document.querySelectorAll('#users .bytes')].map(box => {
            const whole = box.getBoundingClientRect(), width = box.clientWidth, left = whole.left + box.clientLeft;
            return [...box.querySelectorAll('.' + arguments[0])].map(i => { const at = i.getBoundingClientRect();
                return [(at.left - left) / width * arguments[1], (at.right - left) / width * arguments[1]]; });
        });""", kind, report['line'])
        shown = [[[round(a), round(b) - 1] for a, b in strip] for strip in strips]
        same(shown, [user[kind + '_bytes'] for user in line['threads']], f'sharing: which bytes are {kind}')


def check_sharing(page, place):
    path, report = os.path.join(place, 'shared.html'), load(place, 'shared')
    page.show(path)
    quiet(page, path, 'sharing')
    answered(page, report, 'sharing')
    lines = report['lines']
    ok(len(lines) > 1, 'sharing: several lines', lines)
    same(numbers(page, '#lines'), [[len(l['threads']), l['transfers_at_most'], l['for_nothing_at_most'], l['hitm'],
                                    l['invalidations']] for l in lines], 'sharing: each line, with its numbers')
    same([row[0] for row in page.ask(ROWS, '#lines')], [f"{l['data']} {l['address']}" for l in lines], 'sharing: and its data')
    same([row[1] for row in page.ask(ROWS, '#lines')], ['worst'] + [''] * (len(lines) - 1), 'sharing: <== at the first')
    check_line(page, report, lines[0])
    page.driver.find_elements(By.CSS_SELECTOR, '#lines tbody button')[1].send_keys(Keys.ENTER)
    check_line(page, report, lines[1])
    by_data = {}
    for line in lines:
        nothing, used = by_data.get(line['data'], (0, 0))
        by_data[line['data']] = (nothing + line['for_nothing_at_most'],
                                 used + line['transfers_at_most'] - line['for_nothing_at_most'])
    bars = page.ask("return Chart.getChart('data').data.datasets.map(d => d.data)")
    same(list(zip(*bars)), sorted(by_data.values(), reverse=True), 'sharing: a bar for the lines of the same data')
    tip = hover(page, 'data', 0, 0)
    same(tip[0], max(by_data, key=by_data.get), 'sharing: hover')
    advice = page.ask("return document.getElementById('findings').textContent")
    ok(report['findings'] and all(f['evidence'] in advice and f['threshold'] in advice for f in report['findings']),
       'sharing: what to mend, and why it is said', advice)
    ok(page.ask("return document.querySelector('#lines th[data-id=for_nothing] button').title"), 'sharing: a heading says what it means')
    everywhere(page, path, 'sharing', ['skip', 'theme', 'filter'])
    path, report = os.path.join(place, 'order.html'), load(place, 'order')
    page.show(path)
    same(len(page.ask("return [...document.querySelectorAll('#lines thead th')].map(th => th.dataset.id)")), 4,
         'sharing: no column of turns that nobody took')
    same(page.ask("return document.querySelectorAll('tr.worst').length"), 0, 'sharing: <== nowhere, where nothing is to mend')
    answered(page, report, 'sharing, nothing to mend')


# ---- diff ----

def shown_change(value):
    """As cachepeek diff prints it, with the page's minus."""
    ratio = value['ratio']
    if value['verdict'] == 'one-sided':
        return 'gone' if value['before']['n'] else 'new'
    if value['difference'] == 0:
        return '0 %'
    if ratio is None:
        return 'from 0'
    if ratio >= 2:
        return '×' + f'{ratio:#.3g}'.rstrip('0').rstrip('.') if ratio < 1000 else None
    percent = 100 * (ratio - 1)
    if abs(percent) < 0.05:
        return '>−0.1 %' if percent < 0 else '<0.1 %'
    return f"{'+' if percent > 0 else '−'}{abs(percent):.1f} %"


def check_diff_table(page, values, name):
    rows = page.ask(ROWS, '#values')
    same([[cells[0][0], cells[1][0]] for _, _, cells in rows],
         [[v['before']['mean'], v['after']['mean']] for v in values[:50]], f'{name}: means of both sides')
    wrong = [(cells[2][1], shown_change(v)) for (_, _, cells), v in zip(rows, values)
             if shown_change(v) and cells[2][1] != shown_change(v)]
    same(wrong, [], f'{name}: the change as the text has it')
    same([cells[3][0] for _, _, cells in rows], [v['p_adjusted'] for v in values[:50]], f'{name}: p')
    ok(all(region_of(v) in title for (title, _, _), v in zip(rows, values) if region_of(v).isprintable()), f'{name}: whose it is')


def check_changes(page, values):
    known = [v['ratio'] for v in values if v['ratio'] and v['ratio'] != 1][:20]
    far = any(ratio >= 2 or ratio <= 0.5 for ratio in known)
    bars = page.ask("return Chart.getChart('changes').data.datasets[0].data")
    ok(len(bars) == len(known) > 3, 'diff: a bar for each', len(bars))
    for bar, ratio in zip(bars, known):
        near(bar, math.log2(ratio) if far else 100 * (ratio - 1), 'diff: as long as the change')
    colours = page.ask("""const c = Chart.getChart('changes').data.datasets[0];
        return [...new Set(c.data.map((v, i) => (v > 0) + c.backgroundColor[i]))];""")
    same(len(colours), len({ratio > 1 for ratio in known}), 'diff: more is of one colour, less of another')


def check_diff(page, place):
    path, report = os.path.join(place, 'diff.html'), load(place, 'diff')
    page.show(path)
    quiet(page, path, 'diff')
    answered(page, report, 'diff')
    values = report['values']
    differ = [v for v in values if v['role'] == 'cost'
              or v['role'] != 'repeated' and v['verdict'] in ('exact', 'significant', 'untested')]
    check_diff_table(page, differ, 'diff')
    check_changes(page, differ)
    sides = [(side, report[side]) for side in ('before', 'after')]
    when = ' · '.join(f"{name}: {side['began'].replace('T', ' ').replace('Z', ' UTC')} on {side['host']}" for name, side in sides)
    same(page.ask("return document.getElementById('run').textContent"), f"{when} · cachepeek {report['cachepeek']}", 'diff: when and where each side ran')
    ok('miss cost' in page.ask(ROWS, '#values')[0][0].lower().replace('_', ' '), 'diff: the cost comes first', page.ask(ROWS, '#values')[0])
    same(page.ask("return document.querySelectorAll('.mark, tr.worst').length"), 0, 'diff: no side effect is marked')
    pick(page, 'which', 'all')
    check_diff_table(page, values, 'diff, all')
    page.driver.find_element(By.CSS_SELECTOR, '#values th[data-id="after"] button').click()
    after = [v['after']['mean'] for v in values]
    same([cells[1] for cells in numbers(page, '#values')], sorted((a for a in after if a is not None), reverse=True)[:50],
         'diff: a click sorts')
    page.driver.find_element(By.ID, 'filter').send_keys('L1D miss ratio')
    same(len(page.ask(ROWS, '#values')), sum(v['name'] == 'l1d_miss_ratio' for v in values), 'diff: filtered')
    tip = page.ask("return document.querySelector('#values tbody th').title")
    ok('l1d_miss_ratio = l1d_misses / l1d_accesses' in tip, 'diff: a name says its formula', tip)
    gates = page.ask("return document.getElementById('gates').innerText")
    ok('fails' in gates and report['fail_if'][0]['text'] in gates, 'diff: the condition that is met', gates)
    ok('holds' in gates and report['fail_if'][1]['expression'] in gates, 'diff: and the one that is not', gates)
    everywhere(page, path, 'diff', ['skip', 'theme', 'filter', 'which'])
    path, report = os.path.join(place, 'timed-diff.html'), load(place, 'timed-diff')
    page.show(path)
    bar, label = page.ask("""const c = Chart.getChart('changes').data;
        return [c.datasets[0].data[0], c.labels[0]];""")
    same(label, 'measured CPU time', 'diff --time: the first bar is what was measured')
    ratio = report['time']['ratio']
    ok(min(abs(bar - math.log2(ratio)), abs(bar - 100 * (ratio - 1))) < 1e-6, 'diff --time: as long as the clock says', bar)
    same(page.ask("return document.querySelector('#answer dt').textContent"), report['time']['verdict'], 'diff --time: the answer begins with it')
    path, report = os.path.join(place, 'same.html'), load(place, 'same')
    page.show(path)
    answered(page, report, 'diff, the same')
    same([len(page.ask(ROWS, '#values')), page.ask("return [document.querySelectorAll('.mark').length,"
          " document.getElementById('changes-box').hidden, document.getElementById('gates').hidden]")],
         [min(50, len(report['values'])), [0, True, True]], 'diff, the same: all values, no mark, no chart')


# ---- repeat ----

def check_runs(page, value):
    factor = 100 if value['unit'] == 'ratio' else 1
    points = page.ask("const c = Chart.getChart('runs'); return [c.data.labels, c.data.datasets[0].data]")
    same(points, [[f'run {i + 1}' for i in range(value['n'])], [factor * v for v in value['values']]],
         f"repeat: {value['name']}: a point for each run")
    same([row[0] for row in numbers(page, '#runs-table')], value['values'], f"repeat: {value['name']}: as a table")


def check_repeat(page, place):
    path, report = os.path.join(place, 'repeat.html'), load(place, 'repeat')
    page.show(path)
    quiet(page, path, 'repeat')
    answered(page, report, 'repeat')
    ran(page, report, 'repeat')
    values = report['values']
    same(numbers(page, '#values'), [[v['mean'], v['min'], v['max'], (v['stddev'] / v['mean'] if v['mean'] else 0)
                                     if v['n'] else None] for v in values[:50]], 'repeat: each value')
    ok(all((v['reason'] or v['status']) in cells[0][2] for (_, _, cells), v in zip(page.ask(ROWS, '#values'), values)),
       'repeat: and where it comes from')
    most = report['answers'][0]['most']
    first = next(v for v in values if [v['path'], v['name']] == [most['path'], most['name']])
    check_runs(page, first)
    spreads = [v['stddev'] / v['mean'] for v in values if v['n'] and v['mean'] and v['unit'] == first['unit'] and not v['path']]
    near(first['stddev'] / first['mean'], max(spreads), 'repeat: what varies most does')
    page.driver.find_elements(By.CSS_SELECTOR, '#values tbody th button')[1].click()
    check_runs(page, values[1])
    ratio = next(i for i, v in enumerate(values) if v['unit'] == 'ratio' and v['n'] and v['mean'])
    pick(page, 'runs-of', str(ratio))
    check_runs(page, values[ratio])
    pick(page, 'which', 'differ')
    same(len(page.ask(ROWS, '#values')), min(50, sum(v['min'] != v['max'] or v['n'] == 0 or v['missing'] > 0 for v in values)),
         'repeat: what varies')
    everywhere(page, path, 'repeat', ['skip', 'theme', 'runs-of', 'filter', 'which'])


# ---- the ranks of a job ----

def check_job(page, place):
    path, report = os.path.join(place, 'job.html'), load(place, 'job')
    page.show(path)
    quiet(page, path, 'job')
    ranks = report['by_rank']
    same([list(rank['counts']) for rank in ranks], [['instructions', 'l1d_misses', 'llc_misses']] * 3, 'job: what is known of each rank')
    # Times that no rank has take no columns.
    same(page.ask("return [...document.querySelectorAll('#ranks-table thead th')].map(th => th.textContent)"),
         ['rank', 'processes', 'threads', 'instructions', 'L1D misses', 'L3 misses'], 'job: a column for each')
    same(numbers(page, '#ranks-table'), [[r['processes'], r['threads'], *(c['value'] for c in r['counts'].values())] for r in ranks],
         'job: with its numbers')
    for name, total in report['regions'][0]['counts'].items():
        if name in ranks[0]['counts']:
            same(sum(rank['counts'][name]['value'] for rank in ranks), total['value'], f'job: {name}: the ranks add up to the job')
    mean = sum(rank['counts']['instructions']['value'] for rank in ranks) / 3
    shades = page.ask("return [...document.querySelectorAll('#ranks-table tbody tr')].map(tr => Number(tr.cells[3].dataset.deviation))")
    for rank, shade in zip(ranks, shades):
        near(shade, rank['counts']['instructions']['value'] / mean - 1, f"job: how far rank {rank['rank']} is from the mean")


# ---- dcache --line-use ----

def check_line_use(page, place):
    path = os.path.join(place, 'lines.html')
    page.show(path)
    quiet(page, path, 'line use')
    page.ask("document.querySelector('#data-found button')?.click()")
    data = [one['line_use'] for one in load(place, 'lines')['data'][:25]]
    strips = page.ask("""return [...document.querySelectorAll('#data tbody tr')].map(tr =>
        [[...tr.querySelectorAll('th small')].map(small => small.textContent).find(text => text.includes('bytes of a fetched line')),
         [...tr.querySelectorAll('th .fields')].map(small => small.textContent), [...tr.querySelectorAll('.use i')].map(i => Number(i.style.opacity))]);""")
    wrong = [(text, use) for (text, fields, shown), use in zip(strips, data)
             if len(shown) != len(use['used'])
             or any(abs(n / use['fetched'] - seen) > 0.0006 for n, seen in zip(use['used'], shown))
             or abs(float(re.search(r'([0-9.]+) of 64 bytes', text)[1]) - use['used_bytes']) > 0.006
             or len(fields) != bool(use.get('fields'))
             or any(field['name'] + ' ' not in fields[0] for field in use.get('fields', [])[:12])]
    same(wrong, [], 'line use: how often each byte was used, of each data')
    ok(len(strips) == len(data) > 5, 'line use: of several', len(strips))
    ok('unused-bytes' in page.ask("return document.getElementById('answer').textContent"), 'line use: the finding comes first')


def check_hostile(page, place):
    for name in ('evil-diff', 'evil-repeat', 'evil-shared'):
        path = os.path.join(place, name + '.html')
        page.show(path)
        quiet(page, path, name)
        shown = page.ask('return document.body.innerText')
        ok('</script><b>&amp;' in shown, f'{name}: shown as it is', shown[:300])
        same(page.ask("return document.querySelectorAll('main b, main img, header b').length"), 0, f'{name}: no element is made')
        ok(not re.search('[\x1b\x07\u202e]', shown), f'{name}: nothing that controls the text')


with browser() as opened:
    for check in (check_sharing, check_diff, check_repeat, check_job, check_line_use, check_hostile):
        check(opened, sys.argv[1])
print(f'1..{tap.count}')
