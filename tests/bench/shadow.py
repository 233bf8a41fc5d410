#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The gates of CACHEPEEK_ENGINE=shadow, printed with what was measured and whether each holds.

1. CPU time of the program itself against the same without the library, in runs that
   alternate: at most 1.05 in the geometric mean, 1.15 at worst.
2. The count of full simulation is in the 95 % interval in 90 of 100 runs, where 1,000
   instructions have at least one miss; half of an interval is at most 25 % wide at 100 windows.
3. In 95 % of the windows that nothing cuts short, the shadow comes by where the program was.
4. Of programs that are killed, or whose shadows are, nothing is left, neither a process nor a file
   in /dev/shm; where the shadow is killed the program ends as it does without.

Usage: shadow.py [-s SECONDS] [-r RUNS] [-n SEEDS] [-k KILLS] [-p SHARE] [-d DIRECTORY] [CASE...]
SECONDS (5): of each program, about.  RUNS (3): pairs for gate 1.  SEEDS (10): runs for gate 2; 0: none, and
no simulation, which takes 10 to 60 times as long as the program.  KILLS (0): for gate 4, half of them of
the program, half of its shadow; the other gates are left out then, unless CASEs are named.  SHARE (1): for gate 2, the program is
stopped for the rest of the time, so that shadows have a core on a machine that has much else to do; 0: it is
stopped while a shadow executes.
"""
import argparse
import json
import math
import ctypes
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.path.realpath(os.environ.get('B', 'build'))
LIBRARY = BUILD + '/libcachepeek.so'
LEVELS = ('l1i_misses', 'l1d_misses', 'l2_misses', 'llc_misses', 'dtlb_misses', 'dtlb_walks')
EVENTS = 'instructions,' + ','.join(LEVELS)
CUT = ('system call', 'has changed since', 'libVEX does not know', 'x87', 'a fault, or memory', 'no later ticks', 'were killed', 'copies of pages')
CPP = r'''
#include <map>
#include <string>
#include <cstdio>
#include <cstdlib>
int main(int, char **argv)
{
	unsigned long n = 0, r = 1;
	for (long i = atol(argv[1]); i > 0; i--) {
		std::map<unsigned, std::string> m;
		for (int k = 0; k < 2000; k++) {
			r = r * 6364136223846793005 + 1442695040888963407;
			m[r >> 40] += std::string(20 + (r >> 58), 'x');
		}
		n += m.begin()->second.size();
	}
	return printf("%lu\n", n) < 0;
}
'''
THREADS = r'''
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static long rounds;
static void *work(void *seed)
{
	unsigned r = (unsigned)(size_t)seed, n = 1 << 18, *a = malloc(n * sizeof(*a));
	for (unsigned i = 0; i < n; i++)
		a[i] = i;
	for (long i = rounds * 1000000; i > 0; i--) {
		r = r * 1664525 + 1013904223;
		a[r >> 14] += r;
	}
	return (void *)(size_t)a[7];
}
int main(int argc, char **argv)
{
	pthread_t thread;
	void *other;
	rounds = argc > 1 ? atol(argv[1]) : 1;
	pthread_create(&thread, NULL, work, (void *)2);
	printf("%p ", work((void *)1));
	pthread_join(thread, &other);
	return printf("%p\n", other) < 0;
}
'''


def prepare(where, seconds):
    """The programs, each about so many seconds on a machine of 2024."""
    def write(name, text):
        with open(os.path.join(where, name), 'w') as file:
            file.write(text)
        return os.path.join(where, name)

    subprocess.check_call(['c++', '-O2', '-o', where + '/allocate', '-x', 'c++', write('allocate.cc', CPP)])
    subprocess.check_call(['cc', '-O2', '-pthread', '-o', where + '/threads', '-x', 'c', write('threads.c', THREADS)])
    subprocess.check_call(['cc', '-O2', '-o', where + '/matmul', 'tests/bench/matmul.c'])
    subprocess.check_call(['make', '-s', BUILD + '/tests/programs/chase'])
    source = b''.join(open(os.path.join('/usr/include', name), 'rb').read() for name in sorted(
        os.listdir('/usr/include')) if name.endswith('.h'))
    for name, size in ('gzip', 20), ('xz', 2.2), ('bzip2', 9):
        want = int(size * seconds * 1000000)
        with open(os.path.join(where, name + '.in'), 'wb') as file:
            file.write((source * (want // len(source) + 1))[:want])
    numbers = write('numbers', ''.join('%d\n' % (i * 7919 % 2500009) for i in range(int(1700000 * seconds))))
    cases = {
        'gzip': ['gzip', '-c', where + '/gzip.in'],
        'xz': ['xz', '-T1', '-2c', where + '/xz.in'],
        'bzip2': ['bzip2', '-c', where + '/bzip2.in'],
        'sqlite3': ['sqlite3', ':memory:', 'create table t(a integer primary key, b text); with recursive c(x) as ('
                    'select 1 union all select x+1 from c where x<%d) insert into t select x, hex(x*2654435761) '
                    'from c; create index i on t(b); select count(*), sum(length(b)) from t where b > 5; '
                    'select count(*) from t x join t y on x.a = y.a + 1 where x.b < y.b;' % (400000 * seconds)],
        'python3': ['python3', '-S', '-c', 'd = {}\nfor i in range(%d): k = i * 7919 %% 100003; d[k] = d.get(k, 0)'
                    ' + len(str(i))\nprint(sum(d.values()))' % (1500000 * seconds)],
        'perl': ['perl', '-e', 'my %%h; for (1..%d) { $h{$_ %% 50003} .= qq(x$_) } print length(join q(), values %%h)'
                 % (2200000 * seconds)],
        'node': ['node', '-e', 'let m = new Map(), n = %d; for (let i = 0; i < n; i++) { let k = (i * 7919) %% 100003;'
                 ' m.set(k, (m.get(k) || 0) + String(i).length) } console.log(m.size)' % (3500000 * seconds)],
        'sort': ['sort', '--parallel=1', '-S', '200M', numbers],
        'allocate': [where + '/allocate', str(int(1200 * seconds))],
        'matmul': [where + '/matmul', str(int(820 * (seconds / 1.0) ** (1 / 3))), 'rows'],
        'chase': [BUILD + '/tests/programs/chase', '100000', str(int(7000000 * seconds))],
        'threads': [where + '/threads', str(int(180 * seconds))],
    }
    return cases


def is_over(child):
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG)


def executes(shadow):
    """And does not wait for the program's next ticks."""
    try:
        return open('/proc/%d/stat' % shadow).read().rsplit(')', 1)[1].split()[0] == 'R'
    except OSError:
        return False


