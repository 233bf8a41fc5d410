#!/bin/sh
# SPDX-License-Identifier: MIT
# Open MPI 5.0.7: behind what mpirun says of a job that has called MPI_Abort comes a NUL: the line
# that is written to standard error next begins with it, and not with its first word.
# Seen: one NUL, of 2 ranks.
. "$(dirname "$0")/common.sh"
need openmpi-bin=5.0.7-1 openmpi-common=5.0.7-1 libopenmpi40=5.0.7-1 libopenmpi-dev=5.0.7-1
export OPAL_PREFIX="$root/usr" PRTE_PREFIX="$root/usr" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cat > abort.c <<'END'
#include <mpi.h>

int main(int count, char **arguments)
{
	MPI_Init(&count, &arguments);
	MPI_Abort(MPI_COMM_WORLD, 3);
	return 0;
}
END
cc -I"$root/usr/lib/x86_64-linux-gnu/openmpi/include" -o abort abort.c -L"$root/usr/lib/x86_64-linux-gnu" -l:libmpi.so.40
status=0
timeout 60 "$root/usr/bin/mpirun.openmpi" --oversubscribe -n 2 ./abort > text 2> said || status=$?
same "the status" 3 "$status"
same "NULs" 1 "$(tr -dc '\0' < said | wc -c)"
