/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Single instructions, with random registers, masks, flags, rounding and memory: what
 * each leaves behind, in a line; at last how many of each feature were executed, were
 * refused (SIGILL), or faulted.  The same seed makes the same lines, natively or
 * simulated.
 *
 *	fuzz SEED STEP [WHICH [STATES]]		every STEP-th encoding of the table, from
 *a random one on, each in so many states
 *
 * WHICH: "ours", those that VEX does not decode, or decodes badly, if not given; "wide",
 * those of AVX-512; "all".  With several states there is one line for an encoding, and
 * after SIGILL nothing more of it; with "each" as a fifth word one for each state.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/sim/native/chance.h"
#include "tools/sim/native/shape.h"

/* --- Executing --- */

struct state {
	uint8_t zmm[32][64];
	uint64_t mask[8];
	uint64_t general[16]; /* the 5th, the stack's, is left alone */
	uint64_t flags;
	uint32_t mxcsr, mxcsr_behind;
};

_Static_assert(offsetof(struct state, mask) == 2048 &&
		       offsetof(struct state, general) == 2112 &&
		       offsetof(struct state, flags) == 2240,
	"execute() knows these places");

void *volatile code_to_call;
#define GENERAL_FROM_STATE                                                               \
	"	push 2240(%rdi); popfq\n"                                                      \
	"	mov 2112(%rdi), %rax; mov 2120(%rdi), %rcx; mov 2128(%rdi), %rdx\n"            \
	"	mov 2136(%rdi), %rbx; mov 2152(%rdi), %rbp; mov 2160(%rdi), %rsi\n"            \
	"	mov 2176(%rdi), %r8; mov 2184(%rdi), %r9; mov 2192(%rdi), %r10\n"              \
	"	mov 2200(%rdi), %r11; mov 2208(%rdi), %r12; mov 2216(%rdi), %r13\n"            \
	"	mov 2224(%rdi), %r14; mov 2232(%rdi), %r15; mov 2168(%rdi), %rdi\n"
#define GENERAL_TO_STATE                                                                 \
	"	push %rax; pushfq; mov 16(%rsp), %rax; stmxcsr 2252(%rax)\n"                   \
	"	mov %rcx, 2120(%rax); mov %rdx, 2128(%rax); mov %rbx, 2136(%rax)\n"            \
	"	mov %rbp, 2152(%rax); mov %rsi, 2160(%rax); mov %rdi, 2168(%rax)\n"            \
	"	mov %r8, 2176(%rax); mov %r9, 2184(%rax); mov %r10, 2192(%rax)\n"              \
	"	mov %r11, 2200(%rax); mov %r12, 2208(%rax); mov %r13, 2216(%rax)\n"            \
	"	mov %r14, 2224(%rax); mov %r15, 2232(%rax)\n"                                  \
	"	pop 2240(%rax); pop 2112(%rax)\n"
#define EXECUTE(name, load, store)                                                       \
	__asm__(".globl " name "\n" name ":\n"                                           \
		"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push "          \
		"%r15\n"                                                                 \
		"	push %rdi\n"                                                           \
		"	ldmxcsr 2248(%rdi)\n" load GENERAL_FROM_STATE                    \
		"	call *code_to_call(%rip)\n" GENERAL_TO_STATE store               \
		"	vzeroupper\n"                                                          \
		"	pop %rdi; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp\n"          \
		"	pop %rbx; ret\n")

__asm__(".altmacro\n"
	".macro load_zmm n\n	vmovdqu64 \\n*64(%rdi), %zmm\\n\n.endm\n"
	".macro save_zmm n\n	vmovdqu64 %zmm\\n, \\n*64(%rax)\n.endm\n"
	".macro load_ymm n\n	vmovdqu \\n*64(%rdi), %ymm\\n\n.endm\n"
	".macro save_ymm n\n	vmovdqu %ymm\\n, \\n*64(%rax)\n.endm\n"
	".macro load_mask n\n	kmovq 2048+\\n*8(%rdi), %k\\n\n.endm\n"
	".macro save_mask n\n	kmovq %k\\n, 2048+\\n*8(%rax)\n.endm\n"
	".macro repeat what, times\n	.set i, 0\n	.rept times\n	what %i\n"
	"	.set i, i+1\n	.endr\n.endm\n");

