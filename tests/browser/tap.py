# SPDX-License-Identifier: MIT
"""TAP, and what holds of every page."""
import json
import os
import sys
import time

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../output'))
from cachepeek_report import filled_in  # noqa: E402

count = 0


def ok(held, name, *why):
    global count
    count += 1
    print(f"{'ok' if held else 'not ok'} {count} - {name}".replace('#', '\\#'), flush=True)
    if not held:
        for line in why:
            print('#', str(line)[:1000], flush=True)


def same(found, wanted, name):
    ok(found == wanted, name, f'found  {found}', f'wanted {wanted}')


def near(found, wanted, name):
    ok(found is not None and abs(found - wanted) <= 1e-9 * max(1, abs(wanted)), name, found, wanted)


def load(place, name):
    with open(os.path.join(place, name + '.json'), encoding='utf-8') as file:
        return filled_in(json.load(file))


def quiet(page, path, name):
    """Nothing on the console, nothing asked for but the file itself."""
    same(page.complaints(), [], f'{name}: nothing on the console')
    same([url for url in page.requests() if not url.startswith('data:')],
         ['file://' + os.path.abspath(path)], f'{name}: no request but the file')


def ran(page, report, name):
    """The page says when and where the run was, and which version wrote it."""
    began = report['began'].replace('T', ' ').replace('Z', ' UTC')
    same(page.ask("return document.getElementById('run').textContent"),
         f"{began} on {report['host']} · cachepeek {report['cachepeek']}", f'{name}: when and where it ran')


def fits(page, name):
    """Nothing makes the page scroll sideways."""
    width = page.ask('return document.documentElement.scrollWidth')
    ok(width <= page.ask('return innerWidth'), f'{name}: the page does not scroll sideways', width)


def tabbed(page, path, most=80):
    """What the Tab key reaches, in order: ids, or the columns of headings."""
    page.show(path)
    seen = []
    page.driver.find_element(By.TAG_NAME, 'body').send_keys(Keys.TAB)
    for _ in range(most):
        name = page.ask("""const a = document.activeElement;
            if (a === document.body || a.dataset.tabbed) return null;
            a.dataset.tabbed = 'yes';
            return a.id || a.className || a.tagName + ':' + (a.parentNode.dataset.id || '');""")
        if name is None:
            break
        seen.append(name)
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
    return seen


def pick(page, element, value):
    """As a choice of a select element."""
    page.ask("""const s = document.getElementById(arguments[0]); s.value = arguments[1];
        s.dispatchEvent(new Event('change'));""", element, value)


def hover(page, canvas, dataset, index):
    """What the tooltip of a bar says: its title and lines."""
    at = page.ask("""const c = Chart.getChart(arguments[0]), bar = c.getDatasetMeta(arguments[1]).data[arguments[2]];
        c.canvas.scrollIntoView({block: 'center'});
        const box = c.canvas.getBoundingClientRect();
        return [box.left + (bar.base + bar.x) / 2, box.top + bar.y];""", canvas, dataset, index)
    page.driver.execute_cdp_cmd('Input.dispatchMouseEvent', {'type': 'mouseMoved', 'x': at[0], 'y': at[1]})
    for _ in range(50):
        tip = page.ask("""const t = Chart.getChart(arguments[0]).tooltip;
            return t.opacity ? [t.title[0], ...t.body.map(b => b.lines[0])] : null;""", canvas)
        if tip:
            return tip
        time.sleep(0.1)
    return []
