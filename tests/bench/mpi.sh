#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of counting software events to a program of MPI that nobody here wrote: HPC
# Challenge (Debian's hpcc) plain, under perf stat with the same events, and with the
# library, in turn, on 2 and on 4 ranks; the median ratios to the plain run of the
# round.  Budget: 2 %.  With more ranks than processors, a rank that waits gives its
# processor away at once, and the kernel changes the events with each such switch:
# perf stat shows what of that is its own.
#	tests/bench/mpi.sh [ROUNDS [N]]     N: the size of its matrix
set -eu
build=${B:-build}
rounds=${1:-5}
size=${2:-200}
lib=$(realpath "$build/libcachepeek.so")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
input=/usr/share/doc/hpcc/examples/_hpccinf.txt

if ! command -v hpcc > /dev/null || ! command -v mpirun.openmpi > /dev/null || [ ! -f $input ]; then
	echo 'skipped: no hpcc, or no Open MPI (tools/deps.sh bench)'
	exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader
# All ranks get a turn, also where there are less processors.
export OMPI_MCA_mpi_yield_when_idle=1

# A run on so many ranks: prints its seconds.
plain() { timed "$1" hpcc; }
stat() { timed "$1" perf stat -o "$work/stat" -e page-faults,context-switches hpcc; }
counted()
{
	timed "$1" env LD_PRELOAD="$lib" CACHEPEEK_ENGINE=perf XDG_CACHE_HOME="$work" \
		CACHEPEEK_EVENTS=perf::PAGE-FAULTS,perf::CONTEXT-SWITCHES \
		CACHEPEEK_OUTPUT="$work/report.txt,$work/report.json" hpcc
}
timed()
{
	local ranks=$1 begin=$EPOCHREALTIME
	shift
	rm -f "$work/hpccoutf.txt"
	(cd "$work" && mpirun.openmpi --oversubscribe -n "$ranks" "$@" > "$work/log" 2>&1)
	grep -q '^Success=1' "$work/hpccoutf.txt" || { cat "$work/log" >&2; exit 1; }
	echo "$begin $EPOCHREALTIME" | awk '{ print $2 - $1 }'
}

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

variants=(plain counted)
if command -v perf > /dev/null && perf stat -e page-faults true 2> /dev/null; then
	variants+=(stat)
fi
declare -A name=([counted]='the library' [stat]='perf stat')
printf '%5s %9s  %-12s %7s   %s\n' ranks plain,s with ratio 'all ratios'
for ranks in 2 4; do
	sed -e "6s/^[0-9]*/$size/" -e "11s/^[0-9]*/$((ranks / 2))/" $input > "$work/hpccinf.txt"
	rm -f "$work"/*.times
	plain "$ranks" > "$work/warm"
	for ((round = 0; round < rounds; round++)); do
		for variant in "${variants[@]}"; do
			"$variant" "$ranks" >> "$work/$variant.times"
		done
		variants=("${variants[@]:1}" "${variants[0]}") # nobody is always the first
	done
	for variant in counted stat; do
		[ -f "$work/$variant.times" ] || continue
		paste -d' ' "$work/plain.times" "$work/$variant.times" | awk '{ print $2 / $1 }' > "$work/ratios"
		printf '%5s %9.2f  %-12s %7.3f   %s\n' "$ranks" "$(median < "$work/plain.times")" \
			"${name[$variant]}" "$(median < "$work/ratios")" "$(sort -n "$work/ratios" | tr '\n' ' ')"
	done
	python3 - "$work/report.json" "$ranks" << 'END'
import json, sys
report = json.load(open(sys.argv[1]))
ranks = int(sys.argv[2])
assert report["ranks"]["recorded"] == ranks and not report["ranks"]["missing"], report["ranks"]
faults = [r for r in report["regions"] if not r["path"]][0]["counts"]["perf::PAGE-FAULTS"]
print("      its report: %d page faults, least %d in rank %d, most %d in rank %d" % (faults["value"],
	faults["min"], faults["min_at"]["rank"], faults["max"], faults["max_at"]["rank"]))
END
done
