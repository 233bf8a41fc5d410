#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of a short thread, from its creation to its join: plain, with the
# events that perf stat has threads inherit, and under the library; in turn, the
# least of all rounds.
#	tests/bench/threads.sh [THREADS [ROUNDS]]
set -eu
build=${B:-build}
threads=${1:-20000}
rounds=${2:-5}
churn=$build/tests/programs/churn
lib=$(realpath "$build/libcachepeek.so")
one=perf::PAGE-FAULTS
four=$one,perf::CONTEXT-SWITCHES,perf::CPU-MIGRATIONS,perf::TASK-CLOCK
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

plain() { "$churn" "$threads"; }
stat_1() { perf stat -e page-faults "$churn" "$threads" 2> /dev/null; }
stat_4() { perf stat -e page-faults,context-switches,cpu-migrations,task-clock "$churn" "$threads" 2> /dev/null; }
counted()
{
	env LD_PRELOAD="$lib" CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS="$1" XDG_CACHE_HOME="$home" \
		CACHEPEEK_OUTPUT="$home/report.txt" "$churn" "$threads"
}
lib_1() { counted $one; }
lib_4() { counted $four; }

variants=(plain)
if command -v perf > /dev/null && perf stat -e page-faults true 2> /dev/null; then
	variants+=(stat_1 stat_4)
fi
variants+=(lib_1 lib_4)
declare -A name=([plain]='a thread' [stat_1]='perf stat, 1 software event'
	[stat_4]='perf stat, 4 software events' [lib_1]='perf engine, 1 software event'
	[lib_4]='perf engine, 4 software events')

for ((round = 0; round < rounds; round++)); do
	for variant in "${variants[@]}"; do
		"$variant" | sed -n "s/^us /$variant /p" >> "$home/times"
	done
done
printf '%d short threads, microseconds each, least of %d rounds\n' "$threads" "$rounds"
printf '%-34s %10s %10s %10s\n' '' 'time' 'processor' 'added'
for variant in "${variants[@]}"; do
	awk -v variant="$variant" -v name="${name[$variant]}" '
		$1 == "plain" && (!base || $3 < base) { base = $3 }
		$1 == variant && (!time || $2 < time) { time = $2 }
		$1 == variant && (!used || $3 < used) { used = $3 }
		END { printf "%-34s %10.1f %10.1f %10.1f\n", name, time, used, used - base }' "$home/times"
done
