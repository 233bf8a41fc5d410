/* SPDX-License-Identifier: MIT
 *
 * Instruction by instruction: the references that the architecture makes, by a
 * decoder's tables, and those that the simulated PMU counts.
 *
 *	encodings list		every encoding of x86-64 with an operand in memory, or
 *				with none: "bytes mnemonic loads stores size"
 *	encodings run < list	under the simulated PMU, each in a line of its own:
 *				"bytes mnemonic loads stores lines lines"
 *				A list may end lines with the lanes that are on, in hex.
 *
 * The operand at (%rdi) lies in lines that nobody has touched, once so that it ends
 * with its line and once a byte later: which lines were touched tells its size.
 */
#define _GNU_SOURCE
#include <Zydis/Zydis.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ask.h"
#include "request.h"

#define LINE 64
#define LONGEST 15

/* --- The list --- */

struct encoding {
	uint8_t bytes[LONGEST];
	unsigned length;
	const char *mnemonic;
	/* The size is of the operand at (%rdi); none: 0. */
	unsigned loads, stores, size;
};

static ZydisDecoder decoder;

static int is_left_out(const ZydisDecodedInstruction *i)
{
	switch (i->meta.category) {
	/* Elsewhere than behind themselves, or in the kernel. */
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_RDWRFSGS:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SEGOP:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return 1;
	default:
		return i->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE ||
		       i->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED;
	}
}

/* Hints, which change no value, are no references. */
static int is_hint(const ZydisDecodedInstruction *i)
{
	return i->meta.category == ZYDIS_CATEGORY_NOP ||
	       i->meta.category == ZYDIS_CATEGORY_WIDENOP ||
	       i->meta.category == ZYDIS_CATEGORY_PREFETCH ||
	       i->meta.category == ZYDIS_CATEGORY_PREFETCHWT1 ||
	       i->meta.category == ZYDIS_CATEGORY_CLDEMOTE ||
	       i->meta.category == ZYDIS_CATEGORY_MPX;
}

/* Each lane of a gather is a reference.  The letter behind "gather" is the index's size.
 */
static unsigned lanes_of(
	const ZydisDecodedInstruction *i, const ZydisDecodedOperand *memory)
{
	const char *at = strstr(ZydisMnemonicGetString(i->mnemonic), "gather");
	unsigned index, larger;

	if (!at)
		return 1;
	index = at[strlen("gather")] == 'q' ? 64 : 32;
	larger = index > memory->element_size ? index : memory->element_size;
	return i->avx.vector_length / larger;
}

static void add_operand(struct encoding *e, const ZydisDecodedInstruction *i,
	const ZydisDecodedOperand *o)
{
	unsigned lanes = lanes_of(i, o);

	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		e->loads += lanes;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		e->stores += lanes;
	if (o->mem.base == ZYDIS_REGISTER_RDI && lanes == 1)
		e->size = o->size / 8;
}

/* One for which the result depends on the operand in memory: dot products have the
 * lanes to multiply in the upper half, insertps the lanes to clear in the lower. */
static int immediate_of(const char *mnemonic)
{
	return strstr(mnemonic, "dpp") ? 0x31 : strstr(mnemonic, "insertps") ? 0 : 3;
}

static void set_immediates(struct encoding *e, const ZydisDecodedInstruction *i)
{
	for (unsigned n = 0; n < 2; n++)
		memset(e->bytes + i->raw.imm[n].offset, immediate_of(e->mnemonic),
			i->raw.imm[n].size / 8);
}

static int decode(struct encoding *e)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;

	if (ZYAN_FAILED(
		    ZydisDecoderDecodeFull(&decoder, e->bytes, LONGEST, &i, operands)) ||
		is_left_out(&i))
		return 0;
	e->length = i.length;
	e->mnemonic = ZydisMnemonicGetString(i.mnemonic);
	set_immediates(e, &i);
	for (unsigned n = 0; n < i.operand_count && !is_hint(&i); n++)
		add_operand(e, &i, &operands[n]);
	return 1;
}

