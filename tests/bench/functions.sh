#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of a call of a function that is a region by CACHEPEEK_REGIONS=func:, beside a marked
# region and beside what uftrace patches (-P, package uftrace), in instructions of the whole
# call (package valgrind).  Fails over 1.5 times the marked region.
# On Debian 12's libc: 599 a marked region, 896 a function, 814 with uftrace 0.13.
#	tests/bench/functions.sh
set -eu
build=${B:-build}
lib=$(realpath "$build/libcachepeek.so")
pairs=$(realpath "$build/tests/programs/pairs")
[ "$(uname -m)" = x86_64 ] || { echo "skipped: functions are patched on x86-64 only"; exit 0; }
command -v valgrind > /dev/null || { echo "skipped: no valgrind here"; exit 0; }
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
cat > many.c << 'C'
#include <stdlib.h>
volatile long sink;
__attribute__((noinline, noclone)) void many(long n) { sink += n; }
int main(int argc, char **argv)
{
	for (long n = atol(argv[argc - 1]); n > 0; n--)
		many(n);
	return 0;
}
C
cc -O2 -o many many.c

# The program's own process, not uftrace's.
counted()
{
	valgrind --tool=callgrind --callgrind-out-file="$home/callgrind.%p" "$@" > /dev/null 2>&1 || return 0
	sed -n 's/^summary: //p' $(grep -L '^cmd: *uftrace' callgrind.*)
	rm -f callgrind.*
}

# Ours, on the kernel's counters.
ours()
{
	LD_PRELOAD="$lib" CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=perf::PAGE-FAULTS \
		CACHEPEEK_OUTPUT=/dev/null counted "$@"
}

traced()
{
	rm -rf trace
	counted --trace-children=yes uftrace record -P many --no-libcall -d trace ./many "$1"
}

# The instructions of one call: a difference of two runs.
each()
{
	local few many

	few=$("$@" 1000)
	many=$("$@" 11000)
	echo $(((many - few) / 10000))
}

marked=$(each ours "$pairs")
function=$(CACHEPEEK_REGIONS=func:many each ours ./many)
alone=$(each counted ./many)
line() { printf '%-34s %12s %10s %10s\n' "$@"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
line "a call, 1 event" instructions ratio budget
line "a marked region" "$marked" "" ""
line "a function as a region" "$function" "$(ratio "$function" "$marked")" 1.50
line "the same without the library" "$alone" "" ""
if command -v uftrace > /dev/null; then
	line "uftrace -P" "$(each traced)" "" ""
else
	echo "(no uftrace: the package uftrace installs it)"
fi
[ "$function" -gt $((alone + 100)) ] || { echo "the function was no region"; exit 1; }
[ $((2 * function)) -le $((3 * marked)) ]
