#!/bin/sh
# SPDX-License-Identifier: MIT
# MPICH 4.0.2 (hydra): the environment of a rank has its number, how many there are and descriptors,
# and nothing that names the job: ranks of two jobs on one machine have the same variables.
. "$(dirname "$0")/common.sh"
need mpich=4.0.2-3+b1 libmpich12=4.0.2-3+b1
# job FILE: what the launcher gave two ranks
job()
{
	mpiexec.hydra -n 2 env | grep -E '^(HYD|MPI_|MPIEXEC|PMI)' | sort -u > "$1"
}
job one
job other
same "variables" "HYDI_CONTROL_FD MPI_LOCALNRANKS MPI_LOCALRANKID PMI_FD PMI_RANK PMI_SIZE" \
	"$(cut -d= -f1 one | sort -u | paste -sd ' ')"
same "values of another job" "$(grep -v _FD= one)" "$(grep -v _FD= other)"
