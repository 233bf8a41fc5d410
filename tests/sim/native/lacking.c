/* SPDX-License-Identifier: MIT
 *
 * What a program sees on a host without AVX-512.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

extern char wide[];

static void on_signal(int number, siginfo_t *info, void *context)
{
	unsigned a = 7, b, c = 0, d;
	long long at = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)number;
	printf("SIGILL %s\n", at == (long long)wide && info->si_addr == (void *)wide
				      ? "at its instruction"
				      : "elsewhere");
	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	printf("AVX-512 is %s\n", b >> 16 & 1 ? "shown" : "not shown");
	exit(0);
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	sigaction(SIGILL, &action, NULL);
	__asm__ volatile("wide: vpxord %%zmm1, %%zmm1, %%zmm1" ::: "xmm1");
	printf("executed\n");
	return 0;
}
