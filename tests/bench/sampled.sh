#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of a sample (CACHEPEEK_SAMPLE) and how well it tells: user seconds of each
# program native, under Valgrind's no-op tool, under cachegrind, simulated in full and
# sampled, the best of RUNS (1); then, of SEEDS (3) samples, how many 95 % intervals hold
# the count of the full simulation, and the widest of them, in percent of it.
# 1.5 times the no-op tool, cachegrind 5 times slower than the sample, 93 of 100 seeds, and
# 10 % on either side where 1,000 instructions have a miss, are the goals.
# Usage: sampled.sh [CASE...]; PLAN (fast) is the sample; SIZE=100 for programs that take
# two seconds or more natively (10 is a tenth of that); SEEDS=100 takes a day then.
# RUNS=0 SIZE=1 SEEDS=100 PLAN=fast,period=1000000 has no times, and takes minutes.
set -u
. "$(dirname "$0")/modes.bash"
PLAN=${PLAN:-fast} SEEDS=${SEEDS:-3} RUNS=${RUNS:-1} SIZE=${SIZE:-10}
export PYTHONHASHSEED=0 LC_ALL=C
EVENTS=instructions,l1i_misses,l1d_misses,l2_misses,llc_misses,itlb_misses,dtlb_misses
cat >"$WORK/bench.machine" <<EOF
l1i = 32K 8 64
l1d = 32K 8 64
l2 = 1M 8 64
llc = 8M 16 64
itlb = 64 4
dtlb = 64 4
stlb = 1536 12
page = 4K
cores = 2
EOF
CACHEGRIND=(valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null -q
	--I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64)

