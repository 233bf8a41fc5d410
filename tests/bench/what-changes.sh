#!/bin/bash
# SPDX-License-Identifier: MIT
# The effect of the simulated processor's habits on counts and on predicted time, each beside
# a run without any of them: cpu (programs are shown the host's processor), strings (an
# instruction that moves a string is one, and a block of it a reference), prefetch (hardware
# prefetchers), and all three, which are what a run has by itself.
# Usage: what-changes.sh [PROGRAM...]; MACHINE: zen4 by default
set -u
. "$(dirname "$0")/modes.bash"
MACHINE=${MACHINE:-zen4}
cc -E "$WORK/sorts.c" >"$WORK/sorts.i" || exit 1

# counts PROGRAM CPU STRINGS PREFETCH: instructions, misses of L1D, L2 and L3, cycles
counts() {
	local how=(env "CACHEPEEK_CPU=$2" "$B/cachepeek" -E sim --reproducible -m "$MACHINE"
		--what-if "string-instructions=$3,prefetch=$4" -g cache,time -o "$WORK/report.json")

	if [ "$1" = cc1 ]; then
		"${how[@]}" "$(cc -print-prog-name=cc1)" -quiet -O2 -o "$WORK/sorts.s" "$WORK/sorts.i"
	else
		run_case "$1" "${how[@]}"
	fi >"$WORK/output" 2>"$WORK/errors" || { cat "$WORK/errors" >&2 && exit 1; }
	/usr/bin/python3 - "$WORK/report.json" <<'PY'
import json, sys
whole = json.load(open(sys.argv[1]))['regions'][0]
names = 'instructions l1d_misses l2_misses llc_misses'.split()
print(*[whole['counts'][n]['value'] for n in names], whole['metrics']['predicted_cycles']['value'])
PY
}

echo '| program | habit | instructions | L1D misses | L2 misses | L3 misses | predicted time |'
echo '|---|---|--:|--:|--:|--:|--:|'
for program in ${*:-bzip2 xz sqlite3 python3 sort cc1}; do
	without=$(counts "$program" valgrind iterations none) || exit 1
	while read -r name cpu strings prefetch; do
		with=$(counts "$program" "$cpu" "$strings" "$prefetch") || exit 1
		echo "$program $name $without $with"
	done <<'HABITS'
cpu host iterations none
strings valgrind whole none
prefetch valgrind iterations on
all host whole on
HABITS
done | awk '{
	printf("| %s | %s |", $1, $2)
	for (i = 3; i <= 7; i++)
		printf(" %+.1f %% |", 100 * ($(i + 5) / $i - 1))
	print "" }'