static int is_known(const struct encoding *e)
{
	static struct encoding known[16384];
	static unsigned nknown;

	for (unsigned n = 0; n < nknown; n++)
		if (known[n].mnemonic == e->mnemonic && known[n].loads == e->loads &&
			known[n].stores == e->stores && known[n].size == e->size &&
			known[n].length == e->length)
			return 1;
	if (nknown == sizeof(known) / sizeof(*known))
		exit(3);
	known[nknown++] = *e;
	return 0;
}

static int list(const uint8_t *bytes, unsigned n)
{
	struct encoding e = {.length = 0};

	memcpy(e.bytes, bytes, n);
	if (!decode(&e))
		return 0;
	if (is_known(&e))
		return 1;
	for (unsigned b = 0; b < e.length; b++)
		printf("%02x", e.bytes[b]);
	printf(" %s %u %u %u\n", e.mnemonic, e.loads, e.stores, e.size);
	return 1;
}

/* Behind an opcode: (%rdi), or (%rdi,%xmm2) where a vector must be, and a register. */
static void list_operands(uint8_t *bytes, unsigned n)
{
	for (unsigned reg = 0; reg < 8; reg++) {
		bytes[n] = (uint8_t)(reg << 3 | 7);
		bytes[n + 1] = 0;
		if (!list(bytes, n + 2)) {
			bytes[n] = (uint8_t)(reg << 3 | 4);
			bytes[n + 1] = 2 << 3 | 7;
			list(bytes, n + 2);
		}
		bytes[n] = (uint8_t)(0xc0 | reg << 3 | 6);
		bytes[n + 1] = 0;
		list(bytes, n + 2);
	}
}

static void list_legacy(const uint8_t *prefix, unsigned nprefix)
{
	static const uint8_t map[][2] = {{0}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}};
	static const unsigned nmap[] = {0, 1, 2, 2};
	uint8_t bytes[LONGEST] = {0};

	memcpy(bytes, prefix, nprefix);
	for (unsigned m = 0; m < 4; m++) {
		memcpy(bytes + nprefix, map[m], nmap[m]);
		for (unsigned opcode = 0; opcode < 256; opcode++) {
			bytes[nprefix + nmap[m]] = (uint8_t)opcode;
			list_operands(bytes, nprefix + nmap[m] + 1);
		}
	}
}

static void list_vex(unsigned map, unsigned w, unsigned l, unsigned pp)
{
	uint8_t bytes[LONGEST] = {0xc4, (uint8_t)(0xe0 | map)};

	for (unsigned v = 0; v < 2; v++)
		for (unsigned opcode = 0; opcode < 256; opcode++) {
			bytes[2] = (uint8_t)(w << 7 | (v ? 0xf : 0xc) << 3 | l << 2 | pp);
			bytes[3] = (uint8_t)opcode;
			list_operands(bytes, 4);
		}
}

/* Without a mask: those that need one are in native/counts.c. */
static void list_evex(unsigned map, unsigned w, unsigned lb, unsigned pp)
{
	uint8_t bytes[LONGEST] = {0x62, (uint8_t)(0xf0 | map)};

	bytes[3] = (uint8_t)(lb << 4 | 8);
	for (unsigned v = 0; v < 2; v++)
		for (unsigned opcode = 0; opcode < 256; opcode++) {
			bytes[2] = (uint8_t)(w << 7 | (v ? 0xf : 0xc) << 3 | 4 | pp);
			bytes[4] = (uint8_t)opcode;
			list_operands(bytes, 5);
		}
}

