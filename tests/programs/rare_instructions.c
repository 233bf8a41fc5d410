/* SPDX-License-Identifier: MIT
 *	rare_instructions NAME
 * Executes one of them, and prints the signal that it raises; 0: none.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#ifdef __x86_64__

static sigjmp_buf back;
static char area[4096] __attribute__((aligned(4096)));

static void handle(int number)
{
	siglongjmp(back, number);
}

static void execute(const char *name)
{
	if (strcmp(name, "clzero") == 0)
		__asm__ volatile(".byte 0x0f, 0x01, 0xfc" ::"a"(area) : "memory");
	else if (strcmp(name, "rdpru") == 0)
		__asm__ volatile(".byte 0x0f, 0x01, 0xfd" ::"c"(0) : "rax", "rdx", "cc");
	else if (strcmp(name, "xsavec") == 0)
		__asm__ volatile("xsavec (%0)" ::"r"(area), "a"(3), "d"(0) : "memory");
	else if (strcmp(name, "movdir64b") == 0)
		__asm__ volatile(
			".byte 0x66, 0x0f, 0x38, 0xf8, 0x3e" ::"S"(area), "D"(area)
			: "memory");
}

int main(int argc, char **argv)
{
	int number;

	signal(SIGILL, handle);
	signal(SIGSEGV, handle);
	number = sigsetjmp(back, 1);
	if (number == 0)
		execute(argc > 1 ? argv[1] : "");
	printf("%d\n", number);
	return 0;
}

#else

int main(void)
{
	return 0;
}

#endif
