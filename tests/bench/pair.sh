#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of a region's begin and end with four software events, beside two bare
# group read(2) calls and PAPI's high-level pair (package libpapi-dev) in the
# same run; and the instructions that a pair with one event executes (package
# valgrind).  Fails if it is more than the budget: 1.10 times the reads, less than
# PAPI, 600 instructions.
#	tests/bench/pair.sh [ROUNDS]
set -eu
build=${B:-build}
lib=$(realpath "$build/libcachepeek.so")
events=perf::PAGE-FAULTS,perf::CONTEXT-SWITCHES,perf::CPU-MIGRATIONS,perf::TASK-CLOCK
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

# Instructions of a run of so many pairs; the pair's own are a difference of two.
instructions()
{
	LD_PRELOAD="$lib" CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=perf::PAGE-FAULTS \
		CACHEPEEK_OUTPUT=/dev/null valgrind --tool=callgrind \
		--callgrind-out-file=/dev/null "$build/tests/programs/pairs" "$1" 2>&1 |
		sed -n 's/.*Collected : //p'
}

count_instructions()
{
	local few many

	command -v valgrind > /dev/null || return 0
	few=$(instructions 1000)
	many=$(instructions 11000)
	awk -v count=$(((many - few) / 10000)) 'BEGIN {
		printf "%-34s %10d %10s %10s\n", "instructions, 1 event", count, "", "600"
		exit count > 600 }'
}

result=$(LD_PRELOAD="$lib" CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=$events \
	CACHEPEEK_OUTPUT="$home/report.json" PAPI_EVENTS=$events PAPI_OUTPUT_DIRECTORY="$home" \
	PAPI_REPORT=0 "$build/tests/programs/pair_cost" "${1:-999}" 50 2> "$home/errors") ||
	{ echo "skipped: the kernel counts no software events here"; exit 0; }

echo "$result" | awk '
	BEGIN { printf "%-34s %10s %10s %10s\n", "a begin/end pair, 4 events", "ns", "ratio", "budget" }
	$1 == "pair" { printf "%-34s %10d\n", "begin and end", $2 }
	$1 == "read" { printf "%-34s %10d %10s %10s\n", "two bare group reads", $2, $3, "1.10"
		over += $3 > 1.10 }
	$1 == "papi" { printf "%-34s %10d %10s %10s\n", "PAPI high-level pair", $2, $3, "1"
		over += $3 >= 1; papi = 1 }
	END { if (!papi) print "(no libpapi: libpapi-dev installs it)"; exit over > 0 }' || over=1
count_instructions || over=1
exit "${over:-0}"
