/* SPDX-License-Identifier: MIT
 * One instruction that the simulated CPU does not have, nor many real ones.
 */
#include <stdio.h>

int main(void)
{
	puts("before");
	fflush(stdout);
#ifdef __x86_64__
	__asm__ volatile("vpxord %%zmm16, %%zmm16, %%zmm16" ::: "memory");
#else
	__builtin_trap();
#endif
	puts("after");
	return 0;
}