def pause_for_shadows(child):
    while not is_over(child):
        working = [shadow for shadow in children_of(child) if executes(shadow)]
        if working:
            os.kill(child, signal.SIGSTOP)
            while any(executes(shadow) for shadow in working):
                time.sleep(0.01)
            os.kill(child, signal.SIGCONT)
        time.sleep(0.002)


def pause(child, share):
    """Lets the program run for a share of the time, until it is over: its shadows have the rest."""
    if share == 0:
        pause_for_shadows(child)
    while share < 1 and not is_over(child):
        time.sleep(0.02)
        os.kill(child, signal.SIGSTOP)
        time.sleep(0.02 / share - 0.02)
        os.kill(child, signal.SIGCONT)


def run(command, share=1, **environment):
    """CPU seconds of the program alone: a shadow's would be in what wait tells of it."""
    child = os.fork()
    if child == 0:
        null = os.open('/dev/null', os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        os.execvpe(command[0], command, {**os.environ, 'LC_ALL': 'C', 'PYTHONHASHSEED': '0', 'PERL_HASH_SEED': '0',
                                         **environment})
    pause(child, share)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    fields = open('/proc/%d/stat' % child).read().rsplit(')', 1)[1].split()
    status = os.waitpid(child, 0)[1]
    if status:
        sys.exit('%s: status %d' % (' '.join(command)[:60], status))
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def counted(command, engine, file, **more):
    took = run(command, LD_PRELOAD=LIBRARY, CACHEPEEK_ENGINE=engine, CACHEPEEK_OUTPUT=file, **more)
    with open(file) as stream:
        return took, json.load(stream)


def words(report):
    return [w['text'] if isinstance(w, dict) else w for w in report['warnings']]


def windows(report):
    """Those that are counted, and those that nothing cut and that did not match."""
    text = ' '.join(words(report))
    counted = int(re.search(r'(\d+) windows are counted', text).group(1)) if 'windows are counted' in text else 0
    lost = {w.group(2): int(w.group(1)) for w in re.finditer(r'(\d+) windows ((?!are counted)\w[^()]*) \(the last', text)}
    return counted, sum(n for why, n in lost.items() if not any(cut in why for cut in CUT)), lost


def whole_run(report):
    return next(region['counts'] for region in report['regions'] if not region['path'])


def estimates(report):
    return {name: (count['value'], count['error']) for name, count in whole_run(report).items()
            if count['status'] == 'estimated' and count['value'] is not None}


def gate_1(name, command, runs, where):
    alone, with_shadows = [], []
    for _ in range(runs):
        alone.append(run(command))
        with_shadows.append(counted(command, 'shadow', where + '/report.json')[0])
    ratio = sum(with_shadows) / sum(alone)
    print('gate 1  %-9s %7.2f s alone, x %.3f (%s)' % (name, sum(alone) / runs, ratio, ' '.join(
        '%.3f' % (b / a) for a, b in zip(alone, with_shadows))), flush=True)
    return ratio


def truth(command, where):
    report = counted(command, 'sim', where + '/sim.json', CACHEPEEK_EVENTS=EVENTS)[1]
    return {name: count['value'] for name, count in whole_run(report).items() if count['value'] is not None}


def gates_2_and_3(name, command, seeds, share, where):
    """[(level, runs, in the interval, widest of half the interval at 100 windows)], matched, not matched."""
    true = truth(command, where) if seeds else {}
    found, matched, missed, all_lost = [], 0, 0, {}
    for _ in range(seeds):
        report = counted(command, 'shadow', where + '/report.json', share=share, CACHEPEEK_EVENTS=EVENTS)[1]
        good, bad, lost = windows(report)
        matched, missed = matched + good, missed + bad
        for why, n in lost.items():
            all_lost[why] = all_lost.get(why, 0) + n
        found.append((good, estimates(report)))
    rows = []
    for event, count in true.items():
        has = [(n, f[event]) for n, f in found if event in f]
        inside = sum(abs(value - count) <= error for _, (value, error) in has)
        often = event == 'instructions' or 1000 * count >= true['instructions']
        wide = max((error / count * math.sqrt(min(n, 100) / 100) for n, (_, error) in has), default=0) if count else 0
        off = sum(value - count for _, (value, _) in has) / len(has) / count if has and count else 0
        print('gate 2  %-9s %-12s %14d %8.2f/kI  in %d of %d (of %d runs), mean error %+6.1f %%, widest ± %5.1f %%%s' % (
            name, event, count, 1000 * count / true['instructions'], inside, len(has), seeds, 100 * off, 100 * wide,
            '' if often else '  (seldom)'), flush=True)
        if often and event != 'instructions':
            rows.append((event, len(has), inside, wide))
    if seeds:
        print('gate 3  %-9s %d matched, %d not; lost: %s' % (name, matched, missed, all_lost or 'none'), flush=True)
    return rows, matched, missed


def children_of(pid):
    """Those that live; the program's own threads may have some, too."""
    found = []
    try:
        for thread in os.listdir('/proc/%d/task' % pid):
            found += [int(n) for n in open('/proc/%d/task/%s/children' % (pid, thread)).read().split()]
    except OSError:
        pass
    return found


def kill_shadow(program, until):
    """False: the program had none in all that time."""
    while time.time() < until:
        for shadow in children_of(program.pid):
            try:
                if open('/proc/%d/comm' % shadow).read() == 'cachepeek-shado\n':
                    os.kill(shadow, signal.SIGKILL)
                    return True
            except OSError:
                pass
        if program.poll() is not None:
            break
    return False


def reap_orphans(limit):
    """Seconds until there are no children of ours, which orphans become."""
    began = time.time()
    while time.time() < began + limit:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.002)
        except ChildProcessError:
            return time.time() - began
    return None


