#!/bin/sh
# SPDX-License-Identifier: MIT
# What instructions cost that the host executes under the simulated PMU: saxpy and matrix
# multiplication as AVX-512 and as AVX2 with fused multiply-add, natively, simulated, and
# with Valgrind's own emulation of the latter (user seconds; `times` is without those that
# it takes to start).
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

# Sixteen instructions that only the host executes, a million times.
cat > "$scratch/each.c" << 'END'
int main(int argc, char **argv)
{
	for (int i = argc > 1 ? 1 : 1000000; i > 0; i--)
		__asm__ volatile(".rept 16\n vpaddd %%zmm1, %%zmm2, %%zmm3\n .endr" ::: "xmm3");
	return 0;
}
END

failed=0
printf '%-8s %-10s %8s %10s %10s %6s\n' program built natively simulated 'by VEX' times
for program in saxpy dgemm; do
	for how in "AVX-512:-march=native -mprefer-vector-width=512" 'AVX2+FMA:-mavx2 -mfma'; do
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

if gcc -O1 -mavx512f -o "$scratch/each" "$scratch/each.c" && "$scratch/each" > /dev/null 2>&1; then
	echo "$(simulated "$scratch/each") $(simulated "$scratch/each" once)" |
		awk '{ ns = ($1 - $2) * 1000 / 16; printf("an instruction of AVX-512: %.1f ns (budget: 10)\n", ns); exit ns > 10 }' || failed=1
fi
exit $failed
