#!/bin/bash
# SPDX-License-Identifier: MIT
# What counting software events costs a program of MPI that nobody here wrote: HPC
# Challenge (Debian's hpcc) with and without the library, in turn, on 2 and on 4
# ranks; the median ratio of the pairs.  Budget: 2 %.
#	tests/bench/mpi.sh [PAIRS [N]]     N: the size of its matrix
set -eu
build=${B:-build}
pairs=${1:-5}
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
counted()
{
	timed "$1" env LD_PRELOAD="$lib" CACHEPEEK_ENGINE=perf CACHEPEEK_GROUPS=soft XDG_CACHE_HOME="$work" \
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

printf '%5s %9s %9s %9s   %s\n' ranks plain,s with,s ratio 'all ratios'
for ranks in 2 4; do
	sed -e "6s/^[0-9]*/$size/" -e "11s/^[0-9]*/$((ranks / 2))/" $input > "$work/hpccinf.txt"
	: > "$work/pairs"
	plain "$ranks" > "$work/warm"
	for ((pair = 0; pair < pairs; pair++)); do
		if ((pair % 2)); then
			a=$(plain "$ranks") b=$(counted "$ranks")
		else
			b=$(counted "$ranks") a=$(plain "$ranks")
		fi
		echo "$a $b" | awk '{ print $1, $2, $2 / $1 }' >> "$work/pairs"
	done
	printf '%5s %9s %9s %9s   %s\n' "$ranks" "$(cut -d' ' -f1 "$work/pairs" | median)" \
		"$(cut -d' ' -f2 "$work/pairs" | median)" "$(cut -d' ' -f3 "$work/pairs" | median)" \
		"$(cut -d' ' -f3 "$work/pairs" | sort -n | tr '\n' ' ')"
	python3 - "$work/report.json" "$ranks" << 'END'
import json, sys
report = json.load(open(sys.argv[1]))
ranks = int(sys.argv[2])
assert report["ranks"]["recorded"] == ranks and not report["ranks"]["missing"], report["ranks"]
faults = [r for r in report["regions"] if not r["path"]][0]["counts"]["page_faults"]
print("      its report: %d page faults, least %d in rank %d, most %d in rank %d" % (faults["value"],
	faults["min"], faults["min_at"]["rank"], faults["max"], faults["max_at"]["rank"]))
END
done
