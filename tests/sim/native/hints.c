/* SPDX-License-Identifier: MIT
 *
 * Hints: encodings that change nothing, or nothing that a program sees, on whichever
 * processor has no use for them; and prefixes that hint.  Each is executed, and what
 * comes of it is printed: "bytes: N" of %rax and flags, or "bytes: signal N".
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { LONGEST = 15, PAGE = 4096 };

static sigjmp_buf escape;
static char *code;
static uint64_t memory[16];

static void on_signal(int number)
{
	siglongjmp(escape, number);
}

static char *put(char *to, const void *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

#define PUT(to, bytes) put(to, bytes, sizeof(bytes) - 1)

/* uint64_t (memory, %rsi, %rdx, %rcx): the instruction, then %rax and the flags. */
static void make(const uint8_t *bytes, unsigned n)
{
	char *to = code;

	/* mov $0x1234, %eax; push %rbx; push $0x246; popf */
	to = PUT(to, "\xb8\x34\x12\0\0\x53\x68\x46\x02\0\0\x9d");
	to = put(to, bytes, n);
	/* pushf; pop %rdx; and $0xcd5, %edx: the arithmetic's, and DF */
	to = PUT(to, "\x9c\x5a\x81\xe2\xd5\x0c\0\0");
	/* shl $32, %rdx; or %rdx, %rax; pop %rbx; ret */
	PUT(to, "\x48\xc1\xe2\x20\x48\x09\xd0\x5b\xc3");
}

static void try(const uint8_t *bytes, unsigned n)
{
	uint64_t (*function)(void *, uint64_t, uint64_t, uint64_t) =
		(uint64_t(*)(void *, uint64_t, uint64_t, uint64_t))(uintptr_t)code;
	int number = sigsetjmp(escape, 1);
	uint64_t is = 0;

	if (!number) {
		memset(code, 0xcc, 256);
		memset(memory, 0x11, sizeof(memory));
		make(bytes, n);
		is = function(memory, 1, 2, 3);
	}
	for (unsigned i = 0; i < n; i++)
		printf("%02x", bytes[i]);
	if (number)
		printf(": signal %d\n", number);
	else
		printf(": %llx %llx\n", (unsigned long long)is,
			(unsigned long long)memory[0]);
}

/* 0F 0D and 0F 18 to 0F 1F of every kind: in memory, with a displacement and an index,
 * and in a register. */
static void groups(const uint8_t *prefix, unsigned nprefix)
{
	static const struct {
		uint8_t bytes[4], n;
	} operands[] = {{{0x07}, 1}, {{0x47, 8}, 2}, {{0x44, 0x37, 8}, 3}, {{0xc0}, 1}};
	uint8_t bytes[LONGEST];

	memcpy(bytes, prefix, nprefix);
	bytes[nprefix] = 0x0f;
	for (unsigned opcode = 0x17; opcode <= 0x1f; opcode++)
		for (unsigned reg = 0; reg < 8; reg++)
			for (unsigned o = 0; o < 4; o++) {
				bytes[nprefix + 1] =
					(uint8_t)(opcode == 0x17 ? 0x0d : opcode);
				memcpy(bytes + nprefix + 2, operands[o].bytes, 4);
				bytes[nprefix + 2] |= (uint8_t)(reg << 3);
				try(bytes, nprefix + 2 + operands[o].n);
			}
}

