#!/bin/bash
# SPDX-License-Identifier: MIT
# User seconds on the simulated PMU: counting alone, with a sweep of L1D's ways, with one
# of L2's size, and `cachepeek sharing`, which looks at every reference, not only at those
# that miss.  The best of RUNS, taken in turn, and the ratio to counting alone.
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
RUNS=${RUNS:-2}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export XDG_CACHE_HOME=$WORK PERL_HASH_SEED=0
head -c "${BYTES:-1500000}" /usr/bin/perl > "$WORK/input"
MODES="alone ways size sharing"

# MODE PROGRAM...
count() {
	local mode=$1
	local -a how=("$B/cachepeek-bin" -E sim -e instructions)

	shift
	case $mode in
	ways) how+=(--sweep L1D.ways=1..16) ;;
	size) how+=(--sweep L2.size=256K..8M) ;;
	sharing) how=("$B/cachepeek-bin" sharing) ;;
	esac
	"${how[@]}" -m neoverse-n1 -o "$WORK/report.txt" "$@" > /dev/null 2> "$WORK/errors"
}

seconds() {
	local TIMEFORMAT=%U

	{ time count "$@"; } 2>&1
}

compare() {
	local name=$1 mode
	shift
	for ((run = 0; run < RUNS; run++)); do
		for mode in $MODES; do
			echo "$mode $(seconds "$mode" "$@")"
		done
	done | awk -v n="$name" -v modes="$MODES" '
		!($1 in best) || $2 < best[$1] { best[$1] = $2 }
		END {
			count = split(modes, mode, " ")
			printf("%-10s %8.2f", n, best["alone"])
			for (i = 2; i <= count; i++)
				printf(" %8.2f %5.2f", best[mode[i]], best[mode[i]] / best["alone"])
			print ""
		}'
}

echo "case          alone  L1D ways ratio  L2 size ratio  sharing ratio"
compare gzip /bin/gzip -c "$WORK/input"
compare perl /usr/bin/perl -e 'my %h; for (1..150000) { $h{$_ % 5003} .= $_; } print length(join q(), values %h)'
compare columns "$B/tests/programs/columns" 1000 8
compare threads "$B/tests/programs/sharing" false 500000
