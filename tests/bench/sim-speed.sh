#!/bin/bash
# SPDX-License-Identifier: MIT
#
# How fast is the simulated PMU?  User seconds of each program natively, under
# cachegrind and under ours, best of three, and the ratio of the last two.
# cachegrind simulates two levels and no TLB, ours three levels and all TLBs.
# Usage: sim-speed.sh [CASE...]
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
ARCH=$(${CC:-cc} -dumpmachine | sed -n 's/^aarch64.*/arm64/p')
SIM_DIR=$PWD/$B/cachepeek
SIM=$SIM_DIR/cachepeek-${ARCH:-amd64}-linux
RUNS=${RUNS:-3}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export PERL_HASH_SEED=0 PYTHONHASHSEED=0

MACHINE="--l1i=64,8,64 --l1d=64,8,64 --l2=2048,8,64 --llc=8192,16,64
	--itlb=16,4 --dtlb=16,4 --stlb=128,12"
CACHEGRIND="--tool=cachegrind --cache-sim=yes --cachegrind-out-file=/dev/null
	--I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64"

cc -O2 -o "$WORK/matmul" tests/bench/matmul.c
cc -O2 -o "$WORK/chase" tests/bench/chase.c
cat /usr/include/*.h /usr/include/linux/*.h | head -c 6000000 >"$WORK/text"
cat >"$WORK/python" <<'END'
d = {}
for i in range(400000):
    k = (i * 7919) % 10007
    d[k] = d.get(k, 0) + len(str(i))
print(sum(d.values()), sum(sorted(d)))
END
SQL="create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x<60000)
insert into t select x, hex(x*2654435761) from c;
create index i on t(b);
select count(*), sum(length(b)) from t where b > '5';
select count(*) from t x join t y on x.a = y.a + 1 where x.b < y.b;"
PYTHON=$(python3 -c 'import sys; print(sys.executable)')

run_case() {
	case $1 in
	gzip) "${@:2}" /bin/gzip -c "$WORK/text" ;;
	sqlite3) "${@:2}" /usr/bin/sqlite3 :memory: "$SQL" ;;
	matmul) "${@:2}" "$WORK/matmul" 300 ;;
	chase) "${@:2}" "$WORK/chase" 32 10000000 ;;
	python3) "${@:2}" "$PYTHON" -S "$WORK/python" ;;
	perl) "${@:2}" /usr/bin/perl -e 'my %h; for (1..200000) { $h{$_ % 5003} .= "x$_"; } print length(join "", values %h), "\n"' ;;
	esac >/dev/null
}

user_seconds() {
	local best=999 t
	for _ in $(seq "$RUNS"); do
		t=$( { TIMEFORMAT=%U; time run_case "$@" 2>/dev/null; } 2>&1)
		best=$(echo "$t $best" | awk '{print $1 < $2 ? $1 : $2}')
	done
	echo "$best"
}

echo "case        native  cachegrind    ours   cachegrind/ours"
for c in "${@:-gzip sqlite3 matmul chase python3 perl}"; do
	for c in $c; do
		n=$(user_seconds "$c")
		g=$(user_seconds "$c" valgrind $CACHEGRIND)
		o=$(user_seconds "$c" env VALGRIND_LIB="$SIM_DIR" VALGRIND_LAUNCHER="$SIM" \
			"$SIM" --tool=cachepeek -q --vgdb=no --vex-guest-chase=no $MACHINE)
		echo "$c $n $g $o"
	done
done | awk '{ r = $3 / $4; l += log(r); n++
	printf "%-10s %7.2f %11.2f %7.2f %17.2f\n", $1, $2, $3, $4, r; fflush() }
	END { printf "geometric mean %39.2f\n", exp(l / n) }'
