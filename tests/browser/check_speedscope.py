#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Opens files in speedscope itself, and prints what its list of functions then shows, as JSON:
# {FILE: {"rows": [[total, self, name], ...], "complaints": [...]}, ...}
#	tests/browser/check_speedscope.py INDEX.html FILE...
import base64
import json
import os
import sys
import tempfile
import time

from browser import browser

ROWS = '''return Array.from(document.querySelectorAll('table tr')).map(row =>
    Array.from(row.querySelectorAll('td')).map(cell => cell.innerText.trim())).filter(row => row.length)'''


def wait(page, script):
    for _ in range(200):
        found = page.ask(script)
        if found:
            return found
        time.sleep(0.05)
    return None


def rows(page, index, path):
    """What speedscope's own command does: a script that hands the file over."""
    with open(path, 'rb') as file, tempfile.NamedTemporaryFile('w', suffix='.js') as script:
        text = base64.b64encode(file.read()).decode()
        script.write(f'speedscope.loadFileFromBase64({json.dumps(os.path.basename(path))}, "{text}")')
        script.flush()
        page.driver.get('about:blank')
        page.complaints()
        page.driver.get(f'file://{os.path.abspath(index)}#view=sandwich&localProfilePath={script.name}')
        return {'rows': wait(page, ROWS) or [], 'complaints': page.complaints()}


with browser() as opened:
    print(json.dumps({path: rows(opened, sys.argv[1], path) for path in sys.argv[2:]}))
