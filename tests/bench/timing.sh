#!/bin/bash
# SPDX-License-Identifier: MIT
# User seconds on the simulated PMU, counting alone and with the timing model; the
# budget is 1.3 times.  MACHINE: a plain one by default; another one goes through the
# front.
# Usage: timing.sh [CASE...]; the best of RUNS (2), in turn.
set -u
. "$(dirname "$0")/modes.bash"

cat >"$WORK/plain.machine" <<END
l1i = 32K 8 64
l1d = 32K 8 64
l2 = 1M 16 64 latency=14
llc = 32M 16 64 latency=50
stlb = 1536 12 latency=7
memory-latency = 250
walk-latency = 30
fill-buffers = 12
write-buffers = 12
END
MACHINE=${MACHINE:-$WORK/plain.machine}

how() {
	HOW=(env "CACHEPEEK_TIMING=$1" "${SIM[@]}" -m "$MACHINE" -e instructions)
}

echo "case          alone   timing ratio (budget 1.3)"
for c in ${*:-gzip perl sqlite3 chase columns}; do
	row "$c" 1.3 off on
done
