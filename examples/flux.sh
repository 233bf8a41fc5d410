#!/bin/sh
# SPDX-License-Identifier: MIT
# Flux: flux batch flux.sh ./app
# flux: --job-name=app
# flux: --nodes=2
# flux: --nslots=4
# flux: --output=app-{{id}}.out
[ -n "$CACHEPEEK_PRELOAD" ] || module load cachepeek

# One report of the whole job, with a row for each rank.
flux run --ntasks=4 --env=LD_PRELOAD="$CACHEPEEK_PRELOAD" \
	--env=CACHEPEEK_OUTPUT="$PWD/app.json,$PWD/app.txt" "$@"
