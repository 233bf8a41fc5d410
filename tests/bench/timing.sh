#!/bin/bash
# SPDX-License-Identifier: MIT
# User seconds on the simulated PMU, counting alone and with the timing model; the
# budget is 1.3 times.  columns and chase are the worst cases: each of their references
# misses.  MACHINE: a plain one by default; another one goes through the front.
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
RUNS=${RUNS:-3}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export XDG_CACHE_HOME=$WORK PERL_HASH_SEED=0
head -c 3000000 /usr/bin/perl > "$WORK/input"
cat > "$WORK/plain.machine" <<END
l1i = 32K 8 64
l1d = 32K 8 64
l2 = 1M 16 64 latency=14
llc = 32M 16 64 latency=50
stlb = 1536 12 latency=7
memory-latency = 250
walk-latency = 30
fill-buffers = 12
write-buffers = 12
END
MACHINE=${MACHINE:-$WORK/plain.machine}

seconds() {
	local TIMEFORMAT=%U

	{ time CACHEPEEK_TIMING=$1 "$B/cachepeek-bin" -E sim -m "$MACHINE" -e instructions \
		-o "$WORK/report.txt" "${@:2}" > /dev/null 2> "$WORK/errors"; } 2>&1
}

# The two in turn, the best of each.
compare() {
	local name=$1
	shift
	for ((run = 0; run < RUNS; run++)); do
		echo "$(seconds off "$@") $(seconds on "$@")"
	done | awk -v n="$name" '{ if (NR == 1 || $1 < a) a = $1; if (NR == 1 || $2 < w) w = $2 }
		END { printf("%-10s %8.2f %8.2f %6.2f %s\n", n, a, w, w / a, (w / a > 1.3) ? "over 1.3" : "") }'
}

echo "case          alone   timing  ratio (budget 1.3)"
compare gzip /bin/gzip -c "$WORK/input"
compare perl /usr/bin/perl -e 'my %h; for (1..300000) { $h{$_ % 5003} .= $_; } print length(join q(), values %h)'
compare sqlite3 /usr/bin/sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x+1 from c where x<90000) select count(*), max(hex(x)) from c;'
compare chase "$B/tests/programs/chase" 100000 9000000
compare columns "$B/tests/programs/columns" 1000 16
