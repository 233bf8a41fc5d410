/* SPDX-License-Identifier: MIT
 *
 * Has, in a function that is not called, an instruction that it is told of when it is
 * compiled (CODE, bytes), and with CHOOSES one that asks the processor what it has.
 */
#include <stdio.h>

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...) TEXT_OF(__VA_ARGS__)

__attribute__((noinline, used)) void foreign(void);

void foreign(void)
{
#ifdef CODE
	__asm__ volatile(".byte " TEXT(CODE));
#endif
#ifdef CHOOSES
	__asm__ volatile("cpuid" ::: "rax", "rbx", "rcx", "rdx");
#endif
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		foreign();
	puts("done");
	return 0;
}
