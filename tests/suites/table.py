#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table.py WORK [DOCUMENT]: the suites that debian.sh compared in WORK, as a table.  It is
put between the lines "<!-- suites -->" and "<!-- end of suites -->" of DOCUMENT, or printed;
a row of DOCUMENT whose suite is not in WORK stays as it is.
Differences that tests/suites/reasons explains stand in it with their reason; a suite that
differs otherwise, or whose tests have no results, makes this fail."""
import fnmatch
import glob
import os
import re
import sys

HEAD = ['| suite | engine | processes | tests | same | unsteady | differ |', '|---|---|--:|--:|--:|--:|---|']


def reasons():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'reasons')
    with open(path) as lines:
        return [line.rstrip('\n').split('\t') for line in lines if line.strip() and line[0] != '#']


def reason(suite, engine, test):
    for a_suite, an_engine, pattern, text in reasons():
        if a_suite == suite and an_engine in ('*', engine) and fnmatch.fnmatch(test, pattern):
            return text
    return None


def version(directory):
    sources = glob.glob(os.path.join(directory, 'fetched', '*.dsc'))
    return re.sub(r'^[^_]*_|\.dsc$', '', os.path.basename(sources[0])) if sources else ''


def processes(directory, engine):
    path = os.path.join(directory, engine + '.1.report.txt')
    try:
        with open(path, errors='replace') as lines:
            found = [re.match(r'ran +([0-9,]+) process', line) for line in lines]
    except FileNotFoundError:
        return '-'
    return next((match.group(1) for match in found if match), '1')


def explained(suite, engine, lines):
    tests = [re.match(r'  differs (.*?): ', line).group(1) for line in lines if line.startswith('  differs ')]
    known = [reason(suite, engine, test) for test in tests]
    counts = ['%d: %s' % (known.count(text), text) for text in sorted(set(known) - {None})]
    unknown = [test for test, text in zip(tests, known) if text is None]
    return '; '.join(counts + unknown) or '0', len(unknown)


def row(path):
    directory, engine = os.path.dirname(path), os.path.basename(path).split('.')[0]
    suite = os.path.basename(directory)
    with open(path) as lines:
        first, *rest = lines.read().splitlines()
    tests, same, unsteady = (re.search(r'(\d+) ' + word, first).group(1) for word in ('tests', 'same', 'unsteady'))
    stopped = re.search(r'\d+ not compared', first)
    tests += ' (%s: time limit)' % stopped.group(0) if stopped else ''
    differ, unknown = explained(suite, engine, rest)
    if tests == '0':
        differ, unknown = 'no test has a result', 1
    cells = ['%s %s' % (suite, version(directory)), engine, processes(directory, engine), tests, same, unsteady, differ]
    return '| %s |' % ' | '.join(cells), unknown


# Which suite and engine, whatever its version.
def key(line):
    suite, engine = line.split('|')[1:3]
    return suite.split()[0], engine.strip()


def merged(old, new):
    found = {key(line): line for line in old + new}
    return '\n'.join(HEAD + [found[which] for which in sorted(found)])


def insert(document, lines):
    with open(document) as file:
        text = file.read()
    parts = re.split(r'(?s)(?<=<!-- suites -->\n)(.*?)(?=<!-- end of suites -->)', text)
    if len(parts) != 3:
        sys.exit('table.py: %s has no line "<!-- suites -->"' % document)
    old = [line for line in parts[1].splitlines() if line.startswith('| ') and line != HEAD[0]]
    with open(document, 'w') as file:
        file.write(parts[0] + '\n%s\n\n' % merged(old, lines) + parts[2])


rows = [row(path) for path in sorted(glob.glob(os.path.join(sys.argv[1], '*', '*.compared')))]
if len(sys.argv) > 2:
    insert(sys.argv[2], [line for line, _ in rows])
print('\n'.join(HEAD + [line for line, _ in rows]))
sys.exit(any(unknown for _, unknown in rows) or not rows)
