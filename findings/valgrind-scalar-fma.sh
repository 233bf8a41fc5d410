#!/bin/sh
# SPDX-License-Identifier: MIT
# Valgrind 3.19.0: a fused multiply-add of one single clears the other three of its register, which
# the processor leaves as they are.  Seen: "46 2 3 4" alone, "46 0 0 0" by valgrind --tool=none.
. "$(dirname "$0")/common.sh"
grep -qw fma /proc/cpuinfo || cannot "this processor has no fused multiply-add"
need valgrind=1:3.19.0-1
cat > fma.c <<'END'
#include <stdio.h>

int main(void)
{
	float sum[4] = {1, 2, 3, 4}, a[4] = {5, 6, 7, 8}, b[4] = {9, 10, 11, 12};
	__asm__ volatile("movups %0, %%xmm0\n\tmovups %1, %%xmm1\n\tmovups %2, %%xmm2\n\t"
			 "vfmadd231ss %%xmm1, %%xmm2, %%xmm0\n\tmovups %%xmm0, %0"
			 : "+m"(sum) : "m"(a), "m"(b) : "xmm0", "xmm1", "xmm2");
	printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
	return 0;
}
END
cc -O1 -o fma fma.c
same "the register behind vfmadd231ss, alone" "46 2 3 4" "$(./fma)"
same "the register behind vfmadd231ss, by Valgrind" "46 0 0 0" "$(valgrind -q --tool=none ./fma)"
