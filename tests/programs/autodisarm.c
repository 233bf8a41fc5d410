// SPDX-License-Identifier: MIT
// Asks for a signal stack that is none while a handler runs on it, and for a usual one.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

static void ask(int flags)
{
	static char stack[1 << 16];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack), .ss_flags = flags};
	int result = sigaltstack(&other, NULL);

	printf("%d %s\n", result, result ? strerror(errno) : "");
}

int main(void)
{
	ask((int)SS_AUTODISARM);
	ask((int)SS_AUTODISARM);
	ask(0);
	return 0;
}
