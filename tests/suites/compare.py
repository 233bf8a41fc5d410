#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py ALONE.xml WITH.xml: do two JUnit reports have the same results?"""
import sys
import xml.etree.ElementTree as ET


def results(path):
    found = {}
    for case in ET.parse(path).iter('testcase'):
        name = '%s.%s' % (case.get('classname'), case.get('name'))
        outcome = [child.tag for child in case if child.tag in ('failure', 'error', 'skipped')]
        found[name] = outcome[0] if outcome else case.get('result', 'passed')
    return found


alone, beside = (results(path) for path in sys.argv[1:3])
different = ['%s: %s, with the library %s' % (name, alone.get(name, 'not run'), beside.get(name, 'not run'))
             for name in sorted(alone.keys() | beside.keys()) if alone.get(name) != beside.get(name)]
print('%d tests, %d differ' % (len(alone), len(different)))
print('\n'.join(different))
sys.exit(bool(different) or not alone)
