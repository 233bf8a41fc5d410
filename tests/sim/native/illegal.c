/* SPDX-License-Identifier: MIT
 *
 * Linked with a program: says where it was when SIGILL came, and what it sees then.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

int main(int argc, char **argv);

static void on_signal(int number, siginfo_t *info, void *context)
{
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *code = (const unsigned char *)registers[REG_RIP];

	printf("signal %d at main%+ld, code %d, %s:", number,
		(long)(code - (const unsigned char *)main), info->si_code,
		info->si_addr == code ? "its address" : "another address");
	for (int i = 0; i < 6; i++)
		printf(" %02x", code[i]);
	printf(", stack %lld\n", registers[REG_RSP] & 15);
	fflush(stdout);
	_exit(128 + number);
}

__attribute__((constructor)) static void begin(void)
{
	struct sigaction action = {
		.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGILL, &action, NULL);
}
