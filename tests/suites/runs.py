#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""runs.py DIRECTORY ENGINE: the runs of a suite in DIRECTORY, alone.N.results and
ENGINE.N.results, with lines of OUTCOME TEST: which tests end otherwise with the library?
A test differs if no run alone ended as any with the library did; it is unsteady if only
some runs ended as none alone, or if it does not always end the same alone."""
import collections
import glob
import os
import sys


def one_run(path):
    found = collections.defaultdict(list)
    with open(path, errors='replace') as lines:
        for line in lines:
            outcome, _, test = line.rstrip('\n').partition(' ')
            found[test].append(outcome)
    return {test: '+'.join(sorted(outcomes)) for test, outcomes in found.items()}


def all_runs(label):
    return [one_run(path) for path in sorted(glob.glob(os.path.join(sys.argv[1], label + '.[0-9]*.results')))]


def outcomes(runs, test):
    return [run.get(test, 'not run') for run in runs]


alone, beside = all_runs('alone'), all_runs(sys.argv[2])
tests = sorted(set().union(*alone, *beside))
differ, unsteady = [], []
for test in tests:
    without, within = outcomes(alone, test), outcomes(beside, test)
    new = [outcome for outcome in within if outcome not in without]
    line = '%s: %s, with the library %s' % (test, ' '.join(without), ' '.join(within))
    if len(new) == len(within):
        differ.append(line)
    elif new or len(set(without)) > 1:
        unsteady.append(line)
print('%s: %d tests, %d same, %d unsteady, %d differ' %
      (sys.argv[2], len(tests), len(tests) - len(differ) - len(unsteady), len(unsteady), len(differ)))
for kind, lines in (('unsteady', unsteady), ('differs', differ)):
    for line in lines:
        print('  %s %s' % (kind, line))
sys.exit(bool(differ) or not alone[0])