static int list_all(void)
{
	static const uint8_t prefix[][3] = {{0}, {0x66}, {0xf3}, {0xf2}, {0x48},
		{0x66, 0x48}, {0xf3, 0x48}, {0xf2, 0x48}, {0xf0}, {0xf0, 0x48},
		{0xf0, 0x66}};
	static const unsigned nprefix[] = {0, 1, 1, 1, 1, 2, 2, 2, 1, 2, 2};

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (unsigned p = 0; p < sizeof(nprefix) / sizeof(*nprefix); p++)
		list_legacy(prefix[p], nprefix[p]);
	for (unsigned n = 0; n < 3 * 16; n++)
		list_vex(1 + n / 16, n >> 3 & 1, n >> 2 & 1, n & 3);
	for (unsigned n = 0; n < 6 * 64; n++)
		list_evex(1 + n / 64, n >> 5 & 1, n >> 2 & 7, n & 3);
	return 0;
}

/* --- The run --- */

typedef uint64_t counts[CP_SIM_NALL];

struct saved {
	uint64_t stack;
	uint32_t mxcsr;
	char any;
};

static struct saved saved;
static counts before, after;
static sigjmp_buf escape;
static char *code, *stack;

static __attribute__((noinline)) void read_counts(uint64_t *into)
{
	CP_SIM_ASK(CP_SIM_READ, into, 0, 0, 0);
}

static void on_signal(int signal)
{
	siglongjmp(escape, signal);
}

