/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The instructions of every processor that VEX does not decode, or only in another
 * spelling, and one that nobody has: one after the other with random registers, flags,
 *memory and x87 stack, and in a line what each leaves behind.  The same seed makes the
 *same lines, natively or simulated.
 *
 *	missing SEED STATES [bases]	"bases": with RDFSBASE and its like
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/sim/native/chance.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
enum { PAGE = 4096, NUMBERS = 8 };

/* --- Executing --- */

/* As FNSAVE has it. */
struct x87 {
	uint32_t control, status, tags, places[4];
	uint8_t values[NUMBERS][10];
} __attribute__((packed));

struct state {
	uint64_t general[16];
	uint64_t flags;
	struct x87 x87;
};

struct state state;
uint64_t own_stack;
void *code_to_call;
void execute(void), come_back(void);

__asm__(".macro each_general what\n"
	"	\\what 0, %rax\n	\\what 1, %rcx\n	\\what 2, %rdx\n"
	"	\\what 3, %rbx\n	\\what 5, %rbp\n	\\what 6, %rsi\n"
	"	\\what 7, %rdi\n	\\what 8, %r8\n	\\what 9, %r9\n"
	"	\\what 10, %r10\n	\\what 11, %r11\n	\\what 12, %r12\n"
	"	\\what 13, %r13\n	\\what 14, %r14\n	\\what 15, %r15\n"
	".endm\n"
	".macro take n, r\n	mov state+8*\\n(%rip), \\r\n.endm\n"
	".macro keep n, r\n	mov \\r, state+8*\\n(%rip)\n.endm\n"
	".globl execute\n"
	"execute:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, own_stack(%rip)\n"
	"	frstor state+136(%rip)\n"
	"	lea state+128(%rip), %rsp\n"
	"	popfq\n"
	"	each_general take\n"
	"	mov state+32(%rip), %rsp\n"
	"	jmp *code_to_call(%rip)\n"
	".globl come_back\n"
	"come_back:\n"
	"	each_general keep\n"
	"	mov %rsp, state+32(%rip)\n"
	"	mov own_stack(%rip), %rsp\n"
	"	pushfq; pop state+128(%rip)\n"
	"	cld\n"
	"	fnsave state+136(%rip)\n"
	"	fninit\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n");

static sigjmp_buf escape;
static uint64_t faulted[19]; /* general registers, RIP, signal, address */

static void on_fault(int signal, siginfo_t *info, void *context)
{
	const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
		REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13,
		REG_R14, REG_R15, REG_RIP};

	for (unsigned i = 0; i < sizeof(order) / sizeof(*order); i++)
		faulted[i] = (uint64_t)r[order[i]];
	faulted[17] = (uint64_t)signal;
	faulted[18] = (uint64_t)info->si_addr;
	siglongjmp(escape, 1);
}

/* --- Code --- */

/* The code; memory, and behind its pages one that cannot be accessed. */
static uint8_t *code, *memory, *saved_area;
enum { PAGES = 3 };
static uint8_t *to;

static void put(unsigned byte)
{
	*to++ = (uint8_t)byte;
}

static void put_text(const char *bytes, unsigned n)
{
	memcpy(to, bytes, n);
	to += n;
}
#define PUT(text) put_text(text, sizeof(text) - 1)

/* One with a register that is not the stack's, and with its base in %rbx or %r13. */
struct operand {
	unsigned rex, modrm, has_sib, sib;
	int displacement;
};

static struct operand choose_operand(int may_be_register)
{
	unsigned reg = below(16), rm = below(16), base = below(2) ? RBX : 13;

	reg += (reg == RSP);
	rm += (rm == RSP);
	if (may_be_register && below(2))
		return (struct operand){.rex = 0x40 | (reg >> 3) << 2 | rm >> 3,
			.modrm = 0xc0 | (reg & 7) << 3 | (rm & 7)};
	if (below(4) == 0)
		return (struct operand){.rex = 0x40 | (reg >> 3) << 2,
			.modrm = 5 | (reg & 7) << 3,
			.displacement = (int)below(PAGE)};
	if (below(2))
		return (struct operand){.rex = 0x40 | (reg >> 3) << 2 | base >> 3,
			.modrm = 0x44 | (reg & 7) << 3,
			.has_sib = 1,
			.sib = below(4) << 6 | RCX << 3 | (base & 7)};
	return (struct operand){.rex = 0x40 | (reg >> 3) << 2 | base >> 3,
		.modrm = 0x40 | (reg & 7) << 3 | (base & 7)};
}

