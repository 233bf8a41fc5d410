/* SPDX-License-Identifier: MIT
 *	own_frames nothing|end|zeros
 * Returns from a signal (rt_sigreturn) where there is no frame of one: at an address that
 * has nothing, at the end of all, in zeros.  The handler prints the signal.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__

static sigjmp_buf back;
static char zeros[1 << 16] __attribute__((aligned(4096)));

static void handle(int number)
{
	siglongjmp(back, number);
}

static void return_from(unsigned long stack)
{
	__asm__ volatile("mov %0, %%rsp\n"
			 "mov $15, %%eax\n"
			 "syscall\n" ::"r"(stack)
			 : "rax", "memory");
}

int main(int argc, char **argv)
{
	const char *where = argc > 1 ? argv[1] : "nothing";
	stack_t other = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
	int number;

	sigaltstack(&other, NULL);
	sigaction(SIGSEGV, &action, NULL);
	number = sigsetjmp(back, 1);
	if (number == 0 && strcmp(where, "zeros") == 0)
		return_from((unsigned long)zeros + sizeof(zeros) / 2);
	else if (number == 0)
		return_from(strcmp(where, "end") == 0 ? 0x7ffffffffff8 : 0x123456789000);
	printf("%d\n", number);
	return 0;
}

#else

int main(void)
{
	return 0;
}

#endif