/* On a machine with AVX-512, and on one without. */
typedef void execution(struct state *state);
execution execute_wide, execute_narrow;
EXECUTE("execute_wide", "	repeat load_zmm, 32\n	repeat load_mask, 8\n",
	"	repeat save_zmm, 32\n	repeat save_mask, 8\n");
EXECUTE("execute_narrow", "	repeat load_ymm, 16\n", "	repeat save_ymm, 16\n");
static execution *execute;

static const uint32_t usual_mxcsr = 0x1f80;
static sigjmp_buf escape;
static volatile struct {
	int signal;
	uintptr_t at, code;
} fault;

static void on_fault(int signal, siginfo_t *info, void *context)
{
	__asm__ volatile("ldmxcsr %0" ::"m"(usual_mxcsr));
	fault.signal = signal;
	fault.at = (uintptr_t)info->si_addr;
	fault.code = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	siglongjmp(escape, 1);
}

static void catch_faults(void)
{
	static const int signals[] = {SIGILL, SIGSEGV, SIGFPE, SIGBUS};
	struct sigaction action = {
		.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

	for (unsigned i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
}

/* CPUID does not tell, in the simulator. */
static int has_wide(void)
{
	if (sigsetjmp(escape, 1))
		return 0;
	__asm__ volatile("kmovq %%k1, %%rax; vmovdqu64 %%zmm31, %%zmm31" ::: "rax");
	return 1;
}

/* --- An instruction --- */

struct field_values {
	unsigned reg, rm, vvvv, mask, zeroing, index, base;
};

struct instruction {
	uint8_t bytes[48];
	unsigned n, length;   /* length: without what follows it */
	unsigned vectors[3];  /* that its fields may name */
	unsigned is_register; /* it has no operand in memory */
};

/* The form of an encoding, by its key. */
static unsigned form(uint32_t key)
{
	return key >> 18;
}

static unsigned map(uint32_t key)
{
	return key >> 15 & 7;
}

static unsigned number_for(unsigned field, uint32_t key)
{
	unsigned n = below(form(key) == FORM_EVEX ? 32 : 16);

	if (field == FIELD_MASK)
		return n & 7;
	if (field == FIELD_GENERAL)
		return (n & 15) == 4 ? 5 : n & 15;
	return n;
}

enum { RBX = 3, R13 = 13 };

/* Vectors 6 and 22 hold small numbers, for indices; %rcx and %r9 too; the operand is near
 * what %rbx or %r13 point to. */
static struct field_values choose_fields(
	const struct native_encoding *e, const struct native_shape *s)
{
	static const unsigned plain_index[] = {1, 9, 4};
	struct field_values v = {
		.reg = number_for(s->reg, e->key),
		.rm = number_for(s->rm, e->key),
		.vvvv = s->vvvv ? number_for(s->vvvv, e->key) : 0,
		.mask = form(e->key) == FORM_EVEX ? below(8) : 0,
		.zeroing = below(2),
		.base = below(2) ? RBX : R13,
	};

	if (!s->reg) {
		v.reg = below(8);
		while (!(e->regs >> v.reg & 1))
			v.reg = (v.reg + 1) & 7;
	}
	v.index = s->index ? (below(2) && form(e->key) == FORM_EVEX ? 22 : 6)
			   : plain_index[below(3)];
	if (s->index && (v.reg == v.index || !v.mask))
		v.mask = 1, v.reg = 7;
	if (!v.mask || s->index || s->stores || s->reg == FIELD_MASK)
		v.zeroing = 0;
	return v;
}

static void put(struct instruction *to, unsigned byte)
{
	to->bytes[to->n++] = (uint8_t)byte;
}

static void put_prefix(struct instruction *to, uint32_t key, const struct field_values *v,
	unsigned x, unsigned b, unsigned v2)
{
	static const uint8_t mandatory[] = {0, 0x66, 0xf3, 0xf2};
	unsigned w = key >> 12 & 1, pp = key >> 13 & 3, r = v->reg >> 3 & 1;
	unsigned inverted = (r ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5;

	if (form(key) == FORM_LEGACY) {
		if (pp)
			put(to, mandatory[pp]);
		put(to, 0x40 | w << 3 | r << 2 | x << 1 | b);
		put(to, 0x0f);
		if (map(key) > 1)
			put(to, map(key) == 2 ? 0x38 : 0x3a);
		return;
	}
	put(to, form(key) == FORM_EVEX ? 0x62 : 0xc4);
	put(to, inverted | map(key) |
			(form(key) == FORM_EVEX ? (~v->reg >> 4 & 1) << 4 : 0));
	put(to, w << 7 | (~v->vvvv & 15) << 3 | pp |
			(form(key) == FORM_EVEX ? 4 : (key >> 10 & 1) << 2));
	if (form(key) == FORM_EVEX)
		put(to, v->zeroing << 7 | (key >> 10 & 3) << 5 | (key >> 9 & 1) << 4 |
				(~v2 & 1) << 3 | v->mask);
}

/* The instruction behind it clears upper halves, or keeps them.  A jump by way of memory
 * keeps the two apart: a load of registers that the follower clears would not be made,
 * simulated. */
static void put_follower(struct instruction *to, const uint8_t *code)
{
	static const char *const followers[] = {"", "\xc5\xf8\x77", /* vzeroupper */
		"\xc5\xc9\xfe\xf6",  /* vpaddd %xmm6, %xmm6, %xmm6 */
		"\x66\x0f\xfe\xff",  /* paddd %xmm7, %xmm7 */
		"\xc5\xfd\xfe\xc1",  /* vpaddd %ymm1, %ymm0, %ymm0 */
		"\xc5\xf8\x10\xc9"}; /* vmovups %xmm1, %xmm1 */
	const char *follower = followers[below(6)];
	uintptr_t next = (uintptr_t)code + to->n + 14;

	memcpy(to->bytes + to->n, "\xff\x25\0\0\0\0", 6);
	memcpy(to->bytes + to->n + 6, &next, 8);
	to->n += 14;
	for (; *follower; follower++)
		put(to, (uint8_t)*follower);
	put(to, 0xc3); /* ret */
}

static struct instruction make_instruction(const struct native_encoding *e,
	const struct native_shape *s, const uint8_t *code)
{
	struct field_values v = choose_fields(e, s);
	unsigned is_register = e->key >> 8 & 1;
	unsigned x = is_register ? (form(e->key) == FORM_EVEX ? v.rm >> 4 & 1 : 0)
				 : v.index >> 3 & 1;
	unsigned b = is_register ? v.rm >> 3 & 1 : v.base >> 3;
	struct instruction i = {
		.vectors = {v.reg, v.rm, v.vvvv}, .is_register = is_register};

	put_prefix(&i, e->key, &v, x, b, s->index ? v.index >> 4 : v.vvvv >> 4);
	put(&i, e->key & 255);
	if (is_register) {
		put(&i, 0xc0 | (v.reg & 7) << 3 | (v.rm & 7));
	} else {
		put(&i, 0x44 | (v.reg & 7) << 3);
		put(&i, (s->index ? below(4) : 2) << 6 | (v.index & 7) << 3 |
				(v.base & 7));
		put(&i, below(8) - 4);
	}
	for (unsigned n = 0; n < s->immediate; n++)
		put(&i, (unsigned)random64() & 255);
	i.length = i.n;
	put_follower(&i, code);
	return i;
}

/* --- The state before --- */

#define PAGE 4096
static uint8_t *memory; /* a page, before one that cannot be accessed */
enum { PAGES = 2 };

/* Nearly all of a state is filled so: a multiplication for each word. */
static void fill_random(void *to, size_t size)
{
	uint64_t word = random64(), mixed;

	for (uint8_t *at = to, *end = at + size; at < end; at += 8) {
		word += 0x9e3779b97f4a7c15ull;
		mixed = word * 0xd6e8feb86659fd93ull;
		mixed ^= mixed >> 32;
		memcpy(at, &mixed, 8);
	}
}

/* Zero, denormals, one, the largest, infinity, NaNs: of either sign. */
static uint64_t special_number(uint64_t random, int is_double)
{
	static const uint32_t singles[] = {0, 1, 0x00400001, 0x00800000, 0x3f800000,
		0x4f000000, 0x7f7fffff, 0x7f800000, 0x7fc00001, 0x7f800001};
	static const uint64_t doubles[] = {0, 1, 0x0008000000000001, 0x0010000000000000,
		0x3ff0000000000000, 0x41e0000000000000, 0x7fefffffffffffff,
		0x7ff0000000000000, 0x7ff8000000000001, 0x7ff0000000000001};
	uint64_t negative = random & 1;
	unsigned n = (unsigned)(random >> 33) % 10;

	return is_double ? doubles[n] | negative << 63 : singles[n] | negative << 31;
}

/* Numbers that floating-point operations do something with. */
static void fill_lanes(uint8_t *vector, unsigned size)
{
	unsigned kind = below(4), width = kind == 3 ? 8 : 4;

	for (unsigned at = 0; kind && at < size; at += width) {
		uint64_t random = random64();
		float number = (float)((int)(random >> 33) % 2001 - 1000) / 7.0f;
		uint64_t special = special_number(random, kind == 3);

		if (kind == 1)
			memcpy(vector + at, &number, 4);
		else
			memcpy(vector + at, &special, width);
	}
}

/* The memory that the operand may lie in repeats itself. */
static void fill_memory(uint64_t base)
{
	enum { PERIOD = 128 };
	uint8_t *at = memory + base % 8, *end = memory + PAGE - 2 * PERIOD;

	fill_lanes(at, PERIOD);
	for (; at < end; at += PERIOD)
		memcpy(at + PERIOD, at, PERIOD);
}

static void fill_numbers(const struct instruction *i, struct state *s)
{
	for (unsigned n = 0; n < 3; n++)
		fill_lanes(s->zmm[i->vectors[n] & 31], 64);
	fill_lanes(s->zmm[0], 16);
	for (unsigned lane = 0; lane < 8; lane++) {
		uint64_t index = below(200);

		memcpy(s->zmm[6] + 8 * lane, &index, 8);
		memcpy(s->zmm[22] + 8 * lane, &index, 8);
	}
}

/* Any rounding mode, FTZ, DAZ, and exceptions unmasked, one in so many; with an odd seed
 * what VEX's code does itself. */
static uint32_t choose_mxcsr(uint64_t seed, unsigned of)
{
	uint32_t flush = below(2) ? 0 : (uint32_t)random64() & 0x8040;
	uint32_t rounding = below(4) << 13, unmasked = below(of) ? 0 : 0x80u << below(6);

	return seed & 1 ? usual_mxcsr | flush
			: (usual_mxcsr | flush | rounding) & ~unmasked;
}

/* Faults take longer than all else: there are few in the later states. */
static void fill_state(
	const struct instruction *i, struct state *s, uint64_t seed, unsigned nth)
{
	enum { FIRST = 4, FEW = 32 };
	uint8_t *edge = memory + (PAGES - 1) * PAGE;

	fill_random(s, sizeof(*s));
	fill_numbers(i, s);
	s->flags = 0x202;
	s->mxcsr = choose_mxcsr(seed, nth < FIRST ? 8 : FEW);
	s->mxcsr_behind = 0;
	s->general[1] = 64 * below(4);
	s->general[9] = 64 * below(4);
	s->general[4] = 0;
	/* Some operands lie over the edge, or would, if their masks let them. */
	s->general[RBX] = (uintptr_t)memory + 512 + below(64);
	s->general[R13] = (uintptr_t)(below(nth < FIRST ? 4 : FEW) ? memory + 1024
								   : edge - below(200));
	if (!i->is_register || nth == 0)
		fill_memory(s->general[below(2) ? RBX : R13]);
}

/* --- The state behind --- */

/* Words, for speed; a multiplication takes each bit upwards only, a rotation back. */
static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 1099511628211ull;
	return h << 29 | h >> 35;
}

static uint64_t hash(const void *of, size_t size, uint64_t h)
{
	for (const uint64_t *at = of, *end = at + size / sizeof(*at); at < end; at++)
		h = mix(h, *at);
	return h;
}

static void print_code(const struct instruction *i)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * sizeof(i->bytes) + 1], *to = text;

	for (unsigned n = 0; n < i->length; n++) {
		*to++ = digits[i->bytes[n] >> 4];
		*to++ = digits[i->bytes[n] & 15];
	}
	*to = '\0';
	fputs(text, stdout);
}

