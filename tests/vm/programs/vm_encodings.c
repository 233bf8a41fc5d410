/* SPDX-License-Identifier: MIT
 *	vm_encodings
 * Each class of AArch64's loads and stores, run under the simulated PMU: in a line of its
 * own "loads stores size: loads stores lines lines: text", first as the architecture has
 * it, then as it was counted.  The operand lies in lines that nobody has touched, once so
 * that it ends with its line and once a byte later ("-": it must be aligned).  "size:
 * signal" is what the core does not emulate.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/sim/ask.h"
#include "tools/sim/request.h"

struct encoding {
	void (*code)(void);
	const char *text;
	uint32_t loads, stores, size, aligned;
};

/* From the linker: the section's begin and end. */
extern const struct encoding __start_encodings[], __stop_encodings[];

/* Each is a function with its operand at (x0), x1 is 0.  Each register is a reference:
 * SIZE is of all together; 0 lies elsewhere. */
#define ENCODING(text, loads, stores, size, aligned)                                     \
	asm(".pushsection .text\n.arch armv8.3-a\n881: " text "\nret\n.popsection\n"     \
	    ".pushsection .rodata\n882: .asciz \"" text "\"\n.popsection\n"              \
	    ".pushsection encodings, \"aw\"\n.quad 881b, 882b\n"                         \
	    ".word " #loads ", " #stores ", " #size ", " #aligned "\n.popsection\n");
#define LOAD(text, n, size) ENCODING(text, n, 0, size, 0)
#define STORE(text, n, size) ENCODING(text, 0, n, size, 0)
#define ALIGNED_LOAD(text, n, size) ENCODING(text, n, 0, size, 1)
#define ALIGNED_STORE(text, n, size) ENCODING(text, 0, n, size, 1)
#define ATOMIC(text, size) ENCODING(text, 1, 1, size, 1)

ENCODING("nop", 0, 0, 0, 0)

/* One register, in each way to address. */
#define ADDRESSED(M, op, reg, size)                                                      \
	M(op " " reg ", [x0]", 1, size)                                                  \
	M(op " " reg ", [x0, #0]!", 1, size)                                             \
	M(op " " reg ", [x0], #8", 1, size)                                              \
	M(op " " reg ", [x0, x1]", 1, size)                                              \
	M(op " " reg ", [x0, w1, uxtw]", 1, size)
ADDRESSED(LOAD, "ldr", "x2", 8)
ADDRESSED(LOAD, "ldr", "w2", 4)
ADDRESSED(LOAD, "ldrh", "w2", 2)
ADDRESSED(LOAD, "ldrb", "w2", 1)
ADDRESSED(LOAD, "ldrsw", "x2", 4)
ADDRESSED(LOAD, "ldrsh", "x2", 2)
ADDRESSED(LOAD, "ldrsb", "w2", 1)
ADDRESSED(LOAD, "ldr", "q2", 16)
ADDRESSED(LOAD, "ldr", "d2", 8)
ADDRESSED(LOAD, "ldr", "s2", 4)
ADDRESSED(LOAD, "ldr", "h2", 2)
ADDRESSED(LOAD, "ldr", "b2", 1)
ADDRESSED(STORE, "str", "x2", 8)
ADDRESSED(STORE, "str", "w2", 4)
ADDRESSED(STORE, "strh", "w2", 2)
ADDRESSED(STORE, "strb", "w2", 1)
ADDRESSED(STORE, "str", "q2", 16)
ADDRESSED(STORE, "str", "d2", 8)
ADDRESSED(STORE, "str", "s2", 4)
ADDRESSED(STORE, "str", "h2", 2)
ADDRESSED(STORE, "str", "b2", 1)
LOAD("ldur x2, [x0]", 1, 8)
LOAD("ldursw x2, [x0]", 1, 4)
LOAD("ldur q2, [x0]", 1, 16)
STORE("stur x2, [x0]", 1, 8)
STORE("sturb w2, [x0]", 1, 1)
STORE("stur q2, [x0]", 1, 16)
LOAD("ldtr x2, [x0]", 1, 8)
STORE("sttr x2, [x0]", 1, 8)
LOAD("ldr x2, 881b", 1, 0)
LOAD("ldrsw x2, 881b", 1, 0)
LOAD("ldr d2, 881b", 1, 0)
LOAD("ldr q2, 881b", 1, 0)

/* Pairs. */
#define PAIRED(M, op, regs, size)                                                        \
	M(op " " regs ", [x0]", 2, size)                                                 \
	M(op " " regs ", [x0, #0]!", 2, size)                                            \
	M(op " " regs ", [x0], #16", 2, size)
PAIRED(LOAD, "ldp", "x2, x3", 16)
PAIRED(LOAD, "ldp", "w2, w3", 8)
PAIRED(LOAD, "ldpsw", "x2, x3", 8)
PAIRED(LOAD, "ldp", "q2, q3", 32)
PAIRED(LOAD, "ldp", "d2, d3", 16)
PAIRED(LOAD, "ldp", "s2, s3", 8)
PAIRED(STORE, "stp", "x2, x3", 16)
PAIRED(STORE, "stp", "w2, w3", 8)
PAIRED(STORE, "stp", "q2, q3", 32)
PAIRED(STORE, "stp", "d2, d3", 16)
PAIRED(STORE, "stp", "s2, s3", 8)
LOAD("ldnp x2, x3, [x0]", 2, 16)
LOAD("ldnp q2, q3, [x0]", 2, 32)
STORE("stnp x2, x3, [x0]", 2, 16)
STORE("stnp q2, q3, [x0]", 2, 32)

/* Vectors: several registers, lanes, one value in all lanes. */
#define VECTORS(M, op, n, regs, size)                                                    \
	M(op " " regs ", [x0]", n, size)                                                 \
	M(op " " regs ", [x0], x1", n, size)
#define STRUCTURES(M, op)                                                                \
	VECTORS(M, op "1", 1, "{v2.16b}", 16)                                            \
	VECTORS(M, op "1", 1, "{v2.4h}", 8)                                              \
	VECTORS(M, op "1", 2, "{v2.4s, v3.4s}", 32)                                      \
	VECTORS(M, op "1", 3, "{v2.2d, v3.2d, v4.2d}", 48)                               \
	VECTORS(M, op "1", 4, "{v2.16b, v3.16b, v4.16b, v5.16b}", 64)                    \
	VECTORS(M, op "2", 2, "{v2.16b, v3.16b}", 32)                                    \
	VECTORS(M, op "2", 2, "{v2.2s, v3.2s}", 16)                                      \
	VECTORS(M, op "3", 3, "{v2.8h, v3.8h, v4.8h}", 48)                               \
	VECTORS(M, op "3", 3, "{v2.8b, v3.8b, v4.8b}", 24)                               \
	VECTORS(M, op "4", 4, "{v2.4s, v3.4s, v4.4s, v5.4s}", 64)                        \
	VECTORS(M, op "4", 4, "{v2.4h, v3.4h, v4.4h, v5.4h}", 32)                        \
	VECTORS(M, op "1", 1, "{v2.s}[1]", 4)                                            \
	VECTORS(M, op "1", 1, "{v2.b}[7]", 1)                                            \
	VECTORS(M, op "2", 2, "{v2.h, v3.h}[1]", 4)                                      \
	VECTORS(M, op "3", 3, "{v2.s, v3.s, v4.s}[1]", 12)                               \
	VECTORS(M, op "4", 4, "{v2.d, v3.d, v4.d, v5.d}[1]", 32)
STRUCTURES(LOAD, "ld")
STRUCTURES(STORE, "st")
VECTORS(LOAD, "ld1r", 1, "{v2.4s}", 4)
VECTORS(LOAD, "ld2r", 2, "{v2.8h, v3.8h}", 4)
VECTORS(LOAD, "ld3r", 3, "{v2.2d, v3.2d, v4.2d}", 24)
VECTORS(LOAD, "ld4r", 4, "{v2.8b, v3.8b, v4.8b, v5.8b}", 4)

/* In order, exclusive, atomic: there, a pair is one. */
ALIGNED_LOAD("ldar x2, [x0]", 1, 8)
ALIGNED_LOAD("ldarb w2, [x0]", 1, 1)
ALIGNED_LOAD("ldapr x2, [x0]", 1, 8)
ALIGNED_STORE("stlr x2, [x0]", 1, 8)
ALIGNED_STORE("stlrh w2, [x0]", 1, 2)
ALIGNED_LOAD("ldxr x2, [x0]", 1, 8)
ALIGNED_LOAD("ldaxr w2, [x0]", 1, 4)
ALIGNED_STORE("stxr w2, x3, [x0]", 1, 8)
ALIGNED_STORE("stlxrb w2, w3, [x0]", 1, 1)
ALIGNED_LOAD("ldxp x2, x3, [x0]", 1, 16)
ALIGNED_LOAD("ldaxp w2, w3, [x0]", 1, 8)
ALIGNED_STORE("stxp w2, x3, x4, [x0]", 1, 16)
ATOMIC("ldadd x2, x3, [x0]", 8)
ATOMIC("ldaddal w2, w3, [x0]", 4)
ATOMIC("stadd x2, [x0]", 8)
ATOMIC("ldclr x2, x3, [x0]", 8)
ATOMIC("ldset x2, x3, [x0]", 8)
ATOMIC("ldeor x2, x3, [x0]", 8)
ATOMIC("ldsmax x2, x3, [x0]", 8)
ATOMIC("ldumin w2, w3, [x0]", 4)
ATOMIC("swp x2, x3, [x0]", 8)
ATOMIC("swpalb w2, w3, [x0]", 1)
ATOMIC("cas xzr, x3, [x0]", 8)
ATOMIC("casal wzr, w3, [x0]", 4)
ATOMIC("casp x2, x3, x4, x5, [x0]", 16)

/* Hints, and a whole line of zeros. */
ENCODING("prfm pldl1keep, [x0]", 0, 0, 0, 0)
ENCODING("prfm pstl1keep, [x0, x1]", 0, 0, 0, 0)
ENCODING("prfum pldl2strm, [x0]", 0, 0, 0, 0)
ENCODING("dc zva, x0", 0, 1, 64, 1)

typedef uint64_t counts[CP_SIM_NALL];

static counts before, after;
static sigjmp_buf escape;

static __attribute__((noinline)) void read_counts(uint64_t *into)
{
	CP_SIM_ASK(CP_SIM_READ, into, 0, 0, 0);
}

static __attribute__((noinline)) void call(void (*code)(void), char *operand)
{
	register char *x0 asm("x0") = operand;
	register uint64_t x1 asm("x1") = 0;

	asm volatile(
		"blr %2"
		: "+r"(x0), "+r"(x1)
		: "r"(code)
		: "x2", "x3", "x4", "x5", "x30", "v2", "v3", "v4", "v5", "cc", "memory");
}

static void on_signal(int signal)
{
	siglongjmp(escape, signal);
}

struct counted {
	uint64_t loads, stores, lines;
};

/* Returns the signal, or 0. */
static int run(void (*code)(void), size_t at, struct counted *c)
{
	static uintptr_t next = 0x100000000000;
	char *page = mmap((void *)(next += 3 * 4096), 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);
	int signal = sigsetjmp(escape, 1);

	if (!signal) {
		read_counts(before);
		call(code, page + at);
		read_counts(after);
	}
	munmap(page, 4096);
	c->loads = after[CP_SIM_l1d_loads] - before[CP_SIM_l1d_loads];
	c->stores = after[CP_SIM_l1d_stores] - before[CP_SIM_l1d_stores];
	c->lines = after[CP_SIM_l1d_load_lines] - before[CP_SIM_l1d_load_lines] +
		   after[CP_SIM_l1d_store_lines] - before[CP_SIM_l1d_store_lines];
	return signal;
}

static void compare(const struct encoding *e, const struct counted *own)
{
	struct counted ends = {0}, crosses = {0};

	printf("%u %u %u: ", e->loads, e->stores, e->size);
	if (run(e->code, 2048 - e->size, &ends)) {
		printf("signal: %s\n", e->text);
		return;
	}
	printf("%ld %ld %lu ", (long)(ends.loads - own->loads),
		(long)(ends.stores - own->stores), ends.lines);
	if (!e->aligned && !run(e->code, 2048 - e->size + 1, &crosses))
		printf("%lu: %s\n", crosses.lines, e->text);
	else
		printf("-: %s\n", e->text);
}

int main(void)
{
	static const int caught[] = {SIGILL, SIGSEGV, SIGTRAP, SIGBUS};
	struct counted own = {0};

	for (unsigned s = 0; s < sizeof(caught) / sizeof(*caught); s++)
		signal(caught[s], on_signal);
	/* The first is none: what is counted is our own, cold the first time. */
	for (unsigned turn = 0; turn < 2; turn++)
		run(__start_encodings->code, 2048, &own);
	for (const struct encoding *e = __start_encodings; e < __stop_encodings; e++)
		compare(e, &own);
	return 0;
}
