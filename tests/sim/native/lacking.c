/* SPDX-License-Identifier: MIT
 *
 * A program's view of a host without AVX-512; with an argument, without VP2INTERSECT,
 * which few hosts have.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

extern char wide[], rare[];
static char *tried = wide;

static void on_signal(int number, siginfo_t *info, void *context)
{
	unsigned a = 7, b, c = 0, d;
	long long at = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)number;
	printf("SIGILL %s\n", at == (long long)tried && info->si_addr == (void *)tried
				      ? "at its instruction"
				      : "elsewhere");
	if (tried == rare)
		exit(0);
	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	printf("AVX-512 is %s\n", b >> 16 & 1 ? "shown" : "not shown");
	exit(0);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	(void)argv;
	sigaction(SIGILL, &action, NULL);
	if (argc > 1) {
		tried = rare;
		/* vp2intersectd %zmm1, %zmm0, %k0 */
		__asm__ volatile("rare: .byte 0x62, 0xf2, 0x7f, 0x48, 0x68, 0xc1");
		printf("executed\n");
		return 0;
	}
	__asm__ volatile("wide: vpxord %%zmm1, %%zmm1, %%zmm1" ::: "xmm1");
	printf("executed\n");
	return 0;
}
