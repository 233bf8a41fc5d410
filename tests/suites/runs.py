#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""runs.py DIRECTORY ENGINE: the runs of a suite in DIRECTORY, alone.N.results and
ENGINE.N.results, with lines of OUTCOME TEST: which tests end otherwise with the library?
A test differs if no run alone ended as any with the library did; it is unsteady if only
some runs ended as none alone, or if it does not always end the same alone.  A run that
was stopped at its time limit says nothing of the tests that it did not come to."""
import collections
import glob
import os
import re
import sys


def one_run(path):
    found = collections.defaultdict(list)
    with open(path, errors='replace') as lines:
        for line in lines:
            outcome, _, test = line.rstrip('\n').partition(' ')
            found[test].append(outcome)
    return {test: '+'.join(sorted(outcomes)) for test, outcomes in found.items()}


# 124 and 137 are timeout's.
def stopped(path):
    with open(path.replace('.results', '.log'), errors='replace') as log:
        return bool(re.search(r'^exit status (124|137)$', log.read(), re.M))


def all_runs(label):
    paths = sorted(glob.glob(os.path.join(sys.argv[1], label + '.[0-9]*.results')))
    return [(one_run(path), stopped(path)) for path in paths]


def outcomes(runs, test):
    return [run.get(test, 'not run') for run, ended_early in runs if test in run or not ended_early]


alone, beside = all_runs('alone'), all_runs(sys.argv[2])
tests = sorted(set().union(*(run for run, _ in alone + beside)))
differ, unsteady, missing = [], [], []
for test in tests:
    without, within = outcomes(alone, test), outcomes(beside, test)
    new = [outcome for outcome in within if outcome not in without]
    line = '%s: %s, with the library %s' % (test, ' '.join(without), ' '.join(within))
    if not without or not within:
        missing.append(test)
    elif len(new) == len(within):
        differ.append(line)
    elif new or len(set(without)) > 1:
        unsteady.append(line)
compared = len(tests) - len(missing)
print('%s: %d tests, %d same, %d unsteady, %d differ%s' %
      (sys.argv[2], compared, compared - len(differ) - len(unsteady), len(unsteady), len(differ),
       ', %d not compared: stopped at the time limit' % len(missing) if missing else ''))
for kind, lines in (('unsteady', unsteady), ('differs', differ)):
    for line in lines:
        print('  %s %s' % (kind, line))
sys.exit(bool(differ) or not compared)
