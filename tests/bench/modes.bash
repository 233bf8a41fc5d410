# SPDX-License-Identifier: MIT
# For benches that compare modes of the simulated PMU: their programs, and a row of user
# seconds.  Whoever reads this defines how(), which fills the array HOW with the words of
# a mode that the program's come after.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
B=${B:-build}
RUNS=${RUNS:-2}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export XDG_CACHE_HOME=$WORK PERL_HASH_SEED=0
SIM=("$B/cachepeek" -E sim -o "$WORK/report.txt")

make --no-print-directory all "$B/tests/programs/chase" "$B/tests/programs/columns" \
	"$B/tests/programs/sharing" "$B/tests/programs/hash_map" >"$WORK/made" 2>&1 || {
	cat "$WORK/made" >&2
	exit 1
}
head -c "${BYTES:-3000000}" /usr/bin/perl >"$WORK/input"

# What libc's qsort calls does next to nothing.
cat >"$WORK/sorts.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}
int main(void)
{
	static int n[200000];
	unsigned seed = 1;

	for (int i = 0; i < 200000; i++)
		n[i] = (int)((seed = seed * 1103515245 + 12345) >> 8);
	qsort(n, 200000, sizeof(*n), compare);
	return printf("%d\n", n[100000]) < 0;
}
C
cc -O2 -o "$WORK/sorts" "$WORK/sorts.c" || exit 1

# columns and chase are the worst cases: each of their references misses.
run_case() # CASE WORD...
{
	case $1 in
	gzip) "${@:2}" /bin/gzip -c "$WORK/input" ;;
	bzip2) "${@:2}" /bin/bzip2 -kc "$WORK/input" ;;
	shuffle) "${@:2}" /usr/bin/sort -R "$WORK/input" ;;
	perl) "${@:2}" /usr/bin/perl -e 'my %h; for (1..300000) { $h{$_ % 5003} .= $_; }
		print length(join q(), values %h)' ;;
	sqlite3) "${@:2}" /usr/bin/sqlite3 :memory: 'with recursive c(x) as (select 1 union
		all select x+1 from c where x<90000) select count(*), max(hex(x)) from c;' ;;
	chase) "${@:2}" "$B/tests/programs/chase" 100000 9000000 ;;
	columns) "${@:2}" "$B/tests/programs/columns" 1000 16 ;;
	python3) "${@:2}" /usr/bin/python3 -S -c 'd = {i * 7 % 5003: str(i) for i in range(30000)}
print(sum(len(x) for x in sorted(d.values())))' ;;
	qsort) "${@:2}" "$WORK/sorts" ;;
	xz) "${@:2}" /usr/bin/xz -1 -T1 -c "$WORK/input" ;;
	sort)
		[ -e "$WORK/lines" ] || seq 120000 | rev >"$WORK/lines"
		LC_ALL=C "${@:2}" /usr/bin/sort --parallel=1 "$WORK/lines"
		;;
	matmul)
		[ -e "$WORK/matmul" ] || cc -O2 -o "$WORK/matmul" tests/bench/matmul.c
		"${@:2}" "$WORK/matmul" 250
		;;
	c++) "${@:2}" "$B/tests/programs/hash_map" ;;
	threads) "${@:2}" "$B/tests/programs/sharing" false 500000 ;;
	*) echo "no case '$1'" >&2 && return 1 ;;
	esac
}

# A failed run has no time, and fails the bench.
user_seconds() # CASE MODE
{
	local TIMEFORMAT=%U t HOW=()

	how "$2"
	t=$({ time run_case "$1" "${HOW[@]}" >"$WORK/output" 2>"$WORK/errors"; } 2>&1) &&
		echo "$t" && return
	cat "$WORK/errors" >&2
	return 1
}

# The least of RUNS of each mode, taken in turn, and the ratio of each to the first one.
# What is over the budget (0: there is none) says so.
row() # CASE BUDGET MODE...
{
	local run mode t

	for ((run = 0; run < RUNS; run++)); do
		for mode in "${@:3}"; do
			t=$(user_seconds "$1" "$mode") || exit 1
			echo "$mode $t"
		done
	done >"$WORK/times"
	awk -v name="$1" -v budget="$2" '
		!($1 in best) { mode[++modes] = $1; best[$1] = $2 }
		$2 < best[$1] { best[$1] = $2 }
		END {
			printf("%-10s %8.2f", name, best[mode[1]])
			for (i = 2; i <= modes; i++) {
				ratio = best[mode[i]] / best[mode[1]]
				printf(" %8.2f %5.2f%s", best[mode[i]], ratio,
					budget && ratio > budget ? " over " budget : "")
			}
			print ""
		}' "$WORK/times"
}
