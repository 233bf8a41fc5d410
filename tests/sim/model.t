#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The fast model against the plain one, as it is built and with filters and
# clocks so small that every wrap and conflict happens all the time.
# TAP of both programs, one after the other, as one plan.
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
{ "$B/sim/model_test" && "$B/sim/model_stress" 300000; echo "exit $?"; } | awk '
	/^1\.\./ { next }
	/^ok|^not ok/ { n++; sub(/ok [0-9]+ - /, "ok " n " - "); print; fflush(); next }
	/^exit/ { status = $2; next }
	{ print }
	END { print "1.." n; exit status != 0 || n != 52 }'
