#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The cost of several machines in one run: user seconds of each program on each of
# four machines alone, on all four in one run, and that divided by the mean of the
# four.  Three sets: plain ones, those of `cachepeek compare`'s first example, and
# servers, of which no two have the same L1.
# The budget is 2.5 in the mean.
# Usage: compare.sh [CASE...]; the best of RUNS (2), in turn.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
RUNS=${RUNS:-2}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export PERL_HASH_SEED=0 PYTHONHASHSEED=0 CACHEPEEK_DIR=

PLAIN="cachegrind raspberry-pi-5"
EXAMPLE="pentium4-m2 pentium4-m3 opteron-244 core2duo"
SERVERS="neoverse-n1 zen3 skylake-sp sapphire-rapids"

${CC:-cc} -O2 -o "$WORK/matmul" tests/bench/matmul.c
cat /usr/include/*.h /usr/include/linux/*.h | head -c 2000000 >"$WORK/text"
head -c 500000 "$WORK/text" >"$WORK/xz-text"
for i in 0 1 2 3 4 5 6 7 8 9; do
	echo "int f$i(int *p, int n) { int s = $i; for (int i = 0; i < n; i++)
		{ if (p[i] > s) s += p[i] * $i; else p[i] ^= s; } return n ? s / n : s; }"
done >"$WORK/source.c"
SQL="create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x<20000)
insert into t select x, hex(x*2654435761) from c;
create index i on t(b);
select count(*), sum(length(b)) from t where b > '5';"
CC1=$(${CC:-cc} -print-prog-name=cc1)

run_case() {
	case $1 in
	gzip) "${@:2}" gzip -c "$WORK/text" ;;
	xz-T2) "${@:2}" xz -3 -T2 --block-size=100000 -c "$WORK/xz-text" ;;
	sqlite3) "${@:2}" sqlite3 :memory: "$SQL" ;;
	python3) "${@:2}" /usr/bin/python3 -S -c "print(sum(len(str(i)) for i in range(60000)))" ;;
	perl) "${@:2}" perl -e 'my %h; for (1..150000) { $h{$_ % 5003} .= qq(x$_); } print scalar keys %h' ;;
	matmul) "${@:2}" "$WORK/matmul" 250 rows ;;
	cc1) "${@:2}" "$CC1" -quiet -O1 "$WORK/source.c" -o "$WORK/source.s" ;;
	columns) "${@:2}" "$WORK/matmul" 200 ;;
	*) return 1 ;;
	esac >/dev/null
}

seconds() # CASE MACHINES
{
	local TIMEFORMAT=%U
	{ time run_case "$1" "$B/cachepeek" compare -m "$2" -o /dev/null 2>/dev/null; } 2>&1
}

# The least of RUNS for each, all in turn.
row() # CASE MACHINE...
{
	local case=$1 i
	shift
	for ((i = 0; i < RUNS; i++)); do
		for machine; do echo "$machine $(seconds "$case" "$machine")"; done
		echo "all $(seconds "$case" "$(echo "$*" | tr ' ' ,)")"
	done | awk -v name="$case" '
		!($1 in best) || $2 < best[$1] { best[$1] = $2 }
		END {
			for (m in best) if (m != "all") { sum += best[m]; n++ }
			printf "%-10s %10.2f %10.2f %10.2f\n", name, sum / n, best["all"], best["all"] * n / sum
		}'
}

for set in "$PLAIN" "$EXAMPLE" "$SERVERS"; do
	echo "$set"
	printf '%-10s %10s %10s %10s\n' case one all ratio
	for c in ${*:-gzip xz-T2 sqlite3 python3 perl matmul cc1}; do
		# shellcheck disable=SC2086 # one argument each
		row "$c" $set
	done | tee "$WORK/rows"
	awk '{ l += log($4) } END { printf "%-10s %32.2f\n", "mean", exp(l / NR) }' "$WORK/rows"
done
