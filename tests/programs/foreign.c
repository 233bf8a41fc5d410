/* SPDX-License-Identifier: MIT
 *
 * Has an instruction that it is told of when it is compiled (CODE, bytes), and executes
 * it if it has an argument.
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
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		foreign();
	puts("done");
	return 0;
}