static char *put(char *to, const char *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

#define PUT(to, bytes) put(to, bytes, sizeof(bytes) - 1)

/* movabs $value, %register */
static char *put_register(char *to, unsigned number, uint64_t value)
{
	*to++ = (char)(0x48 | number >> 3);
	*to++ = (char)(0xb8 | (number & 7));
	return put(to, (const char *)&value, sizeof(value));
}

/* Vectors whose lanes are on, for masked moves: of ones, or of what the list says. */
static uint32_t lanes[8];

static char *put_vectors(char *to)
{
	int avx = __builtin_cpu_supports("avx");

	to = put_register(to, 0, (uint64_t)lanes);
	/* (v)movups (%rax), %vector */
	for (unsigned v = 0; v < 8; v++) {
		to = avx ? PUT(to, "\xc5\xfc") : PUT(to, "\x0f");
		*to++ = 0x10;
		*to++ = (char)(v << 3);
	}
	return to;
}

/* A function that runs the instruction with its operand there.  %rcx is 1, the turns
 * of a repeated instruction. */
static void write_code(const uint8_t *bytes, unsigned n, char *operand, char *other)
{
	const uint64_t value[16] = {1, 1, 0, (uint64_t)other, 0, (uint64_t)stack,
		(uint64_t)other, (uint64_t)operand, 1, 1, 1, 1, 1, 1, 1, 1};
	char *any = &saved.any,
	     *to = PUT(code, "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57");

	to = put_register(to, 0, (uint64_t)&saved);
	to = PUT(to, "\x48\x89\x20");
	to = put_vectors(to);
	to = put_register(to, 4, (uint64_t)stack);
	for (unsigned r = 0; r < 16; r++)
		if (r != 4)
			to = put_register(to, r, value[r]);
	to = put(to, (const char *)bytes, n);
	/* A value that is changed here and not used before the next reference is not
	 * loaded, either: mov %al, saved.any */
	to = PUT(to, "\xa2");
	to = put(to, (const char *)&any, sizeof(any));
	to = put_register(to, 0, (uint64_t)&saved);
	/* mov (%rax), %rsp; cld; fninit; ldmxcsr 8(%rax); pop...; ret */
	to = PUT(to, "\x48\x8b\x20\xfc\xdb\xe3\x0f\xae\x50\x08");
	PUT(to, "\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b\xc3");
}

/* One page of a file at an address where nothing has been: no line is warm. */
static char *fresh_page(int file)
{
	static uintptr_t next = 0x100000000000;

	next += 3 * 4096;
	return mmap((void *)next, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_FIXED_NOREPLACE, file, 0);
}

static int execute(void)
{
	int signal = sigsetjmp(escape, 1);

	if (signal)
		return signal;
	read_counts(before);
	((void (*)(void))code)();
	read_counts(after);
	return 0;
}

static uint64_t gone(int counter)
{
	return after[counter] - before[counter];
}

static int is_warm(const volatile char *at)
{
	read_counts(before);
	(void)*at;
	read_counts(after);
	return gone(CP_SIM_l1d_load_misses) == 0;
}

/* The operand is at that place of the page.  Returns the signal, or 0. */
static int try_at(const uint8_t *bytes, unsigned n, int file, size_t at, uint64_t *loads,
	uint64_t *stores, unsigned *lines)
{
	char *page = fresh_page(file), *other = fresh_page(file);
	int signal;

	write_code(bytes, n, page + at, other + 1024);
	signal = execute();
	*loads = gone(CP_SIM_l1d_loads);
	*stores = gone(CP_SIM_l1d_stores);
	*lines = 0;
	for (unsigned l = 0; l < 4096 / LINE && !signal; l++)
		*lines += (unsigned)is_warm(page + l * LINE);
	munmap(page, 4096);
	munmap(other, 4096);
	return signal;
}

static int file_of(char byte)
{
	static char page[4096];
	int file = memfd_create("operands", 0);

	memset(page, byte, sizeof(page));
	if (write(file, page, sizeof(page)) != sizeof(page))
		exit(2);
	return file;
}

static void run(char *text, int zeros, int ones)
{
	static uint64_t own_loads, own_stores;
	uint64_t loads = 0, stores = 0;
	unsigned n = 0, lines = 0, size, longer = 0, on = 0xff;
	uint8_t bytes[LONGEST];
	char hex[2 * LONGEST + 1], mnemonic[32];
	int signal, file = zeros;

	if (sscanf(text, "%30s %31s %*u %*u %u %x", hex, mnemonic, &size, &on) < 3)
		exit(2);
	for (unsigned l = 0; l < 8; l++)
		lanes[l] = on >> l & 1 ? 0xffffffff : 0;
	for (; hex[2 * n]; n++)
		sscanf(hex + 2 * n, "%2hhx", &bytes[n]);
	if (!own_stores) {
		try_at(bytes, 0, zeros, 2048, &own_loads, &own_stores, &lines);
		try_at(bytes, 0, zeros, 2048, &own_loads, &own_stores, &lines);
	}
	/* A divisor has to be something; a value for MXCSR, nothing. */
	signal = try_at(bytes, n, zeros, 2048 - size, &loads, &stores, &lines);
	if (signal)
		signal = try_at(
			bytes, n, file = ones, 2048 - size, &loads, &stores, &lines);
	if (signal) {
		printf("%s %s signal %d\n", hex, mnemonic, signal);
		return;
	}
	loads -= own_loads, stores -= own_stores;
	if (size && size <= LINE) {
		uint64_t l, s;

		signal = try_at(bytes, n, file, 2048 - size + 1, &l, &s, &longer);
	}
	printf("%s %s %lld %lld %u %u\n", hex, mnemonic, (long long)loads,
		(long long)stores, lines, signal ? 0 : longer);
}

/* Instructions may leave anything in %rsp. */
static void catch_signals(void)
{
	static const int caught[] = {SIGILL, SIGSEGV, SIGFPE, SIGTRAP, SIGBUS};
	static char own[65536];
	stack_t other = {.ss_sp = own, .ss_size = sizeof(own)};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&other, NULL);
	for (unsigned s = 0; s < sizeof(caught) / sizeof(*caught); s++)
		sigaction(caught[s], &action, NULL);
}

static int run_all(void)
{
	int zeros = file_of(0), ones = file_of(1);
	char line[256];

	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack = (char *)mmap(NULL, 65536, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) +
		32768;
	setvbuf(stdout, NULL, _IOLBF, 0);
	saved.mxcsr = 0x1f80;
	catch_signals();
	while (fgets(line, sizeof(line), stdin))
		run(line, zeros, ones);
	return 0;
}

int main(int argc, char **argv)
{
	return argc > 1 && !strcmp(argv[1], "run") ? run_all() : list_all();
}
