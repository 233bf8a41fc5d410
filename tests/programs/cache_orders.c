/* SPDX-License-Identifier: MIT
 * cache_orders WHAT LINES: what instructions tell the caches, and a load behind it, of so
 * many lines next to each other that were stored to.
 */
#if defined(__x86_64__)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char memory[1 << 20] __attribute__((aligned(4096)));

#define EACH(name, code)                                                                 \
	static void name(long lines)                                                     \
	{                                                                                \
		char *at = memory;                                                       \
                                                                                         \
		__asm__ volatile("1:\n\t" code "\n\tadd $64, %0\n\tdec %1\n\tjnz 1b"     \
				 : "+r"(at), "+r"(lines)                                 \
				 :                                                       \
				 : "eax", "memory", "cc");                               \
	}

EACH(nothing, "movb $1, (%0); nopw (%0); movb (%0), %%al")
EACH(flush, "movb $1, (%0); clflush (%0); movb (%0), %%al")
EACH(flush_middle, "movb $1, (%0); clflush 17(%0); movb (%0), %%al")
EACH(flush_weakly, "movb $1, (%0); .byte 0x66; clflush (%0); movb (%0), %%al")
EACH(flush_loaded, "movb (%0), %%al; clflush (%0); movb (%0), %%al")
EACH(write_back, "movb $1, (%0); clwb (%0); movb (%0), %%al")
EACH(write_back_twice, "movb $1, (%0); clwb (%0); movb $1, (%0); clwb (%0)")
EACH(demote, "movb $1, (%0); mov %0, %%rax; .byte 0x0f, 0x1c, 0x00; movb (%0), %%al")

static const struct {
	const char *name;
	void (*run)(long lines);
} ways[] = {
	{"nothing", nothing},
	{"flush", flush},
	{"flush-middle", flush_middle},
	{"flush-weakly", flush_weakly},
	{"flush-loaded", flush_loaded},
	{"write-back", write_back},
	{"write-back-twice", write_back_twice},
	{"demote", demote},
};

int main(int argc, char **argv)
{
	for (unsigned i = 0; argc == 3 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i].name) == 0)
			ways[i].run(atol(argv[2]));
	return 0;
}
#else
int main(void)
{
	return 0;
}
#endif
