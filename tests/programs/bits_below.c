// SPDX-License-Identifier: MIT
// Tests, sets, resets and complements bits of registers while the stack is in the middle
// of memory that has other data: prints carry and result of each, and whether the data
// are as they were.
#include <stdint.h>
#include <stdio.h>

#if defined(__x86_64__)
static uint64_t area[256];

// op of the register %rax, with the bit in %rcx, on a stack within area.
#define TRY(op, a, c)                                                                    \
	do {                                                                             \
		uint64_t value = 0x8412000000008412, bit = bit_tried;                    \
		uint8_t carry;                                                           \
                                                                                         \
		__asm__ volatile("mov %%rsp, %%r8\n"                                     \
				 "mov %3, %%rsp\n" op " %%" c ", %%" a "\n"              \
				 "mov %%r8, %%rsp\n"                                     \
				 "setc %1\n"                                             \
				 : "+a"(value), "=q"(carry)                              \
				 : "c"(bit), "r"(&area[128])                             \
				 : "r8", "cc", "memory");                                \
		printf(op " %d: %d %llx\n", bit_tried, carry,                            \
			(unsigned long long)value);                                      \
	} while (0)

#define TRY_ALL(op)                                                                      \
	do {                                                                             \
		TRY(op "w", "ax", "cx");                                                 \
		TRY(op "l", "eax", "ecx");                                               \
		TRY(op "q", "rax", "rcx");                                               \
	} while (0)

int main(void)
{
	unsigned changed = 0;

	for (unsigned i = 0; i < 256; i++)
		area[i] = ~(uint64_t)i;
	for (int bit_tried = 0; bit_tried < 70; bit_tried += 5) {
		TRY_ALL("bt");
		TRY_ALL("bts");
		TRY_ALL("btr");
		TRY_ALL("btc");
	}
	for (unsigned i = 0; i < 256; i++)
		changed += area[i] != ~(uint64_t)i;
	printf("%u words are others\n", changed);
	return 0;
}
#else
int main(void)
{
	puts("of x86-64");
	return 0;
}
#endif
