#!/bin/bash
# SPDX-License-Identifier: MIT
# User seconds on the simulated PMU, counting alone and with a profile; the budget is 1.5
# times.
# Usage: profile.sh [CASE...]; the best of RUNS (2), in turn.
set -u
. "$(dirname "$0")/modes.bash"

how() {
	HOW=("${SIM[@]}")
	[ "$1" = alone ] || HOW=(env "CACHEPEEK_PROFILE=$1" "${SIM[@]}")
}

echo "case          alone  profile ratio (budget 1.5)"
for c in ${*:-gzip perl sqlite3 chase columns}; do
	row "$c" 1.5 alone dcache
done