static const struct {
	uint8_t n, bytes[8];
} others[] = {
	{1, {0x90}},
	{2, {0x66, 0x90}},
	{2, {0xf3, 0x90}},
	{2, {0xf2, 0x90}},
	{2, {0x48, 0x90}},
	{3, {0x66, 0x66, 0x90}},
	{3, {0x66, 0xf3, 0x90}},
	{3, {0xf3, 0x66, 0x90}},
	{3, {0xf3, 0x48, 0x90}},
	{2, {0x2e, 0x90}},
	{2, {0x64, 0x90}},
	{2, {0x67, 0x90}},
	{3, {0x66, 0x2e, 0x90}},
	{4, {0xf3, 0x0f, 0x1e, 0xfa}}, /* endbr64, endbr32 */
	{4, {0xf3, 0x0f, 0x1e, 0xfb}},
	{5, {0x66, 0xf3, 0x0f, 0x1e, 0xfa}},
	{4, {0xf3, 0x0f, 0x1e, 0xc8}}, /* rdsspd, rdsspq */
	{5, {0xf3, 0x48, 0x0f, 0x1e, 0xc8}},
	{5, {0xf3, 0x41, 0x0f, 0x1e, 0xc8}},
	{4, {0xf3, 0x0f, 0xae, 0xee}}, /* incsspd, incsspq */
	{5, {0xf3, 0x48, 0x0f, 0xae, 0xee}},
	/* Behind a prefix that hints: jumps to the next instruction, and calls there. */
	{3, {0x2e, 0x74, 0}},
	{3, {0x3e, 0x74, 0}},
	{3, {0x2e, 0x75, 0}},
	{3, {0x3e, 0x75, 0}},
	{7, {0x2e, 0x0f, 0x84, 0, 0, 0, 0}},
	{7, {0x3e, 0x0f, 0x85, 0, 0, 0, 0}},
	{3, {0xf2, 0x74, 0}},
	{3, {0xf2, 0xeb, 0}},
	{6, {0xf2, 0xe9, 0, 0, 0, 0}},
	{7, {0xf2, 0xe8, 0, 0, 0, 0, 0x5b}},
	{7, {0xf2, 0x0f, 0x85, 0, 0, 0, 0}},
	/* xacquire, xrelease: with lock, xchg without, and a store */
	{4, {0xf2, 0xf0, 0xff, 0x07}},
	{4, {0xf3, 0xf0, 0xff, 0x0f}},
	{4, {0xf0, 0xf2, 0x01, 0x07}},
	{4, {0xf2, 0xf0, 0x29, 0x07}},
	{5, {0xf2, 0xf0, 0x0f, 0xc1, 0x07}},
	{5, {0xf3, 0xf0, 0x0f, 0xb1, 0x07}},
	{5, {0xf2, 0xf0, 0x0f, 0xb0, 0x07}},
	{6, {0xf2, 0xf0, 0x48, 0x0f, 0xb1, 0x07}},
	{5, {0xf2, 0xf0, 0x48, 0xff, 0x07}},
	{5, {0xf3, 0xf0, 0x48, 0x21, 0x07}},
	{5, {0xf2, 0xf0, 0x0f, 0xab, 0x07}},
	{6, {0xf3, 0xf0, 0x0f, 0xba, 0x2f, 1}},
	{5, {0xf2, 0xf0, 0x80, 0x07, 1}},
	{5, {0xf3, 0xf0, 0x83, 0x07, 1}},
	{4, {0xf2, 0xf0, 0xf7, 0x17}},
	{4, {0xf3, 0xf0, 0xf6, 0x1f}},
	{3, {0xf2, 0x87, 0x07}},
	{3, {0xf3, 0x87, 0x07}},
	{3, {0xf2, 0x86, 0x07}},
	{4, {0xf3, 0x48, 0x87, 0x07}},
	{4, {0xf2, 0xf0, 0x87, 0x07}},
	{5, {0xf2, 0xf0, 0x0f, 0xc7, 0x0f}},
	{3, {0xf3, 0x88, 0x07}},
	{3, {0xf3, 0x89, 0x07}},
	{4, {0xf3, 0x48, 0x89, 0x07}},
	{4, {0xf3, 0x66, 0x89, 0x07}},
	{4, {0xf3, 0xc6, 0x07, 1}},
	{7, {0xf3, 0xc7, 0x07, 1, 0, 0, 0}},
};

/* lea 3(%rip), %rbx; notrack jmp *%rbx, and the like. */
static void indirect(void)
{
	static const uint8_t prefixes[] = {0x3e, 0xf2};

	for (unsigned p = 0; p < sizeof(prefixes); p++) {
		uint8_t jump[] = {0x48, 0x8d, 0x1d, 3, 0, 0, 0, prefixes[p], 0xff, 0xe3};
		uint8_t call[] = {
			0x48, 0x8d, 0x1d, 3, 0, 0, 0, prefixes[p], 0xff, 0xd3, 0x5b};
		/* lea 2(%rip), %rbx; push %rbx; ret */
		uint8_t back[] = {0x48, 0x8d, 0x1d, 3, 0, 0, 0, 0x53,
			(uint8_t)(p ? 0xf2 : 0xf3), 0xc3};

		try(jump, sizeof(jump));
		try(call, sizeof(call));
		try(back, sizeof(back));
	}
}

int main(void)
{
	static const struct {
		uint8_t n, bytes[3];
	} prefixes[] = {{0, {0}}, {1, {0x66}}, {1, {0xf3}}, {1, {0xf2}}, {1, {0x48}},
		{2, {0x66, 0x48}}, {2, {0xf3, 0x48}}, {2, {0xf2, 0x48}},
		{2, {0x66, 0xf3}}, {2, {0xf3, 0x66}}, {2, {0x66, 0xf2}}, {1, {0x2e}},
		{1, {0x3e}}, {1, {0x64}}, {1, {0x67}}, {1, {0x40}}, {1, {0x44}},
		{1, {0xf0}}, {2, {0x66, 0x2e}}};
	static const int caught[] = {SIGILL, SIGSEGV, SIGTRAP, SIGBUS};

	code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned s = 0; s < sizeof(caught) / sizeof(*caught); s++)
		signal(caught[s], on_signal);
	for (unsigned p = 0; p < sizeof(prefixes) / sizeof(*prefixes); p++)
		groups(prefixes[p].bytes, prefixes[p].n);
	for (unsigned o = 0; o < sizeof(others) / sizeof(*others); o++)
		try(others[o].bytes, others[o].n);
	indirect();
	return 0;
}