/* The end of a state: what is left behind, or where it faulted. */
struct outcome {
	uint64_t registers, memory, flags, mxcsr;
	int64_t signal, at, address;
};

static struct outcome outcome_of(
	const struct state *s, const uint8_t *code, int sees_memory)
{
	struct outcome o = {.signal = fault.signal};

	if (fault.signal) {
		o.at = (int64_t)(fault.code - (uintptr_t)code);
		if (fault.signal == SIGSEGV)
			o.address = (int64_t)(fault.at - (uintptr_t)memory);
		return o;
	}
	o.registers = hash(s, 2240, 14695981039346656037ull);
	if (sees_memory)
		o.memory = hash(memory, (PAGES - 1) * PAGE, 1);
	o.flags = s->flags & 0x8d5;
	o.mxcsr = s->mxcsr_behind;
	return o;
}

static void report(const struct instruction *i, const struct outcome *o)
{
	print_code(i);
	if (o->signal)
		printf(" signal %ld at %+ld of %ld\n", o->signal, o->at, o->address);
	else
		printf(" %016lx %016lx %03lx %04lx\n", o->registers, o->memory, o->flags,
			o->mxcsr);
}

#undef NATIVE_FEATURE
#define NATIVE_FEATURE(name, leaf, subleaf, output, bit) {#name, 0, 0, 0},
static struct {
	const char *name;
	unsigned executed, refused, faulted;
} tried[] = {
#include "tools/sim/native/features.h"
};

