/* SPDX-License-Identifier: MIT
 * What a program learns of the CPU, and does with it.
 */
#include <stdio.h>

#ifdef __x86_64__
#include <cpuid.h>

static int sum(void)
{
	int numbers[16], total;

	for (int i = 0; i < 16; i++)
		numbers[i] = i + 1;
	/* Halves are added to halves. */
	__asm__("vmovdqu32 %1, %%zmm1\n"
		"vextracti32x8 $1, %%zmm1, %%ymm0\n vpaddd %%ymm0, %%ymm1, %%ymm1\n"
		"vextracti128 $1, %%ymm1, %%xmm0\n vpaddd %%xmm0, %%xmm1, %%xmm1\n"
		"vpshufd $0x4e, %%xmm1, %%xmm0\n vpaddd %%xmm0, %%xmm1, %%xmm1\n"
		"vpshufd $0xb1, %%xmm1, %%xmm0\n vpaddd %%xmm0, %%xmm1, %%xmm1\n"
		"vmovd %%xmm1, %0"
		: "=r"(total)
		: "m"(numbers)
		: "xmm0", "xmm1");
	return total;
}

int main(void)
{
	unsigned vendor[4], limit;

	__cpuid(0, limit, vendor[0], vendor[2], vendor[1]);
	printf("%.12s\n", (const char *)vendor);
	printf("avx512f %d\n", __builtin_cpu_supports("avx512f") != 0);
	if (__builtin_cpu_supports("avx512f"))
		printf("computed %d\n", sum());
	return limit == 0;
}
#else
int main(void)
{
	return 0;
}
#endif
