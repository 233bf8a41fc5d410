#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Pictures of a report in light and dark, narrow and wide, and as printed, for
# people to look at.
#	tests/browser/shoot.py REPORT.html DIRECTORY
import os
import sys

from browser import browser

with browser() as page:
    for theme in ('light', 'dark'):
        for width in (390, 1400):
            page.show(sys.argv[1], width, theme)
            page.picture(os.path.join(sys.argv[2], f'{theme}-{width}.png'))
    for complaint in page.complaints():
        print(complaint)
    page.show(sys.argv[1], 800, 'dark', 'print')
    page.ask("dispatchEvent(new Event('beforeprint'))")
    page.picture(os.path.join(sys.argv[2], 'print.png'))