static void tally(enum native_feature feature)
{
	tried[feature].executed += !fault.signal;
	tried[feature].refused += fault.signal == SIGILL;
	tried[feature].faulted += fault.signal && fault.signal != SIGILL;
}

static void print_tally(void)
{
	for (unsigned f = 0; f < NATIVE_NFEATURES; f++)
		if (tried[f].executed + tried[f].refused + tried[f].faulted)
			printf("of %s: %u executed, %u refused, %u faulted\n",
				tried[f].name, tried[f].executed, tried[f].refused,
				tried[f].faulted);
}

static struct outcome try_state(
	const struct instruction *i, uint64_t seed, unsigned nth, uint8_t *code)
{
	static struct state state;

	fill_state(i, &state, seed, nth);
	code_to_call = code;
	fault.signal = 0;
	/* No handler changes the mask of signals. */
	if (!sigsetjmp(escape, 0))
		execute(&state);
	__asm__ volatile("ldmxcsr %0" ::"m"(usual_mxcsr));
	return outcome_of(&state, code, !i->is_register || nth == 0);
}

struct effort {
	uint64_t seed;
	unsigned states;
	int tells_each;
};

/* Whatever the seed is, an instruction's chances are its own.  The second state begins
 * with the memory that the first one leaves. */
static void try_encoding(
	const struct native_encoding *e, const struct effort *effort, uint8_t *code)
{
	struct instruction i;
	uint64_t all = 0;

	chance = (effort->seed + e->key * 8 + e->regs) * 0x9e3779b97f4a7c15ull | 1;
	random64();
	i = make_instruction(e, &native_shapes[e->shape], code);
	memcpy(code, i.bytes, i.n);
	fault.signal = SIGSEGV;
	for (unsigned n = 0; n < effort->states && fault.signal != SIGILL; n++) {
		struct outcome o;

		if (fault.signal)
			fill_random(memory, (PAGES - 1) * PAGE);
		o = try_state(&i, effort->seed, n, code);
		tally(native_shapes[e->shape].feature);
		if (effort->tells_each)
			report(&i, &o);
		all = hash(&o, sizeof(o), all);
	}
	if (effort->tells_each)
		return;
	print_code(&i);
	printf(" %016lx%s\n", all, fault.signal == SIGILL ? " refused" : "");
}

