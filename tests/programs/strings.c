/* SPDX-License-Identifier: MIT
 * String instructions with a repeat prefix, each as code that is made here: what they
 * leave in memory, registers and flags (results), where they fault (faults), what they
 * count (counts), and the C library's functions that are made of them (libc).
 */
#if defined(__x86_64__)
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "cachepeek.h"

enum { PAGE = 4096, ROOM = 3 << 20, MIDDLE = ROOM / 2, SLOT = 16 };
enum { NOP, MOVS, STOS, LODS, CMPS, CMPS_UNTIL, SCAS, SCAS_UNTIL, KINDS };

struct registers {
	uint64_t rax, rcx, rsi, rdi, flags;
};

static const char *const names[KINDS] = {"nop", "movs", "stos", "lods", "repe-cmps",
	"repne-cmps", "repe-scas", "repne-scas"};
static const unsigned char opcodes[KINDS] = {
	0x90, 0xa4, 0xaa, 0xac, 0xa6, 0xa6, 0xae, 0xae};
static unsigned char *code, *source, *target;

/* ---- code ---- */

static unsigned char *put_size(unsigned char *to, int kind, int log_size)
{
	if (log_size == 1)
		*to++ = 0x66;
	if (kind != NOP)
		*to++ = kind == CMPS_UNTIL || kind == SCAS_UNTIL ? 0xf2 : 0xf3;
	if (log_size == 3)
		*to++ = 0x48;
	return to;
}

/* [std] PREFIX rep OPERATION [cld] ret; each in a place of its own. */
static void *code_for(int kind, int log_size, int down, int prefix)
{
	static long n;
	unsigned char *begin = code + SLOT * n++, *to = begin;

	if (down)
		*to++ = 0xfd;
	if (prefix)
		*to++ = (unsigned char)prefix;
	to = put_size(to, kind, log_size);
	*to++ = (unsigned char)(opcodes[kind] | (kind != NOP && log_size > 0));
	if (down)
		*to++ = 0xfc;
	*to++ = 0xc3;
	return begin;
}

/* Below the stack pointer are 128 bytes that may be this function's. */
static __attribute__((noinline)) void call(void *what, struct registers *r)
{
	__asm__ volatile(
		"mov (%%rbx), %%rax\n\tmov 8(%%rbx), %%rcx\n\t"
		"mov 16(%%rbx), %%rsi\n\tmov 24(%%rbx), %%rdi\n\t"
		"cmp $1, %%edx\n\tlea -128(%%rsp), %%rsp\n\t"
		"call *%[what]\n\tpushfq\n\tpop %%r9\n\tlea 128(%%rsp), %%rsp\n\t"
		"mov %%rax, (%%rbx)\n\tmov %%rcx, 8(%%rbx)\n\t"
		"mov %%rsi, 16(%%rbx)\n\tmov %%rdi, 24(%%rbx)\n\tmov %%r9, 32(%%rbx)"
		:
		: "b"(r), "d"(0), [what] "r"(what)
		: "rax", "rcx", "rsi", "rdi", "r9", "cc", "memory");
}

/* ---- results ---- */

