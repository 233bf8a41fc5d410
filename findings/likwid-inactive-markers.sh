#!/bin/sh
# SPDX-License-Identifier: MIT
# LIKWID 5.2.2: of a program that is not run by likwid-perfctr, all functions of markers that return
# a number return -14 (EFAULT), likwid_markerGetRegion says 0 events, 0 seconds and 0 calls, and one
# line on standard error says so.  A program that takes -14 for a failure ends.
. "$(dirname "$0")/common.sh"
need likwid=5.2.2+dfsg1-1
cat > markers.c <<'END'
#include <stdio.h>
#include <likwid-marker.h>

int main(void)
{
	int events = 1, calls = -1;
	double value = -1, seconds = -1;
	likwid_markerInit();
	printf("%d ", likwid_markerRegisterRegion("a"));
	printf("%d ", likwid_markerStartRegion("a"));
	printf("%d ", likwid_markerStopRegion("a"));
	likwid_markerGetRegion("a", &events, &value, &seconds, &calls);
	printf("%d %g %g %d ", events, value, seconds, calls);
	printf("%d\n", likwid_markerResetRegion("a"));
	likwid_markerClose();
	return 0;
}
END
cc -DLIKWID_PERFMON -I"$root/usr/include" -o markers markers.c -L"$root/usr/lib/x86_64-linux-gnu" -llikwid
same "what markers return" "-14 -14 -14 0 -1 0 0 -14" "$(./markers 2> said)"
same "standard error" "Running without Marker API. Activate Marker API with -m on commandline." "$(cat said)"
