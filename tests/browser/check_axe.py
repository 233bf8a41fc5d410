#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# TAP: what axe-core finds in pages, light and dark, wide and narrow.
#	tests/browser/check_axe.py AXE.js PAGE.html...
import os
import sys

import tap
from browser import browser
from tap import fits, ok, same

FIND = '''const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ['violations']}).then(found => done([found.passes.length, found.violations.map(one =>
    one.id + ': ' + one.nodes.map(node => node.html.slice(0, 200) + ' ' + node.failureSummary).join('; '))]),
    error => done([0, [String(error)]]));'''


def check(page, script, path):
    name = os.path.basename(path)
    for theme in ('light', 'dark'):
        for width in (1400, 390):
            page.show(path, width, theme)
            page.ask("for (const one of document.querySelectorAll('details')) one.open = true")
            page.ask(script)
            passed, violations = page.driver.execute_async_script(FIND)
            same(violations, [], f'{name}, {theme}, {width} px: nothing to complain of')
            ok(passed > 5, f'{name}, {theme}, {width} px: rules were tried', passed)
            fits(page, f'{name}, {theme}, {width} px')
    same(page.complaints(), [], f'{name}: nothing on the console')


with open(sys.argv[1], encoding='utf-8') as file:
    axe = file.read()
with browser() as opened:
    for page_path in sys.argv[2:]:
        check(opened, axe, page_path)
print(f'1..{tap.count}')
