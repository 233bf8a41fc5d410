#!/bin/bash
# SPDX-License-Identifier: MIT
#
# How fast is the simulated PMU?  User seconds of each program under Valgrind's
# no-op tool, under cachegrind and under ours, the best of RUNS (2) with the
# three run in turn, and cachegrind's time divided by ours.  cachegrind runs
# with its own defaults but for the geometry; it simulates two levels and no
# TLB, ours three levels and all TLBs.
# Usage: sim-speed.sh [CASE...]; QUICK=1 for workloads of a tenth.
#
# MACHINES="zen4 skylake-sp ..." asks of machines that have a name instead, as the command
# runs them: cachegrind's time divided by that of counting without prefetchers and without
# time (counts), and by that of what nobody has to ask for (default).
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
ARCH=$(${CC:-cc} -dumpmachine | sed -n 's/^aarch64.*/arm64/p')
SIM_DIR=$PWD/$B/libcachepeek
SIM=$SIM_DIR/cachepeek-${ARCH:-amd64}-linux
RUNS=${RUNS:-2}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export PERL_HASH_SEED=0 PYTHONHASHSEED=0 XDG_CACHE_HOME=$WORK

MACHINE="--l1i=64,8,64 --l1d=64,8,64 --l2=2048,8,64 --llc=8192,16,64
	--itlb=16,4 --dtlb=16,4 --stlb=128,12"
CACHEGRIND="--tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null
	--I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64"

# Sizes that take two seconds or more under the no-op tool, on fast machines, too.
MB=40 XZ_MB=12 ROWS=360000 BY_ROWS=660 BY_COLUMNS=650 STEPS=15000000 ROUNDS=600000
PERL_ROUNDS=2800000 FUNCTIONS=40
if [ "${QUICK:-0}" = 1 ]; then
	MB=2 XZ_MB=1 ROWS=30000 BY_ROWS=250 BY_COLUMNS=250 STEPS=1000000 ROUNDS=40000
	PERL_ROUNDS=150000 FUNCTIONS=10
fi