def gate_4(kills, where):
    """Whether nothing was left, and a text of how it went."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    subprocess.check_call(['make', '-s', BUILD + '/tests/programs/shadow_chase'])
    before, killed, left, differed, longest = set(os.listdir('/dev/shm')), [0, 0], 0, 0, 0
    environment = {**os.environ, 'LD_PRELOAD': LIBRARY, 'CACHEPEEK_ENGINE': 'shadow', 'CACHEPEEK_BUDGET': '20',
                   'CACHEPEEK_OUTPUT': where + '/killed.json', 'CACHEPEEK_DIR': where + '/killed'}
    for i in range(kills):
        program = subprocess.Popen([BUILD + '/tests/programs/shadow_chase', '250'], env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if i % 2:
            time.sleep(random.uniform(0.03, 0.3))
            program.kill()
            killed[0] += 1
        else:
            killed[1] += kill_shadow(program, time.time() + 5)
        out = program.communicate()[0].split()
        differed += not i % 2 and (program.returncode != 3 or out[1:] != [b'0', b'0'])
        took = reap_orphans(10)
        left += took is None
        longest = max(longest, took or 0)
        if i % 100 == 99:
            print('gate 4  %d programs and %d shadows killed' % tuple(killed), flush=True)
    files = set(os.listdir('/dev/shm')) - before
    return not left and not differed and not files, (
        '%d programs and %d shadows killed: %d processes left after 10 s, the longest %.3f s; %d files in /dev/shm; '
        '%d programs ended otherwise than without' % (*killed, left, longest, len(files), differed))


def verdict(number, holds, text):
    print('gate %d: %s: %s' % (number, 'holds' if holds else 'DOES NOT HOLD', text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-s', type=float, default=5)
    parser.add_argument('-r', type=int, default=3)
    parser.add_argument('-n', type=int, default=10)
    parser.add_argument('-k', type=int, default=0)
    parser.add_argument('-p', type=float, default=1)
    parser.add_argument('-d', default=None)
    parser.add_argument('case', nargs='*')
    options = parser.parse_args()
    where = options.d or tempfile.mkdtemp()
    os.chdir(os.path.join(os.path.dirname(os.path.realpath(__file__)), '../..'))
    if options.k:
        verdict(4, *gate_4(options.k, where))
        if not options.case:
            return
    cases = prepare(where, options.s)
    ratios, rows, matched, missed = {}, [], 0, 0
    print('load %s' % open('/proc/loadavg').read().strip())
    for name in options.case or cases:
        if options.r:
            ratios[name] = gate_1(name, cases[name], options.r, where)
        more, good, bad = gates_2_and_3(name, cases[name], options.n, options.p, where)
        rows += [(name,) + row for row in more]
        matched, missed = matched + good, missed + bad
    if ratios:
        mean = math.exp(sum(math.log(r) for r in ratios.values()) / len(ratios))
        worst = max(ratios, key=ratios.get)
        verdict(1, mean <= 1.05 and ratios[worst] <= 1.15, 'geometric mean x %.3f, worst x %.3f (%s)' % (
            mean, ratios[worst], worst))
    if options.n:
        bad = ['%s %s: %d of %d, ± %.1f %%' % (name, event, inside, n, 100 * wide) for name, event, n, inside, wide in rows
               if n == 0 or inside < 0.9 * n or wide > 0.25]
        verdict(2, not bad, '%d of %d rows hold; not: %s' % (len(rows) - len(bad), len(rows), '; '.join(bad) or 'none'))
        verdict(3, matched >= 0.95 * (matched + missed), '%d of %d windows matched' % (matched, matched + missed))


if __name__ == '__main__':
    main()
