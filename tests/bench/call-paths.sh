#!/bin/bash
# SPDX-License-Identifier: MIT
# User seconds on the simulated PMU, counting alone and by call path; the budget is 1.25
# times in the geometric mean.  Programs that call small functions all the time, as sqlite3
# does, are above.  Then what python3's tree takes: memory beyond counting alone (64 MB),
# and its page (2 MB).
# Usage: call-paths.sh [CASE...]; the best of RUNS (2), in turn.  Fails over a budget.
set -u
. "$(dirname "$0")/modes.bash"

how() {
	HOW=("${SIM[@]}")
	[ "$1" = alone ] || HOW=(env CACHEPEEK_CALL_PATHS=1 "${SIM[@]}")
}

# The largest resident size of a run, in kB.
resident() # MODE
{
	local HOW=()

	how "$1"
	run_case python3 python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "${HOW[@]}"
}

echo "case          alone    paths ratio (budget 1.25 in the mean)"
for c in ${*:-gzip sqlite3 python3 perl qsort c++}; do
	row "$c" 0 alone paths
done >"$WORK/rows" || exit 1
awk '{ print; sum += log($NF); n++ }
	END { mean = exp(sum / n); printf("%-10s %23.2f\n", "mean", mean); exit mean > 1.25 }' "$WORK/rows" || over=1

more=$((($(resident paths) - $(resident alone)) / 1024))
HOW=("$B/cachepeek" dcache --call-paths -o "$WORK/page.html")
run_case python3 "${HOW[@]}" >"$WORK/output" 2>"$WORK/errors" || { cat "$WORK/errors" >&2; exit 1; }
page=$(($(stat -c %s "$WORK/page.html") / 1024))
echo "python3: $more MB more (budget 64), a page of $page kB (budget 2048)"
[ "$more" -le 64 ] && [ "$page" -le 2048 ] && [ -z "${over:-}" ]
