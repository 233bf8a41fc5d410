#!/bin/bash
# SPDX-License-Identifier: MIT
# User seconds on the simulated PMU, counting alone and by call path; the budget is 1.25
# times in the geometric mean.  Programs that call small functions all the time, as sqlite3
# does, are above.
# Usage: call-paths.sh [CASE...]; the best of RUNS (2), in turn.
set -u
. "$(dirname "$0")/modes.bash"

how() {
	HOW=("${SIM[@]}")
	[ "$1" = alone ] || HOW=(env CACHEPEEK_CALL_PATHS=1 "${SIM[@]}")
}

echo "case          alone    paths ratio (budget 1.25 in the mean)"
for c in ${*:-gzip perl sqlite3 chase columns}; do
	row "$c" 0 alone paths
done