${CC:-cc} -O2 -o "$WORK/matmul" tests/bench/matmul.c
${CC:-cc} -O2 -o "$WORK/chase" tests/bench/chase.c
cat /usr/include/*.h /usr/include/linux/*.h >"$WORK/headers"
while cat "$WORK/headers"; do :; done 2>/dev/null | head -c $((MB * 1000000)) >"$WORK/text"
head -c $((XZ_MB * 1000000)) "$WORK/text" >"$WORK/xz-text"
head -c $((XZ_MB * 250000)) /usr/bin/perl >"$WORK/binary"
for ((i = 0; i < FUNCTIONS; i++)); do
	echo "int f$i(int *p, int n) { int s = $i; for (int i = 0; i < n; i++)
		{ if (p[i] > s) s += p[i] * $i; else p[i] ^= s; } return n ? s / n : s; }"
done >"$WORK/source.c"
cat >"$WORK/python" <<END
d = {}
for i in range($ROUNDS):
    k = (i * 7919) % 10007
    d[k] = d.get(k, 0) + len(str(i))
print(sum(d.values()), sum(sorted(d)))
END
SQL="create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x<$ROWS)
insert into t select x, hex(x*2654435761) from c;
create index i on t(b);
select count(*), sum(length(b)) from t where b > '5';
select count(*) from t x join t y on x.a = y.a + 1 where x.b < y.b;"
PYTHON=$(python3 -c 'import sys; print(sys.executable)')
CC1=$(${CC:-cc} -print-prog-name=cc1)

run_case() {
	case $1 in
	gzip) "${@:2}" /bin/gzip -c "$WORK/text" ;;
	bzip2) "${@:2}" /bin/bzip2 -c "$WORK/binary" ;;
	sort) "${@:2}" /usr/bin/sort -R --parallel=1 "$WORK/xz-text" ;;
	mawk) "${@:2}" /usr/bin/mawk '{ n[length($0) % 101] += NF } END { print length(n) }' "$WORK/text" ;;
	openssl) "${@:2}" /usr/bin/openssl dgst -sha256 "$WORK/text" ;;
	xz) "${@:2}" /usr/bin/xz -3 -T1 -c "$WORK/xz-text" ;;
	xz-T2) "${@:2}" /usr/bin/xz -3 -T2 --block-size=500000 -c "$WORK/xz-text" ;;
	sqlite3) "${@:2}" /usr/bin/sqlite3 :memory: "$SQL" ;;
	python3) "${@:2}" "$PYTHON" -S "$WORK/python" ;;
	perl) "${@:2}" /usr/bin/perl -e "my %h; for (1..$PERL_ROUNDS) { \$h{\$_ % 5003} .= qq(x\$_); } print length(join q(), values %h)" ;;
	matmul) "${@:2}" "$WORK/matmul" "$BY_ROWS" rows ;;
	cc1) "${@:2}" "$CC1" -quiet -O1 "$WORK/source.c" -o "$WORK/source.s" ;;
	chase) "${@:2}" "$WORK/chase" 32 "$STEPS" ;;
	columns) "${@:2}" "$WORK/matmul" "$BY_COLUMNS" ;;
	*)
		echo "sim-speed.sh: no case '$1'" >&2
		return 1
		;;
	esac >/dev/null
}

under() {
	case $1 in
	none) run_case "$2" valgrind --tool=none -q ;;
	cachegrind) run_case "$2" valgrind $CACHEGRIND -q ;;
	ours) run_case "$2" env VALGRIND_LIB="$SIM_DIR" VALGRIND_LAUNCHER="$SIM" \
		"$SIM" --tool=cachepeek -q --vgdb=no --vex-guest-chase=no \
			--vex-iropt-register-updates=allregs-at-mem-access $MACHINE ;;
	*,counts) run_case "$2" env CACHEPEEK_TIMING=off "$B/cachepeek" -E sim -g cache \
		-o "$WORK/report.txt" -m "${1%,*}" --what-if prefetch=none ;;
	*,default) run_case "$2" "$B/cachepeek" -E sim -o "$WORK/report.txt" -m "${1%,*}" ;;
	esac
}

# A failed run has no time, and fails the bench.
user_seconds() {
	local TIMEFORMAT=%U t

	t=$( { time under "$@" 2>"$WORK/errors"; } 2>&1) && echo "$t" && return
	cat "$WORK/errors" >&2
	exit 1
}

# Best times, in the order of the tools.
best_times() { # CASE TOOL...
	local best=() i t tools=("${@:2}")

	for ((run = 0; run < RUNS; run++)); do
		for i in "${!tools[@]}"; do
			t=$(user_seconds "${tools[i]}" "$1") || return 1
			best[i]=$(echo "$t ${best[i]:-$t}" | awk '{print $1 < $2 ? $1 : $2}')
		done
	done
	echo "${best[@]}"
}

row() {
	awk -v name="$1" -v n="$2" -v g="$3" -v o="$4" 'BEGIN {
		printf "%-10s %8.2f %11.2f %7.2f %17.2f %11.2f\n", name, n, g, o, g / o, o / n }'
}

bench_plain() {
	local c times

	echo "case           none  cachegrind    ours   cachegrind/ours   ours/none"
	for c in ${*:-gzip xz xz-T2 sqlite3 python3 perl matmul cc1 chase columns}; do
		times=$(best_times "$c" none cachegrind ours) || exit 1
		echo "$c $times" >>"$WORK/times"
		row "$c" $times
	done
	# The worst cases, where every reference misses L1 and TLB, have limits of their own.
	awk '$1 != "chase" && $1 != "columns" { l += log($3 / $4); m += log($4 / $2); k++ }
		END { if (k) printf "geometric mean %41.2f %11.2f, without chase and columns\n",
			exp(l / k), exp(m / k) }' "$WORK/times"
}

bench_machines() {
	local c m tools=(cachegrind) times

	for m in $MACHINES; do
		tools+=("$m,counts" "$m,default")
	done
	for c in ${*:-bzip2 xz sort mawk perl python3 sqlite3 openssl cc1}; do
		times=$(best_times "$c" "${tools[@]}") || exit 1
		echo "$c $times"
	done >"$WORK/times"
	awk -v tools="${tools[*]}" '{
			name[NR] = $1
			for (i = 2; i <= NF; i++)
				t[i, NR] = $i
		} END {
			n = split(tools, tool, " ")
			printf "%-26s", "seconds, ratio"
			for (r = 1; r <= NR; r++)
				printf " %12s", name[r]
			print "   mean  least"
			for (i = 1; i <= n; i++) {
				printf "%-26s", tool[i]
				least = 1e9
				sum = 0
				for (r = 1; r <= NR; r++) {
					ratio = t[2, r] / t[i + 1, r]
					sum += log(ratio)
					least = ratio < least ? ratio : least
					printf " %6.2f %5.2f", t[i + 1, r], ratio
				}
				printf " %6.2f %6.2f\n", exp(sum / NR), least
			}
		}' "$WORK/times"
}

if [ -n "${MACHINES:-}" ]; then
	bench_machines "$@"
else
	bench_plain "$@"
fi
