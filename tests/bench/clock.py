#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predicted time beside the clock: kernels, programs, and pairs of before and after.

usage: clock.py [NAME...]: of kernels and programs those alone

B=build: where the library is.  MACHINE: what is simulated; else this host is calibrated
first.  RUNS=5: native runs, of which the fastest counts; twice as many of programs, nine times as many of kernels.  What takes longer than a model can
know (other processes, a hypervisor) only ever adds to the native time, so minima are taken.
Predicted time is modelled of all instructions, not of a sample.
"""
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get('B', os.path.join(TOP, 'build')))
RUNS = int(os.environ.get('RUNS', '5'))
COMMAND = os.path.join(BUILD, 'cachepeek')
CC = os.environ.get('CC', 'gcc').split()[-1:]
ROUNDS = 9
TRIES = 5

# When kernels were written down for good, and since when the model is changed by what it missed of them (None: it never
# was; they are held out).  A kernel whose time was looked at while the model is changed moves to a row with a date.
FROZEN = [
    ('2026-11-25', '2026-11-26', '''
        gemm-columns gemm-rows mvt-columns mvt-rows transpose-naive transpose-blocked jacobi-columns jacobi-rows seidel lu
        floyd-warshall triad triad-near copy passes fused by-pages by-lines aos soa pointers gups gups-near spmv-wild spmv-near
        pagerank-wild pagerank-near bfs-wild bfs-near list-wild list-in-order search-wild search-sorted hash-join
        hash-join-parted binary-tree b-tree sort-compared sort-radix histogram-wild histogram-sorted fft tokens crc subsequence
        bodies'''),
    ('2026-11-26', '2026-11-27', '''
        cholesky heat-in-order heat-across life clusters knapsack sort-merge sort-heap unite-wild unite-near skip-list
        least-recently-used sieve interpreter repeats gemver words trie shortest-paths huffman'''),
    ('2026-11-27', '2026-11-27', '''
        covariance cube nussinov filter-columns blur viterbi long-numbers mandelbrot queens select-middle sort-strings bloom
        cuckoo nearest-points events walkers decode-letters encode-bytes unpack read-lists'''),
    ('2026-11-27', '2026-11-27', '''
        particles-wild particles-sorted ask-in-turn ask-by-blocks pick-wild pick-sorted lists-one-by-one lists-abreast dot-one
        dot-four durbin symmetric alternate both-sides median spheres components triangles betweenness by-entries align
        suffixes many-words sum-by-name digest puzzle rooms treap routes'''),
    # PolyBench, the kernels of the NAS Parallel Benchmarks, Rodinia and Olden in turn: of each the next one by name that was
    # not here yet (but 3mm, which is more of 2mm)
    ('2026-11-27', None, '''
        2mm cg-wild cg-near backprop-columns backprop-rows bh atax-columns atax-rows ep cfd bisort correlation-columns
        correlation-rows ft-strided ft-copied dwt2d-columns dwt2d-strips em3d deriche is gaussian health fdtd-2d mg'''),
    # Rodinia, Olden and the GAP benchmarks in turn, likewise (hotspot3D is the heat in a cube; bc, cc_sv and tc of GAP were here,
    # and of bfs, pr and sssp other ways than its own); then PolyBench, the NAS Parallel Benchmarks, and the HPC Challenge with
    # Parboil (b_eff is about networks)
    ('2026-11-27', None, '''
        heartwall mst-chains mst-slots bfs-down bfs-both-ways hotspot-asking hotspot-framed perimeter cc-names cc-afforest
        hybridsort-at-once hybridsort-buckets power pr-by-chance pr-by-degree lavamd treeadd-wild treeadd-near sssp-rounds
        sssp-buckets
        gesummv bt cutcp-tested cutcp-known gramschmidt-columns gramschmidt-rows dc-tuples dc-views hpl-one hpl-blocks
        jacobi-1d-steps jacobi-1d-blocks lu-sweeps lbm-ways lbm-cells ludcmp sp-lines sp-abreast mri-gridding-wild
        mri-gridding-sorted'''),
    # SPLASH, MachSuite, the Livermore loops, SciMark with BYTEmark, and PARSEC in turn: of each the next one by name that was
    # not here in any form (barnes is bh; blackscholes is mostly the mathematical library).  A second way is one of another
    # order, layout or blocking that takes at most 1 / 1.3 of the native time
    ('2026-11-27', None, '''
        fmm aes-bytes aes-words adi-columns adi-rows assignment-columns assignment-rows bodytrack
        ocean-columns ocean-rows kmp banded-strided banded-packed bitfield-bits bitfield-words canneal-parts canneal-places
        radiosity md-by-chance md-by-cell'''),
    # MiBench, Embench, CHStone, SHOC with the rest of Rodinia, the Computer Language Benchmarks Game, and Mantevo with ECP's
    # small programs in turn: of each the next one by name whose core was not here yet (basicmath and cubic are libm,
    # ghostscript is a whole program, MaxFlops is of devices, CoMD is md, HPCCG is cg, Laghos needs a library); pairs as above
    ('2026-11-27', None, '''
        adpcm aha-mont64-bits aha-mont64-montgomery blowfish leukocyte binary-trees-heap binary-trees-pool cloverleaf-columns
        cloverleaf-rows bitcount-shifts bitcount-bytes edn dfadd md5hash-one md5hash-two fannkuch lulesh-wild lulesh-near
        gsm minver'''),
]

# The same work done badly and well.
PAIRS = [('gemm-columns', 'gemm-rows'), ('mvt-columns', 'mvt-rows'), ('transpose-naive', 'transpose-blocked'),
         ('jacobi-columns', 'jacobi-rows'), ('passes', 'fused'), ('by-pages', 'by-lines'), ('aos', 'soa'), ('pointers', 'aos'),
         ('gups', 'gups-near'), ('spmv-wild', 'spmv-near'), ('pagerank-wild', 'pagerank-near'), ('bfs-wild', 'bfs-near'),
         ('list-wild', 'list-in-order'), ('search-wild', 'search-sorted'), ('binary-tree', 'b-tree'),
         ('sort-compared', 'sort-radix'), ('histogram-wild', 'histogram-sorted'), ('heat-across', 'heat-in-order'),
         ('sort-heap', 'sort-merge'), ('unite-wild', 'unite-near'), ('particles-wild', 'particles-sorted'),
         ('ask-in-turn', 'ask-by-blocks'), ('pick-wild', 'pick-sorted'), ('lists-one-by-one', 'lists-abreast'),
         ('dot-one', 'dot-four'), ('cg-wild', 'cg-near'), ('backprop-columns', 'backprop-rows'), ('atax-columns', 'atax-rows'),
         ('correlation-columns', 'correlation-rows'), ('ft-strided', 'ft-copied'), ('dwt2d-columns', 'dwt2d-strips'),
         ('mst-chains', 'mst-slots'), ('bfs-down', 'bfs-both-ways'), ('hotspot-asking', 'hotspot-framed'),
         ('cc-names', 'cc-afforest'), ('hybridsort-at-once', 'hybridsort-buckets'), ('pr-by-chance', 'pr-by-degree'),
         ('treeadd-wild', 'treeadd-near'), ('sssp-rounds', 'sssp-buckets'),
         ('cutcp-tested', 'cutcp-known'), ('gramschmidt-columns', 'gramschmidt-rows'), ('dc-tuples', 'dc-views'),
         ('hpl-one', 'hpl-blocks'), ('jacobi-1d-steps', 'jacobi-1d-blocks'), ('lbm-ways', 'lbm-cells'),
         ('sp-lines', 'sp-abreast'), ('mri-gridding-wild', 'mri-gridding-sorted'),
         ('aes-bytes', 'aes-words'), ('adi-columns', 'adi-rows'), ('assignment-columns', 'assignment-rows'),
         ('ocean-columns', 'ocean-rows'), ('banded-strided', 'banded-packed'), ('bitfield-bits', 'bitfield-words'),
         ('canneal-parts', 'canneal-places'), ('md-by-chance', 'md-by-cell'),
         ('aha-mont64-bits', 'aha-mont64-montgomery'), ('binary-trees-heap', 'binary-trees-pool'),
         ('cloverleaf-columns', 'cloverleaf-rows'), ('bitcount-shifts', 'bitcount-bytes'), ('md5hash-one', 'md5hash-two'),
         ('lulesh-wild', 'lulesh-near')]
LEAST_PAIR = 1.3

C_SOURCE = ''.join(f'''
static int f{i}(const char *s, int n) {{ int k = {i}; for (int i = 0; i < n && s[i]; i++) {{
    switch (s[i] % {i % 7 + 3}) {{ case 0: k += s[i] * {i + 1}; break; case 1: k ^= i << {i % 5}; break; default: k -= k / 3 + n; }} }}
  return k; }}
''' for i in range(120)) + 'int all(const char *s, int n) { return ' + ' + '.join(f'f{i}(s, n)' for i in range(120)) + '; }\n'

# A server's loop: requests are parsed, looked up and counted.
CXX_SOURCE = r'''
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>
int main()
{
    std::unordered_map<std::string, std::vector<int>> sessions;
    unsigned state = 1;
    size_t sum = 0;
    for (int i = 0; i < 150000; i++) {
        state = state * 1664525 + 1013904223;
        std::string request = "GET /item/" + std::to_string(state >> 17) + "?user=" + std::to_string(i % 977);
        auto &seen = sessions[request.substr(5, request.find('?') - 5)];
        seen.push_back(i);
        sum += seen.size();
        if (seen.size() > 16)
            seen.clear();
    }
    std::printf("%zu\n", sum);
}
'''
SQL = ('create table t(k integer primary key, v text); with recursive c(x) as (select 1 union all select x+1 from c where '
       'x<40000) insert into t select x, hex(x*7919%10007) from c; select count(distinct v), max(v) from t; '
       'select sum(a.k) from t a join t b on a.v = b.v where a.k < 400;')
PYTHON = ('d={}\nfor i in range(150000):\n k=str(i*7919%5003)\n d[k]=d.get(k,0)+len(k)\n'
          'print(sum(sorted(d.values())))')
PERL = 'my %h; for (1..200000) { my $k = $_ * 7919 % 5003; $h{"k$k"} .= chr(65 + $_ % 26) } print length(join("", sort values %h)), "\\n"'
LUA = 'local t={} for i=1,400000 do local k="k"..(i*7919%5003) t[k]=(t[k] or 0)+i end local s=0 for _,v in pairs(t) do s=s+v end print(s)'


class Clock:
    def __init__(self, place):
        self.place = place
        self.machine = os.environ.get('MACHINE') or self.calibrated()

    def path(self, name):
        return os.path.join(self.place, name)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)
        return self.path(name)

    # On a busy host a figure that the model needs may not be stable, and is left out.
    def calibrated(self):
        file = self.path('host.machine')
        for _ in range(TRIES):
            subprocess.run([COMMAND, 'doctor', '--calibrate', '-o', file], check=True, stdout=subprocess.DEVNULL)
            self.machine = file
            try:
                self.predicted(['true'])
                return file
            except RuntimeError as error:
                why = error
        sys.exit(f'clock.py: this host could not be calibrated in {TRIES} tries: {why}')

    # Seconds and instructions of the region, or of the whole run.
    def predicted(self, command, region=None):
        report = self.path('report.json')
        run = subprocess.run([COMMAND, '-E', 'sim', '-m', self.machine, '-e', 'instructions', '-g', 'time', '-o', report, *command],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                             env=dict(os.environ, CACHEPEEK_TIMING='on'))
        if run.returncode:
            raise RuntimeError(f'{command[0]}: status {run.returncode}: {run.stderr.decode(errors="replace")[-300:]}')
        with open(report, encoding='utf-8') as file:
            regions = json.load(file)['regions']
        one = next(r for r in regions if r['path'] == ([region] if region else []))
        seconds = one['metrics']['predicted_time']
        if seconds['value'] is None:
            raise RuntimeError(seconds['reason'])
        calls = one['calls'] if region else 1
        return seconds['value'] / calls, one['counts']['instructions']['value'] / calls


def build_preloaded(place):
    subprocess.run([*CC, '-std=gnu11', '-O2', '-shared', '-fPIC', '-o', os.path.join(place, 'user_time.so'),
                    os.path.join(TOP, 'tests/bench/user_time.c')], check=True)


def build_kernels(place):
    program = os.path.join(place, 'kernels')
    sources = os.path.join(TOP, 'tests/bench/clock')
    subprocess.run([*CC, '-std=gnu11', '-O2', '-I', os.path.join(TOP, 'regions'), '-o', program,
                    *sorted(os.path.join(sources, name) for name in os.listdir(sources) if name.endswith('.c')), '-lm'], check=True)
    return program


# The round that is predicted: the first one behind the one that warms up.  Later ones are what a core has learnt by then.
def native_kernel(program, name):
    return min(float(subprocess.run([program, name, '1'], check=True, capture_output=True).stdout) for _ in range(ROUNDS * RUNS))


# User seconds from the library's constructor on, as they are predicted: the sum is precise, its parts are by ticks, whose
# share is taken of all runs.
def native_program(clock, command):
    log = clock.path('user-time')
    if os.path.exists(log):
        os.remove(log)
    for _ in range(2 * RUNS):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=dict(os.environ, LD_PRELOAD=clock.path('user_time.so'), USER_TIME=log))
    with open(log, encoding='ascii') as file:
        rows = [[float(word) for word in line.split()] for line in file]
    if len(rows) != 2 * RUNS:
        raise RuntimeError(f'{command[0]}: it ended before the native time was noted')
    user, system = sum(row[1] for row in rows), sum(row[2] for row in rows)
    return min(row[0] for row in rows) * user / (user + system)


# Name and command, or why there is none.
def programs(clock):
    def tool(name, *words):
        found = shutil.which(name)
        return [found, *words] if found else None

    with open('/usr/bin/perl', 'rb') as file, open(clock.path('input'), 'wb') as to:
        to.write(file.read(2000000))
    lua = next((name for name in ('lua', 'lua5.4', 'lua5.3', 'luajit') if shutil.which(name)), 'lua')
    yield 'gzip', tool('gzip', '-c', clock.path('input'))
    yield 'xz', tool('xz', '-1', '-c', clock.path('input'))
    yield 'zstd', tool('zstd', '-9', '-c', '--single-thread', clock.path('input'))
    yield 'sqlite3', tool('sqlite3', ':memory:', SQL)
    yield 'python3', ['/usr/bin/python3', '-I', '-c', PYTHON] if os.path.exists('/usr/bin/python3') else None
    yield 'perl', ['/usr/bin/perl', '-e', PERL]
    yield 'lua', tool(lua, '-e', LUA)
    cc1 = shutil.which('gcc') and subprocess.run(['gcc', '-print-prog-name=cc1'], capture_output=True, text=True, check=False).stdout.strip()
    yield 'cc1', [cc1, '-quiet', '-O2', clock.write('all.c', C_SOURCE), '-o', '/dev/null'] if cc1 and os.path.isabs(cc1) else None
    yield 'ffmpeg', tool('ffmpeg', '-v', 'error', '-threads', '1', '-f', 'lavfi', '-i', 'testsrc=size=320x240:rate=10:duration=2',
                         '-threads', '1', '-c:v', 'mpeg4', '-f', 'null', '-')
    if shutil.which('g++'):
        subprocess.run(['g++', '-O2', '-o', clock.path('server'), clock.write('server.cc', CXX_SOURCE)], check=True)
    yield 'c++', [clock.path('server')] if shutil.which('g++') else None


def factor(native, predicted):
    return max(native / predicted, predicted / native)


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    return [order.index(i) for i in range(len(values))]


def spearman(one, other):
    a, b, n = ranks(one), ranks(other), len(one)
    return 1 - 6 * sum((x - y) ** 2 for x, y in zip(a, b)) / (n * (n * n - 1)) if n > 2 else math.nan


def print_row(name, native, predicted, instructions):
    print(f'  {name:<20} {native * 1e3:>10.3f} {predicted * 1e3:>10.3f} {predicted / native:>8.2f} {instructions / 1e6:>10.2f}', flush=True)


def print_sum(rows):
    factors = [factor(native, predicted) for native, predicted, _ in rows.values()]
    each = [[row[i] / row[2] for row in rows.values()] for i in (0, 1)]
    print(f'  {len(rows)}: factor {statistics.median(factors):.2f} in the median, {max(factors):.2f} at worst; '
          f'Spearman of time per instruction {spearman(*each):.3f}')


def table(title, names, measure):
    rows = {}
    if not names:
        return rows
    print(f'\n{title:<22} {"native ms":>10} {"predicted":>10} {"ratio":>8} {"M instr":>10}')
    for name in names:
        try:
            rows[name] = measure(name)
            print_row(name, *rows[name])
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            print(f'  {name:<20} skipped: {error}')
    if rows:
        print_sum(rows)
    return rows


def print_pairs(rows):
    kept = right = near = 0
    print(f'\n{"before, after":<36} {"measured":>9} {"predicted":>9} {"off by":>7}')
    for before, after in PAIRS:
        if before not in rows or after not in rows:
            continue
        measured, predicted = (rows[before][i] / rows[after][i] for i in (0, 1))
        if measured < LEAST_PAIR:
            print(f'  {before + ", " + after:<34} {measured:>9.2f} {predicted:>9.2f}    less than {LEAST_PAIR}: left out')
            continue
        kept += 1
        right += predicted > 1
        near += factor(measured, predicted) <= 1.4
        print(f'  {before + ", " + after:<34} {measured:>9.2f} {predicted:>9.2f} {factor(measured, predicted):>7.2f}')
    print(f'  {kept}: direction right in {right}, within a factor of 1.4 in {near}')


# Title and names of each row of FROZEN.
def sets(names):
    rows = [(f'held out {frozen}' if not seen else f'seen since {seen}', kernels.split()) for frozen, seen, kernels in FROZEN]
    listed = [name for _, kernels in rows for name in kernels]
    if sorted(listed) != sorted(names):
        sys.exit(f'clock.py: FROZEN and the kernels differ: {" ".join(sorted(set(listed) ^ set(names)))}')
    return rows


def main():
    with tempfile.TemporaryDirectory() as place:
        clock = Clock(place)
        kernels = build_kernels(place)
        build_preloaded(place)
        names = subprocess.run([kernels], check=True, capture_output=True, text=True).stdout.split()
        commands = dict(programs(clock))
        wanted = sys.argv[1:]

        def kernel(name):
            seconds, instructions = clock.predicted([kernels, name, '1'], 'round')
            return native_kernel(kernels, name), seconds, instructions

        def program(name):
            if not commands[name]:
                raise RuntimeError('it is not installed')
            seconds, instructions = clock.predicted(commands[name])
            return native_program(clock, commands[name]), seconds, instructions

        rows = {}
        for title, kept in sets(names):
            rows.update(table(title, [n for n in kept if not wanted or n in wanted], kernel))
        print_pairs(rows)
        table('programs', [n for n in commands if not wanted or n in wanted], program)


main()
