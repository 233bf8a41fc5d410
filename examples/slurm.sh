#!/bin/sh
# SPDX-License-Identifier: MIT
# Slurm: sbatch slurm.sh ./app
#SBATCH --job-name=app
#SBATCH --ntasks=4
#SBATCH --output=app-%j.out
[ -n "$CACHEPEEK_PRELOAD" ] || module load cachepeek

# One report of the whole job, with a row for each rank.
export CACHEPEEK_OUTPUT="app-$SLURM_JOB_ID.json,app-$SLURM_JOB_ID.txt"
srun --export=ALL,LD_PRELOAD="$CACHEPEEK_PRELOAD" "$@"
