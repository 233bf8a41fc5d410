#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# One picture of a report, as on a screen of this width: the first HEIGHT pixels.
#	tests/browser/picture.py REPORT.html PICTURE.png [WIDTH [HEIGHT]]
import sys

from browser import browser

report, picture = sys.argv[1:3]
width, height = (int(word) for word in (sys.argv[3:] + ['1000', '1000'][len(sys.argv) - 3:]))
with browser() as page:
    page.show(report, width)
    page.picture(picture, height)
