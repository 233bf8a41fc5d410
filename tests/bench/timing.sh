#!/bin/bash
# SPDX-License-Identifier: MIT
# User seconds on the simulated PMU, counting alone (the group cache) and with the timing
# model (cache,time, as it counts if nobody says what); the budget is 1.25 times, in the
# geometric mean.  MACHINE: zen4 by default.  MACHINE=plain: one without a front, in order, or,
# with TIMING=ooo, out of order.  Time is modelled in samples, or with TIME=on in full.
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
MACHINE=${MACHINE:-zen4}
[ "$MACHINE" != plain ] || MACHINE=$WORK/plain.machine

how() {
	HOW=(env "CACHEPEEK_TIMING=$1" "${SIM[@]}" -m "$MACHINE" -g cache)
	[ "$1" = off ] || HOW[-1]=cache,time
}

echo "case          alone   timing ratio (budget 1.25)"
for c in ${*:-bzip2 xz shuffle python3}; do
	row "$c" 1.25 off "${TIME:-sample}" || exit 1
done | awk '{ print; fflush(); sum += log($4); n++ } END {
	printf("%-10s %23.2f\n", "geometric mean", exp(sum / n)) }'
