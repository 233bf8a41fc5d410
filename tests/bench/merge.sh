#!/bin/bash
# SPDX-License-Identifier: MIT
# The report of a job: its ranks' records merged one by one, as `cachepeek merge`
# does, and what writes the report in MPI_Finalize.  Budget for 65,536 ranks of 200 regions: 60 s
# and 2 GB.  MERGE_RANKS chooses other numbers of ranks.  It waits for nothing but a
# processor: where others want them too, s is CPU s and what it waited for one.
set -eu
merge=${B:-build}/tests/merge

printf '%9s %9s %9s %9s %12s %14s\n' ranks s 'CPU s' 'waited' 'peak, KB' 'message, KB'
for ranks in ${MERGE_RANKS:-64 1024 8192 65536}; do
	python3 -c '
import resource, subprocess, sys
out = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=True).stdout.split()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%9s %9s %9.2f %9s %12d %14.0f" % (sys.argv[2], out[0], used.ru_utime + used.ru_stime,
	out[1], used.ru_maxrss, int(out[2]) / 1024))
' "$merge" "$ranks" 200
done
