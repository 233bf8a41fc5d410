#!/bin/bash
# SPDX-License-Identifier: MIT
# User seconds on the simulated PMU: counting alone, with a sweep of L1D's ways, with one
# of L2's size, and `cachepeek sharing`, which looks at every reference, not only at those
# that miss.
# Usage: what-if.sh [CASE...]; the best of RUNS (2), in turn.
set -u
. "$(dirname "$0")/modes.bash"

how() {
	# a sweep wants caches that take nothing away from those in front
	HOW=("${SIM[@]}" -m neoverse-n1 --what-if L2.inclusion=non-inclusive -e instructions)
	case $1 in
	ways) HOW+=(--sweep L1D.ways=1..16) ;;
	size) HOW+=(--sweep L2.size=256K..8M) ;;
	sharing) HOW=("$B/cachepeek" sharing -m neoverse-n1 -o "$WORK/report.txt") ;;
	esac
}

echo "case          alone L1D ways ratio  L2 size ratio  sharing ratio"
for c in ${*:-gzip perl columns threads}; do
	row "$c" 0 alone ways size sharing
done