/* Behind the opcode.  What is counted from the instruction's end on lies in memory. */
static void put_operand(const struct operand *o)
{
	int distance;

	put(o->modrm);
	if (o->modrm >= 0xc0)
		return;
	if (o->has_sib)
		put(o->sib);
	if (o->modrm >> 6 == 1) {
		put(below(256));
		return;
	}
	distance = (int)(memory - (to + 4)) + o->displacement;
	memcpy(to, &distance, 4);
	to += 4;
}

static void with_operand(unsigned prefix, const char *opcode, int may_be_register)
{
	struct operand o = choose_operand(may_be_register);

	if (prefix)
		put(prefix);
	if (o.rex != 0x40 || below(2))
		put(o.rex);
	for (; *opcode; opcode++)
		put((uint8_t)*opcode);
	put_operand(&o);
}

/* --- The instructions --- */

static void movsxd(void)
{
	with_operand(below(3) ? 0 : 0x66, "\x63", 1);
}

static void movzx(void)
{
	with_operand(0x66, below(2) ? "\x0f\xb7" : "\x0f\xbf", 1);
}

static void lea(void)
{
	with_operand(0x66, "\x8d", 0);
}

static void ficom(void)
{
	struct operand o = choose_operand(0);

	o.modrm = (o.modrm & 0xc7) | (2 + below(2)) << 3;
	if (o.rex != 0x40)
		put(o.rex);
	put(below(2) ? 0xda : 0xde);
	put_operand(&o);
}

static void pop(void)
{
	unsigned reg = below(16), w = below(2);

	reg += (reg == RSP);
	if (below(2))
		put(0x66);
	put(0x40 | w << 3 | reg >> 3);
	put(0x8f);
	put(0xc0 | (reg & 7));
}

static void xlat(void)
{
	if (below(2))
		put(0x48);
	put(0xd7);
}

static void cmps(void)
{
	if (below(2))
		put(0x66);
	if (below(2))
		put(0x48);
	put(0xa6 + below(2));
}

static void enter(void)
{
	if (below(2))
		PUT("\x66\x48");
	put(0xc8);
	put(below(256));
	put(below(4));
	put(below(2) ? below(4) : below(256));
}

static void leave(void)
{
	PUT("\x66\x48\xc9");
}

static void on_x87(void)
{
	static const char *const opcodes[] = {
		"\xd9\xe4", "\xd9\xf6", "\xdf\xc1", "\xdf\xc6", "\xdf\xc7", "\xdf\xc0"};
	PUT("\x90");
	put_text(opcodes[below(6)], 2);
}

static void pause_not(void)
{
	PUT("\xf2\x90");
}

/* UD2; what comes to be in its place is executed. */
static void undefined(void)
{
	PUT("\x0f\x0b");
}

/* Behind movq %rbx, %xmm1; with %edx:%eax = 7, so that %xmm1 comes back to %rcx. */
static void xsaveopt(void)
{
	uint64_t area = (uint64_t)saved_area;

	PUT("\x66\x48\x0f\x6e\xcb\x31\xd2\xb8\x07\0\0\0\x48\xbf");
	put_text((const char *)&area, 8);
	if (below(2))
		put(0x48);
	PUT("\x0f\xae\x37\x66\x0f\xef\xc9\x0f\xae\x2f\x66\x48\x0f\x7e\xc9");
	PUT("\x31\xff"); /* xor %edi, %edi: where that lies is nobody's business */
}

/* rdfsbase %rax; xor %fs:0, %rax, which is the same word; [wrgsbase %rbx; rdgsbase %rcx;
 * mov %gs:8, %rdx; wrgsbase of 0]; wrfsbase of itself. */
static void bases(void)
{
	PUT("\xf3\x48\x0f\xae\xc0\xf3\x48\x0f\xae\xd0\x64\x48\x33\x04\x25\0\0\0\0");
	if (below(4) == 0)
		PUT("\x48\xc1\xe3\x10"); /* shl $16, %rbx */
	if (below(4))
		PUT("\xf3\x48\x0f\xae\xdb\xf3\x48\x0f\xae\xc9\x65\x48\x8b\x14\x25\x08\0\0"
		    "\0\x31\xdb\xf3\x48\x0f\xae\xdb");
	else
		PUT("\xf3\x41\x0f\xae\xdd\xf3\x0f\xae\xc9\x31\xdb\xf3\x48\x0f\xae\xdb");
}

static void (*const makers[])(void) = {movsxd, movzx, lea, ficom, pop, xlat, cmps, enter,
	leave, on_x87, pause_not, undefined, xsaveopt, bases};
enum { MAKERS = sizeof(makers) / sizeof(*makers) };

/* --- A state --- */

static uint64_t place(void)
{
	unsigned from_end = below(8) ? 256 + below(2000) : below(40);

	return (uint64_t)(memory + PAGES * PAGE - from_end);
}