${CC:-cc} -O2 -o "$WORK/matmul" tests/bench/matmul.c
cat /usr/include/*.h /usr/include/linux/*.h >"$WORK/headers"
while cat "$WORK/headers"; do :; done 2>/dev/null | head -c $((600000 * SIZE)) >"$WORK/text"
head -c $((150000 * SIZE)) "$WORK/text" >"$WORK/xz-text"
tr -s ' \t' '\n\n' <"$WORK/text" | head -n $((30000 * SIZE)) >"$WORK/words"
for ((i = 0; i < 4 * SIZE; i++)); do
	echo "int f$i(int *p, int n) { int s = $i; for (int i = 0; i < n; i++)
		{ if (p[i] > s) s += p[i] * $i; else p[i] ^= s; } return n ? s / n : s; }"
done >"$WORK/source.c"
cat >"$WORK/python" <<EOF
d = {}
for i in range($((80000 * SIZE))):
    k = (i * 7919) % 100003
    d[k] = d.get(k, 0) + len(str(i))
print(sum(d.values()), sum(sorted(d)))
EOF
SQL="create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x<$((15000 * SIZE)))
insert into t select x, hex(x*2654435761) from c;
create index i on t(b);
select count(*), sum(length(b)) from t where b > '5';
select count(*) from t x join t y on x.a = y.a + 1 where x.b < y.b;"
PYTHON=$(python3 -c 'import sys; print(sys.executable)')
CC1=$(${CC:-cc} -print-prog-name=cc1)
ROWS=$(awk "BEGIN { print int(300 * $SIZE ^ (1 / 3)) }")

run_case() # CASE WORD...
{
	case $1 in
	gzip) "${@:2}" /bin/gzip -c "$WORK/text" ;;
	xz) "${@:2}" /usr/bin/xz -3 -T1 -c "$WORK/xz-text" ;;
	bzip2) "${@:2}" /bin/bzip2 -c "$WORK/xz-text" ;;
	sort) "${@:2}" /usr/bin/sort --parallel=1 "$WORK/words" ;;
	sqlite3) "${@:2}" /usr/bin/sqlite3 :memory: "$SQL" ;;
	python3) "${@:2}" "$PYTHON" -S "$WORK/python" ;;
	perl) "${@:2}" /usr/bin/perl -e "my %h; for (1..$((80000 * SIZE))) {
		\$h{\$_ % 50003} .= qq(x\$_); } print length(join q(), values %h)" ;;
	matmul) "${@:2}" "$WORK/matmul" "$ROWS" rows ;;
	cc1) "${@:2}" "$CC1" -quiet -O1 "$WORK/source.c" -o "$WORK/source.s" ;;
	chase) "${@:2}" "$B/tests/programs/chase" 100000 $((300000 * SIZE)) ;;
	columns) "${@:2}" "$B/tests/programs/columns" 1000 $((2 * SIZE)) ;;
	*) echo "no case '$1'" >&2 && return 1 ;;
	esac
}

# The environment is of one length, else the stack and its lines are elsewhere.
product() # REPORT VARIABLE SEED
{
	HOW=(env "$2=$PLAN,seed=$(printf %06d "$3")" "$B/cachepeek" -E sim
		-m "$WORK/bench.machine" -e "$EVENTS" -o "$WORK/$1.json")
}

how() # native, none, cachegrind, full, or a seed
{
	case $1 in
	native) HOW=() ;;
	none) HOW=(valgrind --tool=none -q) ;;
	cachegrind) HOW=("${CACHEGRIND[@]}") ;;
	full) product 000000 NOT_LOOKED_AT_XX 0 ;;
	*) product "$(printf %06d "$1")" CACHEPEEK_SAMPLE "$1" ;;
	esac
}

coverage() # CASE
{
	perl -MJSON::PP -e '
		sub counts {
			local (@ARGV, $/) = @_;
			my ($whole) = grep { !@{$_->{path}} } @{decode_json(<>)->{regions}};
			return $whole->{counts};
		}
		my ($name, $full, @sampled) = @ARGV;
		my $true = counts($full);
		my @counts = map { counts($_) } @sampled;
		for my $event (sort keys %$true) {
			next if $event eq "instructions";
			my ($n, $all) = ($true->{$event}{value}, $true->{instructions}{value});
			my @of = grep { $_->{status} eq "estimated" } map { $_->{$event} } @counts;
			my @hold = grep { abs($_->{value} - $n) <= $_->{error} + 0.5 } @of;
			my ($wide) = sort { $b <=> $a } map { $_->{error} } @of;
			my $off = 0;
			$off += ($_->{value} - $n) / @of for @of;
			printf("%-10s %-12s %14.0f %10.3f %6d of %-4d %8.1f %% %+8.1f %%%s\n", $name, $event, $n,
				1000 * $n / $all, scalar(@hold), scalar(@of), $n ? 100 * $wide / $n : 0,
				$n ? 100 * $off / $n : 0, @hold < 0.93 * @of ? "  missed" :
				1000 * $n >= $all && $wide > 0.1 * $n ? "  wide" : "");
		}' "$1" "$WORK/000000.json" $(seq -f "$WORK/%06.0f.json" "$SEEDS")
}

# The file of the full simulation, and of each seed.
simulate() # CASE
{
	local seed

	for seed in 0 $(seq "$SEEDS"); do
		user_seconds "$1" "${seed/#0/full}" >"$WORK/time" || return 1
	done
}

CASES=${*:-gzip xz bzip2 sort sqlite3 python3 perl matmul cc1 chase columns}
((RUNS)) &&
	echo "case         native     none and ratio to native   cachegrind           full        sampled"
for c in $CASES; do
	((RUNS)) && row "$c" 0 native none cachegrind full 1 | tee -a "$WORK/rows"
	simulate "$c" || exit 1
	coverage "$c" | tee -a "$WORK/coverage"
done
((RUNS)) && awk '{ n += log($9 / $3); g += log($5 / $9); w += log($9 / $2) } END {
	printf("geometric means: %.2f times the no-op tool, cachegrind %.2f times slower, " \
		"%.1f times native\n", exp(n / NR), exp(g / NR), exp(w / NR)) }' "$WORK/rows"
echo
echo "case       misses of              in full  of 1,000  intervals hold   widest, mean error"
cat "$WORK/coverage"
