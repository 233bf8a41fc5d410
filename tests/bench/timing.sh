#!/bin/bash
# SPDX-License-Identifier: MIT
# User seconds on the simulated PMU, counting alone and with the timing model; the
# budget is 1.3 times, in the geometric mean.  MACHINE: a plain one by default; another one
# goes through the front.  TIMING=ooo: the plain one executes out of order, whose time is
# modelled in samples, or TIME=on, in full.
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
if [ "${TIMING:-}" = ooo ]; then
	sed -i -e 's/^l1d.*/& latency=4/' -e '/buffers/d' "$WORK/plain.machine"
	cat >>"$WORK/plain.machine" <<END
timing = ooo
width = 4
window = 256
mispredict-latency = 15
load-ports = 2
store-ports = 1
walkers = 4
fill-buffers = 16
l2-fill-buffers = 32
write-buffers = 48
l2-cycles-per-line = 2
llc-cycles-per-line = 5
memory-cycles-per-line = 12
prefetch-distance = 8
END
fi
MACHINE=${MACHINE:-$WORK/plain.machine}

how() {
	HOW=(env "CACHEPEEK_TIMING=$1" "${SIM[@]}" -m "$MACHINE" -e instructions)
}

echo "case          alone   timing ratio (budget 1.3)"
for c in ${*:-gzip xz sqlite3 python3 perl sort matmul chase}; do
	row "$c" 1.3 off "${TIME:-sample}" || exit 1
done | awk '{ print; fflush(); sum += log($4); n++ } END {
	printf("%-10s %23.2f\n", "geometric mean", exp(sum / n)) }'
