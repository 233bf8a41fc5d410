#!/bin/bash
# SPDX-License-Identifier: MIT
# User seconds on the simulated PMU, counting alone and with a profile; the budget
# is 1.5 times.  columns is the worst case: each of its references misses.
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
RUNS=${RUNS:-2}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export XDG_CACHE_HOME=$WORK PERL_HASH_SEED=0
head -c 3000000 /usr/bin/perl > "$WORK/input"

seconds() {
	local TIMEFORMAT=%U t

	t=$( { time "$B/cachepeek-bin" -E sim -o "$WORK/report.txt" "$@" > /dev/null 2> "$WORK/errors"; } 2>&1)
	echo "$t"
}

best() {
	for ((run = 0; run < RUNS; run++)); do seconds "$@"; done | sort -n | head -1
}

compare() {
	local name=$1 alone with
	shift
	alone=$(best "$@")
	with=$(CACHEPEEK_PROFILE=dcache best "$@")
	awk -v n="$name" -v a="$alone" -v w="$with" \
		'BEGIN { printf("%-10s %8.2f %8.2f %6.2f %s\n", n, a, w, w / a, (w / a > 1.5) ? "over 1.5" : "") }'
}

echo "case          alone  profile  ratio (budget 1.5)"
compare gzip /bin/gzip -c "$WORK/input"
compare perl /usr/bin/perl -e 'my %h; for (1..300000) { $h{$_ % 5003} .= $_; } print length(join q(), values %h)'
compare sqlite3 /usr/bin/sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x+1 from c where x<90000) select count(*), max(hex(x)) from c;'
compare chase "$B/tests/programs/chase" 100000 9000000
compare columns "$B/tests/programs/columns" 1000 16
