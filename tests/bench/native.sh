#!/bin/sh
# SPDX-License-Identifier: MIT
# The cost of instructions that the host executes under the simulated PMU: saxpy and matrix
# multiplication as AVX-512 and as AVX2 with fused multiply-add, natively, simulated, and
# with Valgrind's own emulation of the latter (user seconds; `times` is without those that
# it takes to start); one instruction after the other; and what programs pay that have none
# (CPU time, against the tool with --native=no).
#
#	tests/bench/native.sh [BUILD]
set -eu

build=${1:-build}
tool=$(echo "$build"/libcachepeek/cachepeek-*-linux)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat > "$scratch/saxpy.c" << 'END'
#include <stdio.h>
static float a[4096], b[4096];
int main(int argc, char **argv)
{
	if (argc > 1)
		return 0;
	for (int i = 0; i < 4096; i++)
		a[i] = i, b[i] = 2 * i;
	for (int r = 0; r < 20000; r++) {
		for (int i = 0; i < 4096; i++)
			b[i] += a[i] * 1.000001f;
		__asm__ volatile("" ::: "memory");
	}
	printf("%f\n", b[77]);
	return 0;
}
END
cat > "$scratch/dgemm.c" << 'END'
#include <stdio.h>
#define N 384
static double a[N][N], b[N][N], c[N][N];
int main(int argc, char **argv)
{
	if (argc > 1)
		return 0;
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] = i + j, b[i][j] = i - j;
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			for (int j = 0; j < N; j++)
				c[i][j] += a[i][k] * b[k][j];
	printf("%f\n", c[5][7]);
	return 0;
}
END

# The least of three.
user_seconds()
{
	for _ in 1 2 3; do
		LC_ALL=C bash -c 'TIMEFORMAT=%U; time "$@" > /dev/null 2>&1' bash "$@" 2>&1 | tail -1
	done | sort -n | head -1
}

simulated()
{
	VALGRIND_LIB=${tool%/*} VALGRIND_LAUNCHER=x user_seconds "$tool" --tool=cachepeek -q --vgdb=no \
		--vex-guest-chase=no "$@"
}

# Sixteen instructions that VEX does not decode, a million times.
cat > "$scratch/each.c" << 'END'
int main(int argc, char **argv)
{
	for (int i = argc > 1 ? 1 : 1000000; i > 0; i--)
		__asm__ volatile(".rept 16\n " INSTRUCTION "\n .endr" ::: "xmm3");
	return 0;
}
END

failed=0
printf '%-8s %-10s %8s %10s %10s %6s\n' program built natively simulated 'by VEX' times
for program in saxpy dgemm; do
	for how in "host:-march=native -mprefer-vector-width=512" 'AVX2+FMA:-mavx2 -mfma'; do
		gcc -O3 ${how#*:} -o "$scratch/$program" "$scratch/$program.c"
		"$scratch/$program" > /dev/null 2>&1 || continue # this machine has it not
		natively=$(user_seconds "$scratch/$program")
		ours=$(simulated "$scratch/$program")
		emulated=- times=-
		case $how in
		AVX2*)
			emulated=$(simulated --native=no "$scratch/$program")
			start=$(simulated "$scratch/$program" once)
			times=$(echo "$emulated $ours $start" | awk '{ printf("%.1f", ($1 - $3) / ($2 - $3)) }')
			# Budget: five times as fast as VEX.
			echo "$times" | awk '{ exit $1 < 5 }' || failed=1
			;;
		esac
		printf '%-8s %-10s %8s %10s %10s %6s\n' $program "${how%%:*}" "$natively" "$ours" "$emulated" "$times"
	done
done

# each SET INSTRUCTION: not where this machine has it not.
each()
{
	gcc -O1 -DINSTRUCTION="\"$2\"" -o "$scratch/each" "$scratch/each.c" && "$scratch/each" once > /dev/null 2>&1 || return 0
	echo "$(simulated "$scratch/each") $(simulated "$scratch/each" once)" |
		awk -v set="$1" '{ ns = ($1 - $2) * 1000 / 16; printf("an instruction of %s: %.1f ns (budget: 10)\n", set, ns); exit ns > 10 }' || failed=1
}
each AVX-512 'vpaddd %%zmm1, %%zmm2, %%zmm3'
each VAES 'vaesenc %%ymm1, %%ymm2, %%ymm3'
each SHA 'sha256msg1 %%xmm1, %%xmm3'

# ---- programs that have none: with and without, in pairs ----

perl -e 'srand(24); print join(" ", map { int(rand(5000)) } 1 .. 9), "\n" for 1 .. 6000' > "$scratch/data"
query='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT sum(i * i % 77), count(DISTINCT i % 99) FROM n'

# CPU seconds of a run.
cpu_seconds()
{
	VALGRIND_LIB=${tool%/*} VALGRIND_LAUNCHER=x LC_ALL=C bash -c 'TIMEFORMAT="%U %S"; time "$@" > /dev/null 2>&1' bash \
		"$tool" --tool=cachepeek -q --vgdb=no "$@" 2>&1 | tail -1 | awk '{ print $1 + $2 }'
}

# without_any PROGRAM [ARG...]: the median of PAIRS ratios, and their quartiles.
without_any()
{
	command -v "$1" > /dev/null || return 0
	for pair in $(seq "${PAIRS:-15}"); do
		if [ $((pair % 2)) = 0 ]; then
			without=$(cpu_seconds --native=no "$@") with=$(cpu_seconds "$@")
		else
			with=$(cpu_seconds "$@") without=$(cpu_seconds --native=no "$@")
		fi
		echo "$with $without" | awk '{ print $1 / $2 }'
	done | sort -n | awk -v name="$1" '{ r[NR] = $1 }
		END { m = r[int((NR + 1) / 2)]; printf("%s, which has none: %.3f times (quartiles %.3f and %.3f, %d pairs; budget: 1.02)\n",
			name, m, r[int((NR + 3) / 4)], r[int((3 * NR + 3) / 4)], NR); exit m > 1.02 }' || failed=1
}
without_any gzip -c "$scratch/data"
without_any python3 -I -c 'sum(len(str(i)) for i in range(20000))'
without_any sqlite3 :memory: "$query"
exit $failed
