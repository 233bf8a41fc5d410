/* SPDX-License-Identifier: MIT
 *
 * Goes ROUNDS times through BLOCKS blocks of two lines each, which touch no data: each
 * line is fetched once a round, by its first instruction.
 *
 *	lines ROUNDS
 */
#include <stdlib.h>

#if defined(__x86_64__)
/* 15 instructions of eight bytes, and a jump. */
#define BLOCK                                                                            \
	".rept 15\n\t.byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n\t.endr\n\t"                 \
	"jmp 1f\n\t.balign 128\n1:\n\t"
#else
#define BLOCK ".rept 31\n\tnop\n\t.endr\n\tb 1f\n1:\n\t"
#endif

__attribute__((noinline)) static void blocks(void)
{
	__asm__ volatile(".balign 128\n\t.rept 1000\n\t" BLOCK ".endr");
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;

	for (int i = 0; i < rounds; i++)
		blocks();
	return 0;
}
