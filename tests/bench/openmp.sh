#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of an empty parallel region of OpenMP with the library, beside the same
# without it: the least of nine medians each, taken in turn.  Threads wait
# actively, so the machine should have nothing else to do.
set -eu
lib=$(realpath "${B:-build}/libcachepeek.so")
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

counted() # EVENTS COMMAND...
{
	local events=$1
	shift
	LD_PRELOAD=$lib CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=$events \
		CACHEPEEK_OUTPUT="$home/report.json" CACHEPEEK_DIR="$home/run" "$@" 2> /dev/null
	rm -rf "$home/run"
}
row()
{
	printf '%-36s %8s %8s %8s %8s %8s\n' "$@"
}
least()
{
	sort -n "$1" | head -n 1
}
row 'ns per parallel region' alone 'no count' more budget '1 event'
for compiler in gcc clang; do
	$compiler -O2 -D_GNU_SOURCE -fopenmp -o "$home/openmp" tests/bench/openmp.c 2> /dev/null || continue
	for threads in 1 2; do
		rm -f "$home"/times.*
		for _ in 1 2 3 4 5 6 7 8 9; do
			"$home/openmp" $threads >> "$home/times.alone"
			counted none "$home/openmp" $threads >> "$home/times.none"
			counted perf::PAGE-FAULTS "$home/openmp" $threads >> "$home/times.event"
		done
		alone=$(least "$home/times.alone")
		none=$(least "$home/times.none")
		row "$compiler, $threads threads" "$alone" "$none" $((none - alone)) 500 "$(least "$home/times.event")"
	done
done
