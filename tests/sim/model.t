#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The fast models against the plain one, as they are built and with filters and
# clocks so small that every wrap and conflict happens all the time.
# CACHEPEEK_MODEL_STEPS=3000000 makes more than ten million references to each machine
# of the first program: a step is three or four of them, and their number is printed.
# TAP of both programs, one after the other, as one plan.
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
steps=${CACHEPEEK_MODEL_STEPS:-15000}
{ "$B/sim/model_test" "$steps" && "$B/sim/model_stress" $((steps / 5)); echo "exit $?"; } | awk '
	/^1\.\./ { next }
	/^ok|^not ok/ { n++; sub(/ok [0-9]+ - /, "ok " n " - "); print; fflush(); next }
	/^exit/ { status = $2; next }
	{ print }
	END { print "1.." n; exit status != 0 || n != 340 }'
