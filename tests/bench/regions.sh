#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of regions, beside their budgets: a marker without the library, a pair
# without counters and with one, functions that are left out, memory, and the
# report of 100,000 regions.
set -eu
build=${B:-build}
lib=$(realpath "$build/libcachepeek.so")
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
${CC:-gcc} -O2 -D_GNU_SOURCE -Iregions -pthread -o "$home/region" tests/bench/region.c
${CC:-gcc} -O2 -D_GNU_SOURCE -o "$home/call" tests/bench/function.c
${CC:-gcc} -O2 -D_GNU_SOURCE -finstrument-functions -o "$home/function" tests/bench/function.c

counted() # EVENTS PROGRAM ARGUMENT...
{
	local events=$1
	shift
	LD_PRELOAD=$lib CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=$events \
		CACHEPEEK_OUTPUT="$home/report.json" CACHEPEEK_DIR="$home/run" "$home/$@" 2> /dev/null
	rm -rf "$home/run"
}
row()
{
	printf '%-44s %10s %10s\n' "$@"
}
milliseconds() # COMMAND...: of the processor, the least of five
{
	local TIMEFORMAT='%U %S'
	for _ in 1 2 3 4 5; do
		{ time "$@" > /dev/null; } 2>&1
	done | awk '{ t = ($1 + $2) * 1000; if (NR == 1 || t < least) least = t } END { print least }'
}
row '' measured budget
row 'begin and end, not preloaded, ns' "$("$home/region" pair)" '2 each'
row 'begin and end, no counters, ns' "$(counted none region pair)" 60
row 'begin and end, one software event, ns' "$(counted perf::PAGE-FAULTS region pair)" ''
row 'the same with CACHEPEEK_SPARSE=1, ns' "$(CACHEPEEK_SPARSE=1 counted perf::PAGE-FAULTS region pair)" ''
row 'a call, ns' "$("$home/call")" ''
row 'with -finstrument-functions, not preloaded' "$("$home/function")" ''
row 'the same, left out by CACHEPEEK_REGIONS' "$(CACHEPEEK_REGIONS='!*' counted perf::PAGE-FAULTS function)" ''
row 'the same, a region without counters' "$(counted none function)" ''
LD_PRELOAD=$lib CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=perf::PAGE-FAULTS CACHEPEEK_OUTPUT="$home/report.json" \
	CACHEPEEK_DIR="$home/many" "$home/region" many 100000 > "$home/bytes"
row 'memory per region and thread, bytes' "$(cat "$home/bytes")" 1024
row 'report of 100,000 regions, text, ms' "$(milliseconds "$build/cachepeek" report "$home/many")" 1000
row 'the same, JSON, ms' "$(milliseconds "$build/cachepeek" report -o "$home/many.json" "$home/many")" 1000