static uint64_t mixed(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static uint64_t sum_of(const unsigned char *at, size_t size)
{
	uint64_t h = 0, v;

	for (size_t i = 0; i + 8 <= size; i += 8) {
		memcpy(&v, at + i, 8);
		h = mixed(h, v);
	}
	return h;
}

/* Equal for compares but for one byte far behind; and unequal until another. */
static void fill(int kind, long count, int log_size, int down)
{
	long size = (2 * count << log_size) + 512, first = MIDDLE - size / 2;

	for (long i = first; i < first + size; i++) {
		unsigned char v = (unsigned char)((uint64_t)i * 0x9e3779b1u >> 13);

		source[i] = kind == CMPS || kind == SCAS ? 7 : v;
		target[i] = kind == CMPS || kind == SCAS               ? 7
			    : kind == CMPS_UNTIL || kind == SCAS_UNTIL ? v ^ 255
								       : v ^ 85;
	}
	first = MIDDLE + (down ? -1 : 1) * (count - 3) + 1;
	target[first] = kind == CMPS ? 9 : kind == SCAS ? 8 : source[first];
}

/* Addresses of 32 bits: the bits above mean nothing, and go. */
enum { SHORT = 0x67 };

static void print_case(int kind, int log_size, int down, int prefix, long count,
	unsigned char *from, unsigned char *to)
{
	uint64_t same = (uint64_t)target[MIDDLE + (down ? -1 : 1) * (count - 3) + 1] *
			0x0101010101010101ull;
	struct registers r = {kind == SCAS         ? 0x0707070707070707ull
			      : kind == SCAS_UNTIL ? same
						   : 0x1234567890abcdefull,
		(uint64_t)count, (uint64_t)from, (uint64_t)to, 0};
	uint64_t above = prefix == SHORT && count > 0 ? 5ull << 32 : 0;
	size_t room = (2 * (size_t)count << log_size) + 512, first = MIDDLE - room / 2;

	r.rcx += above;
	r.rsi += kind == STOS || kind >= SCAS ? 0 : above;
	r.rdi += kind == LODS ? 0 : above;
	call(code_for(kind, log_size, down, prefix), &r);
	printf("%s %d %s %x %ld from %d to %ld: rax %lx rcx %ld rsi %ld rdi %ld flags %lx"
	       " memory %lx %lx\n",
		names[kind], 1 << log_size, down ? "down" : "up", (unsigned)prefix, count,
		(int)((uint64_t)from % PAGE), (long)(to - target), (unsigned long)r.rax,
		(long)r.rcx, (long)(r.rsi - (uint64_t)from), (long)(r.rdi - (uint64_t)to),
		(unsigned long)(r.flags & 0xcd5),
		(unsigned long)sum_of(source + first, room),
		(unsigned long)sum_of(target + first, room));
}

static void print_results(int kind, int log_size, int down)
{
	static const long counts[] = {0, 1, 2, 63, 64, 65, 513};
	static const int offsets[][2] = {{0, 0}, {1, 0}, {0, 1}, {63, 61}, {-5, 4093}};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (size_t k = 0; k < sizeof(offsets) / sizeof(offsets[0]); k++) {
			fill(kind, counts[i], log_size, down);
			print_case(kind, log_size, down, k == 1 ? SHORT : 0, counts[i],
				source + MIDDLE + offsets[k][0],
				target + MIDDLE + offsets[k][1]);
		}
	fill(kind, 1 << 15 >> log_size, log_size, down);
	print_case(kind, log_size, down, 0, 1 << 15 >> log_size, source + MIDDLE,
		target + MIDDLE + 8);
}

static void print_overlaps(int log_size, int down)
{
	for (int by = -65; by <= 65; by++) {
		fill(MOVS, 200, log_size, down);
		print_case(MOVS, log_size, down, 0, 200, target + MIDDLE + 3,
			target + MIDDLE + 3 + by);
	}
}

/* Code that is stored is executed next, behind the instruction and by it. */
static void print_changed_code(void)
{
	/* rep movsb; mov $1, %eax; ret: the last two are stored */
	static const unsigned char before[] = {0xf3, 0xa4, 0xb8, 1, 0, 0, 0, 0xc3};
	unsigned char *at = code + (ROOM - PAGE);

	memcpy(at, before, sizeof(before));
	for (unsigned char i = 2; i < 5; i++) {
		unsigned char stored[] = {0xb8, i, 0, 0, 0, 0xc3};
		struct registers r = {
			0, sizeof(stored), (uint64_t)stored, (uint64_t)(at + 2), 0};

		call(at, &r);
		printf("stored code: %ld\n", (long)r.rax);
	}
}

/* A segment is that of the first operand. */
static void print_segments(void)
{
	static __thread unsigned char own[256];
	unsigned char *base;

	__asm__("mov %%fs:0, %0" : "=r"(base));
	for (int i = 0; i < 256; i++)
		own[i] = (unsigned char)(i * 3);
	for (int kind = MOVS; kind <= CMPS; kind++) {
		struct registers r = {
			0, 200, (uint64_t)(own - base), (uint64_t)target, 0};

		call(code_for(kind, 0, 0, 0x64), &r);
		printf("segment, %s: rax %lx rcx %ld memory %lx\n", names[kind],
			(unsigned long)r.rax, (long)r.rcx,
			(unsigned long)sum_of(target, 256));
	}
}

static void results(void)
{
	for (int kind = NOP; kind < KINDS; kind++)
		for (int log_size = 0; log_size < 4; log_size++)
			for (int down = 0; down < 2; down++)
				print_results(kind, log_size, down);
	for (int log_size = 0; log_size < 4; log_size++)
		for (int down = 0; down < 2; down++)
			print_overlaps(log_size, down);
	print_segments();
	print_changed_code();
}

/* ---- faults ---- */

static volatile struct {
	unsigned char *page;
	struct registers at;
	long address, times;
} fault;

static void repair(int number, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	fault.at = (struct registers){(uint64_t)r[REG_RAX], (uint64_t)r[REG_RCX],
		(uint64_t)r[REG_RSI], (uint64_t)r[REG_RDI], (uint64_t)r[REG_EFL]};
	fault.address = (unsigned char *)info->si_addr - fault.page;
	fault.times++;
	mprotect(fault.page, PAGE, PROT_READ | PROT_WRITE);
}

/* The page comes `before` bytes behind (or before) the first element of an operand. */
static void print_fault(int kind, int log_size, int down, int in_target, int before)
{
	unsigned char *begin = in_target ? target : source,
		      *page = begin + MIDDLE + (down ? -PAGE : PAGE);
	unsigned char *first = down ? page + PAGE + before : page - before,
		      *from = in_target ? source + MIDDLE : first,
		      *to = in_target ? first : target + MIDDLE;
	struct registers r = {
		0x0707070707070707ull, 600, (uint64_t)from, (uint64_t)to, 0};

	memset(source + MIDDLE - 3 * PAGE, 7, 6 * PAGE);
	memset(target + MIDDLE - 3 * PAGE, kind == CMPS || kind == SCAS ? 7 : 5,
		6 * PAGE);
	fault.page = page;
	fault.times = 0;
	mprotect(page, PAGE, PROT_NONE);
	call(code_for(kind, log_size, down, 0), &r);
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	printf("%s %d %s, %s, %d before: %ld faults, rcx %ld rsi %ld rdi %ld address %ld;"
	       " then rcx %ld rsi %ld rdi %ld flags %lx memory %lx\n",
		names[kind], 1 << log_size, down ? "down" : "up",
		in_target ? "second" : "first", before, fault.times, (long)fault.at.rcx,
		(long)(fault.at.rsi - (uint64_t)from),
		(long)(fault.at.rdi - (uint64_t)to), fault.address, (long)r.rcx,
		(long)(r.rsi - (uint64_t)from), (long)(r.rdi - (uint64_t)to),
		(unsigned long)(r.flags & 0xcd5),
		(unsigned long)sum_of(target + MIDDLE - 3 * PAGE, 6 * PAGE));
}

static void faults(void)
{
	struct sigaction action = {.sa_sigaction = repair, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &action, NULL);
	for (int kind = MOVS; kind < KINDS; kind++)
		for (int log_size = 0; log_size < 4; log_size++)
			for (int down = 0; down < 2; down++)
				for (int in_target = 0; in_target < 2; in_target++) {
					if (in_target ? kind == LODS
						      : kind == STOS || kind >= SCAS)
						continue;
					print_fault(kind, log_size, down, in_target, 96);
					print_fault(kind, log_size, down, in_target, 101);
					print_fault(kind, log_size, down, in_target, 0);
				}
}

/* ---- counts ---- */

/* Both operands are in the same memory, or each in its own; nobody has used it, or a call
 * before. */
enum { SAME = 1, WARM = 2 };

struct count_case {
	int kind, log_size, down, from, to, how;
	long count;
};

static unsigned char *memory(int flags)
{
	return mmap(NULL, ROOM, PROT_READ | PROT_WRITE | (flags ? 0 : PROT_EXEC),
		MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void count_one(const struct count_case *c, const char *name)
{
	unsigned char *a = memory(MAP_NORESERVE),
		      *b = c->how & SAME ? a : memory(MAP_NORESERVE);
	struct registers r = {c->kind == SCAS_UNTIL, (uint64_t)c->count,
		(uint64_t)(a + MIDDLE + c->from), (uint64_t)(b + MIDDLE + c->to), 0};
	void *what = code_for(c->kind, c->log_size, c->down, 0),
	     *nothing = code_for(NOP, c->log_size, c->down, 0);
	struct registers none = r, before = r;

	none.rcx = 0;
	for (int i = 0; i < 3; i++)
		call(nothing, &none);
	call(what, c->how & WARM ? &before : &none);
	cachepeek_begin_named(name);
	call(what, &r);
	cachepeek_end_named(name);
}

/* KIND,LOG_SIZE,DOWN,COUNT,FROM,TO,HOW are the names of the regions, too. */
static void counts(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		struct count_case c = {.kind = 0};
		size_t length = strcspn(argv[i], ",");

		while (c.kind < KINDS - 1 &&
			(strncmp(argv[i], names[c.kind], length) != 0 ||
				names[c.kind][length]))
			c.kind++;
		if (sscanf(argv[i] + length, ",%d,%d,%ld,%d,%d,%d", &c.log_size, &c.down,
			    &c.count, &c.from, &c.to, &c.how) >= 5)
			count_one(&c, argv[i]);
	}
}

/* ---- which bytes ---- */

static unsigned char copied_from[3 * PAGE] __attribute__((aligned(4096))),
	copied_to[3 * PAGE] __attribute__((aligned(4096)));

/* Pages of the operands end in the middle of each other's blocks. */
static void copy(void)
{
	struct registers r = {
		0, 2 * PAGE, (uint64_t)(copied_from + 17), (uint64_t)copied_to, 0};

	call(code_for(MOVS, 0, 0, 0), &r);
}

/* ---- turns ---- */

enum { LARGE = 64 << 20, PARTS = 64 };
static unsigned char *volatile large;
static volatile int large_is_done;

/* How often it finds that more is stored than before, and not all. */
static void *watch(void *none)
{
	long seen = 0, last = 0;

	while (!large_is_done) {
		long parts = 0;

		for (long i = 0; i < PARTS; i++)
			parts += large[i * (LARGE / PARTS)] != 0;
		seen += parts > last && parts < PARTS;
		last = parts;
	}
	printf("%ld\n", seen);
	return none;
}

static void turns(void)
{
	struct registers r = {1, LARGE, 0, 0, 0};
	pthread_t thread;

	large = mmap(NULL, LARGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	r.rdi = (uint64_t)large;
	pthread_create(&thread, NULL, watch, NULL);
	call(code_for(STOS, 0, 0, 0), &r);
	large_is_done = 1;
	pthread_join(thread, NULL);
}

/* ---- the C library ---- */

static void libc(void)
{
	/* The first are bound then. */
	for (long size = 256; size <= 4 << 20; size *= 4) {
		unsigned char *a = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			      *b = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			      *c = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		char name[80];

		snprintf(name, sizeof(name), "memcpy %ld", size);
		cachepeek_begin_named(name);
		memcpy(a, b, (size_t)size);
		cachepeek_end_named(name);
		snprintf(name, sizeof(name), "memset %ld", size);
		cachepeek_begin_named(name);
		memset(c, 1, (size_t)size);
		cachepeek_end_named(name);
	}
}

int main(int argc, char **argv)
{
	code = memory(0);
	source = memory(MAP_32BIT);
	target = memory(MAP_32BIT);
	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "results") == 0)
		results();
	else if (strcmp(argv[1], "faults") == 0)
		faults();
	else if (strcmp(argv[1], "copy") == 0)
		copy();
	else if (strcmp(argv[1], "turns") == 0)
		turns();
	else if (strcmp(argv[1], "counts") == 0)
		counts(argc, argv);
	else
		libc();
	return 0;
}
#else
int main(void)
{
	return 0;
}
#endif