static void fill_x87(void)
{
	memset(&state.x87, 0, sizeof(state.x87));
	state.x87.control = 0x37f;
	state.x87.status = below(8) << 11;
	state.x87.tags = 0;
	for (unsigned i = 0; i < NUMBERS; i++) {
		/* Integers that are small enough for any precision; 0, too. */
		int64_t number = below(3) ? (int64_t)below(70000) - 35000 : 0;
		long double value = (long double)number;

		memcpy(state.x87.values[i], &value, sizeof(state.x87.values[i]));
		if (below(4) == 0)
			state.x87.tags |= 3u << 2 * i;
	}
}

static void fill(void)
{
	for (unsigned i = 0; i < 16; i++)
		state.general[i] = random64();
	state.general[RCX] = below(16);
	state.general[RBX] = place();
	state.general[13] = place();
	state.general[RSI] = place();
	state.general[RDI] = below(4) ? place() : state.general[RSI];
	state.general[RSP] = (place() - 1400) & ~7ull;
	state.general[RBP] = (place() - 256) & ~7ull;
	state.flags = 0x202 | (random64() & 0x8d5) | (below(2) ? 0x400 : 0);
	for (unsigned i = 0; i < PAGES * PAGE; i += 8) {
		uint64_t word = below(4) ? random64() & 0x0101010101010101 : random64();

		memcpy(memory + i, &word, 8);
	}
	fill_x87();
}

/* --- What it came to --- */

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 1099511628211ull;
	return h << 29 | h >> 35;
}

static uint64_t hash(const void *of, size_t size)
{
	uint64_t h = 14695981039346656037ull, word;

	for (const uint8_t *at = of, *end = at + size / 8 * 8; at < end; at += 8) {
		memcpy(&word, at, 8);
		h = mix(h, word);
	}
	return h;
}

/* Condition bits and the top; which registers are empty; the others' values. */
static uint64_t hash_x87(void)
{
	const struct x87 *x = &state.x87;
	unsigned top = x->status >> 11 & 7;
	uint64_t h = mix(1, x->status & 0x7f00), word;

	for (unsigned i = 0; i < NUMBERS; i++) {
		unsigned number = (top + i) & 7;
		int is_empty = (x->tags >> 2 * number & 3) == 3;

		memcpy(&word, x->values[i], 8);
		h = mix(h, is_empty ? 1 : word);
	}
	return h;
}

static void report(const uint8_t *end, int has_faulted, int is_base)
{
	for (const uint8_t *at = code; at < end; at++)
		printf("%02x", *at);
	if (has_faulted) {
		faulted[16] -= (uint64_t)code;
		printf(" signal %d at %d of %ld: %016lx %016lx\n", (int)faulted[17],
			(int)faulted[16],
			is_base ? 0 : (long)(faulted[18] - (uint64_t)memory),
			is_base ? 0 : hash(faulted, 16 * 8), hash(memory, PAGES * PAGE));
		return;
	}
	printf(" %016lx %016lx %03lx %016lx\n",
		hash(state.general, sizeof(state.general)), hash(memory, PAGES * PAGE),
		state.flags & 0xcd5, hash_x87());
}

static void try_one(unsigned maker)
{
	volatile int has_faulted = 0;
	uint8_t *end;
	void *back = (void *)come_back;

	to = code;
	makers[maker]();
	end = to;
	PUT("\xff\x25\0\0\0\0"); /* jmp *0(%rip) */
	memcpy(to, &back, 8);
	fill();
	code_to_call = code;
	if (sigsetjmp(escape, 1))
		has_faulted = 1;
	else
		execute();
	report(end, has_faulted, makers[maker] == bases);
}

static void catch_faults(void)
{
	static const int signals[] = {SIGILL, SIGSEGV, SIGBUS};
	static char own[65536];
	stack_t other = {.ss_sp = own, .ss_size = sizeof(own)};
	struct sigaction action = {
		.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigaltstack(&other, NULL);
	for (unsigned s = 0; s < sizeof(signals) / sizeof(*signals); s++)
		sigaction(signals[s], &action, NULL);
}

int main(int argc, char **argv)
{
	unsigned makes = argc > 3 ? MAKERS : MAKERS - 1;
	uint8_t *all = mmap((void *)0x200000000000, (3 + PAGES) * PAGE,
		PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc < 3 || all == MAP_FAILED)
		return 2;
	code = all;
	saved_area = all + PAGE;
	memory = all + 2 * PAGE;
	mprotect(memory + PAGES * PAGE, PAGE, PROT_NONE);
	chance = strtoull(argv[1], NULL, 10) * 0x9e3779b97f4a7c15ull + 1;
	catch_faults();
	for (int i = atoi(argv[2]); i > 0; i--)
		try_one(below(makes));
	return 0;
}
