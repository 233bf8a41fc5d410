#!/bin/sh
# SPDX-License-Identifier: MIT
# PBS (OpenPBS, PBS Pro): qsub -- pbs.sh ./app
#PBS -N app
#PBS -l select=2:ncpus=2:mpiprocs=2
#PBS -j oe
cd "${PBS_O_WORKDIR:-.}" || exit
[ -n "$CACHEPEEK_PRELOAD" ] || module load cachepeek

# env, because not each mpiexec hands its variables on to other hosts.
job=${PBS_JOBID%%.*}
mpiexec -n 4 env LD_PRELOAD="$CACHEPEEK_PRELOAD" \
	CACHEPEEK_OUTPUT="$PWD/app-$job.json,$PWD/app-$job.txt" "$@"
