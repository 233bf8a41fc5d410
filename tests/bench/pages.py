#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# For tests/bench/pages.sh.
#	tests/bench/pages.py ROUNDS PAGE...
import os
import statistics
import sys

from browser import browser

LOADED = "return performance.getEntriesByType('navigation')[0].loadEventEnd"


def idle(path):
    """The same bytes, as one script of data that nobody reads."""
    floor = path[:-len('.html')] + '-idle.html'
    with open(path, encoding='utf-8') as page, open(floor, 'w', encoding='utf-8') as to:
        to.write('<!DOCTYPE html>\n<title>idle</title>\n<script type="text/plain">\n'
                 + page.read().replace('</script', '< script') + '</script>\n')
    return floor


def cost(page, path):
    page.driver.execute_cdp_cmd('Performance.enable', {'timeDomain': 'threadTicks'})
    page.show(path)
    metrics = {one['name']: one['value'] for one in page.driver.execute_cdp_cmd('Performance.getMetrics', {})['metrics']}
    wall = page.ask(LOADED)
    page.driver.execute_cdp_cmd('Performance.disable', {})
    return 1000 * metrics['TaskDuration'], wall


rounds, pages = int(sys.argv[1]), sys.argv[2:]
both = [each for page in pages for each in (page, idle(page))]
found = {path: [] for path in both}
with browser() as page:
    for _ in range(rounds):
        for path in both:
            found[path].append(cost(page, path))
print(f'to open a page, median of {rounds} times each')
print(f'{"":24} {"MB":>6} {"CPU ms":>8} {"wall ms":>8}')
for path in both:
    cpu, wall = (statistics.median(column) for column in zip(*found[path]))
    print(f'{os.path.basename(path):24} {os.path.getsize(path) / 1e6:6.2f} {cpu:8.0f} {wall:8.0f}')