/* --- Which ones --- */

/* VEX executes by its own rules what it executes itself. */
static int is_ours(const struct native_encoding *e)
{
	enum native_feature f = native_shapes[e->shape].feature;

	return form(e->key) == FORM_EVEX || f >= FEATURE_AVX512F || f == FEATURE_FMA ||
	       f == FEATURE_SHA || f == FEATURE_GFNI || f == FEATURE_AVX_VNNI;
}

static int is_wide(const struct native_encoding *e)
{
	return form(e->key) == FORM_EVEX ||
	       native_shapes[e->shape].feature >= FEATURE_AVX512F;
}

/* Not what no two executions agree on, or two processors, nor what sets MXCSR. */
static int is_chosen(const struct native_encoding *e, const char *which)
{
	enum native_feature f = native_shapes[e->shape].feature;

	if (f == FEATURE_AVX512ER || f == FEATURE_RDSEED || f == FEATURE_RDPID)
		return 0;
	if (form(e->key) != FORM_EVEX && map(e->key) == 1 && (e->key & 255) == 0xae)
		return 0;
	return strcmp(which, "all") == 0    ? 1
	       : strcmp(which, "wide") == 0 ? is_wide(e)
					    : is_ours(e);
}

static void *map_pages(uintptr_t at, size_t pages, int protection)
{
	void *p = mmap((void *)at, pages * PAGE, protection,
		MAP_FIXED_NOREPLACE | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(3);
	return p;
}

int main(int argc, char **argv)
{
	enum { ROOM = 64 };
	unsigned step = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	const char *which = argc > 3 ? argv[3] : "ours";
	struct effort effort = {.seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
		.states = argc > 4 ? (unsigned)atoi(argv[4]) : 1};
	uint8_t *code;

	effort.tells_each = effort.states == 1 || argc > 5;
	memory = map_pages(0x100000000000, PAGES, PROT_READ | PROT_WRITE);
	mprotect(memory + (PAGES - 1) * PAGE, PAGE, PROT_NONE);
	code = map_pages(0x110000000000, native_nencodings * ROOM / PAGE + 1,
		PROT_READ | PROT_WRITE | PROT_EXEC);
	catch_faults();
	execute = has_wide() ? execute_wide : execute_narrow;
	for (uint32_t i = (uint32_t)(effort.seed % step); i < native_nencodings;
		i += step)
		if (is_chosen(&native_encodings[i], which))
			try_encoding(&native_encodings[i], &effort, code + i * ROOM);
	print_tally();
	return 0;
}
