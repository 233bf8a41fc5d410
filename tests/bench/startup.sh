#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of starting and ending a process under the library: an empty program
# plain, disabled, with the perf engine and four software events, and perf
# stat's own with the same four; the variants in turn, medians over all rounds.
#	tests/bench/startup.sh [ROUNDS]
set -eu
build=${B:-build}
rounds=${1:-500}
programs=$build/tests/programs
lib=$(realpath "$build/libcachepeek.so")
events=perf::PAGE-FAULTS,perf::CONTEXT-SWITCHES,perf::CPU-MIGRATIONS,perf::TASK-CLOCK
names=('an empty program' 'CACHEPEEK_DISABLE=1' 'perf engine, 4 software events' 'the same, JSON report')
budgets=('' '0.7 ms' '2.0 ms' '')
preload=(LD_PRELOAD="$lib" CACHEPEEK_ENGINE=perf CACHEPEEK_EVENTS=$events)
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
variants=(
	"$programs/empty" ,
	LD_PRELOAD="$lib" CACHEPEEK_DISABLE=1 "$programs/empty" ,
	"${preload[@]}" XDG_CACHE_HOME="$home" "$programs/empty" ,
	"${preload[@]}" XDG_CACHE_HOME="$home" CACHEPEEK_OUTPUT="$home/report.json" "$programs/empty"
)
if command -v perf > /dev/null && perf stat -e page-faults true 2> /dev/null; then
	names+=('perf stat, the same 4 events')
	budgets+=('')
	variants+=(, perf stat -e page-faults,context-switches,cpu-migrations,task-clock "$programs/empty")
fi

mapfile -t medians < <("$programs/spawn_timer" "$rounds" "${variants[@]}")
[ ${#medians[@]} -eq ${#names[@]} ]
printf 'start-up and end, median of %d runs each\n' "$rounds"
printf '%-34s %10s %10s %10s\n' '' 'total us' 'added us' budget
for i in "${!names[@]}"; do
	printf '%-34s %10.0f %10.0f %10s\n' "${names[i]}" "${medians[i]}" \
		"$(awk "BEGIN { print ${medians[i]} - ${medians[0]} }")" "${budgets[i]}"
done
