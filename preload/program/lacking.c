/* SPDX-License-Identifier: MIT */
#include "preload/program/lacking.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "base/text/instruction_length.h"
#include "preload/program/illegal.h"

/* A set's bytes are looked for without a decoder first: so many tell. */
enum { TELLING = 6 };

/* --- Sets --- */

/* Fields that have to be so, in a map that has instructions. */
static bool is_evex(const uint8_t *code)
{
	unsigned map = code[1] & 7;

	return code[0] == 0x62 && !(code[1] & 8) && code[2] & 4 && map && map != 4 &&
	       map != 7;
}

static bool is_vex_0f38(const uint8_t *code)
{
	return code[0] == 0xc4 && (code[1] & 31) == 2;
}

static bool is_amx(const uint8_t *code)
{
	return is_vex_0f38(code) && !(code[2] & 0x84) &&
	       (code[3] == 0x49 || code[3] == 0x4b || code[3] == 0x5c || code[3] == 0x5e);
}

static bool is_vnni(const uint8_t *code)
{
	return is_vex_0f38(code) && (code[2] & 0x83) == 1 && code[3] >= 0x50 &&
	       code[3] <= 0x53;
}

static bool is_vaes(const uint8_t *code)
{
	return is_vex_0f38(code) && (code[2] & 7) == 5 && code[3] >= 0xdc &&
	       code[3] <= 0xdf;
}

static bool is_sha(const uint8_t *code)
{
	return code[0] == 0x0f && code[1] == 0x38 && code[2] >= 0xc8 && code[2] <= 0xcd;
}

/* Nobody has AVX and none of its short forms. */
static bool is_avx(const uint8_t *code)
{
	return code[0] == 0xc5;
}

static bool is_xsavec(const uint8_t *code)
{
	return code[0] == 0x0f && code[1] == 0xc7 && (code[2] >> 3 & 7) == 4 &&
	       code[2] < 0xc0;
}

static bool is_cpuid(const uint8_t *code)
{
	return code[0] == 0x0f && code[1] == 0xa2;
}

enum { EAX, EBX, ECX, EDX };
/* The state that the kernel has to keep for each thread: SSE and AVX, and AVX-512's. */
enum { KEPT_SSE = 2, KEPT_AVX = 6, KEPT_AVX512 = 0xe6, KEPT_AMX = 0x60000 };
#ifdef CP_SIM_HAS_TABLE
enum { IN_TABLE = true };
#else
enum { IN_TABLE = false };
#endif

static const struct set {
	const char *name;
	uint8_t first_byte;
	bool (*is)(const uint8_t *code);
	unsigned leaf, subleaf, output, bit, kept; /* where CPUID tells of it */
	bool simulated;
} sets[] = {
	{"AVX-512", 0x62, is_evex, 7, 0, EBX, 16, KEPT_AVX512, IN_TABLE},
	{"AMX", 0xc4, is_amx, 7, 0, EDX, 24, KEPT_AMX, false},
	{"AVX-VNNI", 0xc4, is_vnni, 7, 1, EAX, 4, KEPT_AVX, IN_TABLE},
	{"VAES", 0xc4, is_vaes, 7, 0, ECX, 9, KEPT_AVX, IN_TABLE},
	{"SHA", 0x0f, is_sha, 7, 0, EBX, 29, KEPT_SSE, IN_TABLE},
	{"XSAVEC", 0x0f, is_xsavec, 0xd, 1, EAX, 1, KEPT_SSE, false},
	{"AVX", 0xc5, is_avx, 1, 0, ECX, 28, KEPT_AVX, true},
};
enum { SETS = sizeof(sets) / sizeof(*sets) };

static unsigned state_kept(void)
{
	unsigned a, b, c, d, low, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return KEPT_SSE;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

static bool host_has(const struct set *set)
{
	unsigned output[4] = {0};

	__get_cpuid_count(set->leaf, set->subleaf, &output[EAX], &output[EBX],
		&output[ECX], &output[EDX]);
	return output[set->output] >> set->bit & 1 &&
	       (state_kept() & set->kept) == set->kept;
}

/* --- A file's code --- */

/* The table of .eh_frame_hdr: where functions begin, ascending, and what .eh_frame says
 * of each, from its own place. */
struct row {
	int32_t function, frame;
};

struct starts {
	const uint8_t *from;
	const struct row *rows;
	size_t count;
};

struct code {
	const uint8_t *begin, *end;
	struct starts starts;
	const uint8_t *walked; /* an instruction begins here, or NULL */
};

static const struct row *row_of(const struct starts *s, const uint8_t *at)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->from + s->rows[middle].function <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &s->rows[low - 1] : NULL;
}

static int32_t word_at(const uint8_t *at)
{
	int32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Behind the sizes and places of two entries: where the function begins, from here on,
 * and its size.  0: it is told in another way. */
static uint32_t size_of_function(const struct starts *s, const struct row *row)
{
	const uint8_t *frame = s->from + row->frame + 8;

	return frame + word_at(frame) == s->from + row->function
		       ? (uint32_t)word_at(frame + 4)
		       : 0;
}

/* Where the function begins that has this place; NULL: nobody knows. */
static const uint8_t *function_of(const struct code *code, const uint8_t *at)
{
	const struct row *row = row_of(&code->starts, at);
	const uint8_t *start = row ? code->starts.from + row->function : NULL;

	return start && start >= code->begin &&
			       (size_t)(at - start) < size_of_function(&code->starts, row)
		       ? start
		       : NULL;
}

/* Is it the first byte behind the prefixes of an instruction, and not in the middle of
 * another one?  What is asked for ascends. */
static bool is_instruction(struct code *code, const uint8_t *wanted)
{
	const uint8_t *at = function_of(code, wanted);

	if (!at)
		return false;
	if (code->walked && code->walked > at && code->walked <= wanted)
		at = code->walked;
	while (at <= wanted) {
		size_t size = (size_t)(code->end - at),
		       length = cp_instruction_length(at, size);

		if (!length)
			return false;
		code->walked = at;
		if (at + length > wanted)
			return at + cp_instruction_prefixes(at, size) == wanted;
		at += length;
	}
	return false;
}

/* --- Looking --- */

/* Reading more would be felt at the start of each process. */
enum { MOST = 16 << 20 };

struct search {
	bool (*look)(struct search *search, struct code *code);
	struct cp_lacking *found;
	const struct set *wanted[SETS]; /* that cannot be executed */
	bool host_has_it[SETS];
	bool is_first_byte[256]; /* of what is wanted */
	size_t nwanted, seen;
};

static void want_sets(struct search *search)
{
	for (size_t i = 0; i < SETS; i++) {
		bool has = host_has(&sets[i]);

		if (has && sets[i].simulated)
			continue;
		search->host_has_it[search->nwanted] = has;
		search->is_first_byte[sets[i].first_byte] = true;
		search->wanted[search->nwanted++] = &sets[i];
	}
}

static void note_found(struct search *search, const uint8_t *at, size_t set)
{
	struct cp_lacking *found = search->found;

	found->host_has_it = search->host_has_it[set];
	cp_illegal_tell(found->what, sizeof(found->what), at, search->wanted[set]->name);
}

static bool look_through(struct search *search, struct code *code)
{
	for (const uint8_t *at = code->begin; at < code->end - TELLING; at++) {
		if (!search->is_first_byte[*at])
			continue;
		for (size_t i = 0; i < search->nwanted; i++)
			if (search->wanted[i]->is(at) && is_instruction(code, at)) {
				note_found(search, at, i);
				return true;
			}
	}
	return false;
}

static bool can_choose(struct search *search, struct code *code)
{
	(void)search;
	for (const uint8_t *at = code->begin; at < code->end - TELLING; at++)
		if (is_cpuid(at) && is_instruction(code, at))
			return true;
	return false;
}

/* --- Files --- */

static bool is_the_systems(const char *path)
{
	static const char *const directories[] = {"/lib", "/usr/lib", "linux-"};

	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
		if (cp_starts_with(path, directories[i]))
			return true;
	return false;
}

static bool lies_in(const struct dl_phdr_info *module, const ElfW(Phdr) * segment,
	uintptr_t from, size_t size)
{
	uintptr_t start = module->dlpi_addr + segment->p_vaddr;

	return segment->p_type == PT_LOAD && segment->p_flags & PF_R && from >= start &&
	       from - start <= segment->p_filesz &&
	       size <= segment->p_filesz - (from - start);
}

static bool is_mapped(const struct dl_phdr_info *module, uintptr_t from, size_t size)
{
	for (unsigned i = 0; i < module->dlpi_phnum; i++)
		if (lies_in(module, &module->dlpi_phdr[i], from, size))
			return true;
	return false;
}

/* The header, as all linkers write it: a place of four bytes, how many rows there are,
 * and rows of a place in the code and one in .eh_frame, from the header on. */
static struct starts read_starts(
	const struct dl_phdr_info *module, const ElfW(Phdr) * segment)
{
	static const uint8_t usual[] = {1, 0x1b, 3, 0x3b};
	uintptr_t at = module->dlpi_addr + segment->p_vaddr;
	struct starts s = {.count = 0};
	uint32_t count;
	enum { HEAD = 12 };

	if (!is_mapped(module, at, HEAD) ||
		memcmp((const void *)at, usual, sizeof(usual)) != 0)
		return s;
	memcpy(&count, (const void *)(at + 8), sizeof(count));
	if (!is_mapped(module, at, HEAD + count * sizeof(*s.rows)))
		return s;
	s.from = (const uint8_t *)at;
	s.rows = (const void *)(at + HEAD);
	s.count = count;
	return s;
}

static struct starts find_starts(const struct dl_phdr_info *module)
{
	for (unsigned i = 0; i < module->dlpi_phnum; i++)
		if (module->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			return read_starts(module, &module->dlpi_phdr[i]);
	return (struct starts){.count = 0};
}

/* We ask the processor, too. */
static bool is_ours(const struct dl_phdr_info *module)
{
	return is_mapped(module, (uintptr_t)sets, sizeof(sets));
}

static bool is_code(const ElfW(Phdr) * p)
{
	return p->p_type == PT_LOAD && (p->p_flags & (PF_R | PF_X)) == (PF_R | PF_X) &&
	       p->p_filesz > TELLING;
}

static int look_at(struct dl_phdr_info *module, size_t size, void *how)
{
	struct search *search = how;
	struct starts starts = find_starts(module);

	(void)size;
	if (is_the_systems(module->dlpi_name) || is_ours(module))
		return 0;
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &module->dlpi_phdr[i];
		const uint8_t *begin = (const uint8_t *)(module->dlpi_addr + p->p_vaddr);
		struct code code = {begin, begin + p->p_filesz, starts, NULL};

		if (!is_code(p) || (search->seen += p->p_filesz) > MOST)
			continue;
		if (search->look(search, &code))
			return 1;
	}
	return 0;
}

static bool any_file(
	struct search *search, bool (*look)(struct search *search, struct code *code))
{
	search->seen = 0;
	search->look = look;
	return dl_iterate_phdr(look_at, search);
}

void cp_lacking_find(struct cp_lacking *found)
{
	struct search search = {.found = found};

	found->what[0] = '\0';
	want_sets(&search);
	if (any_file(&search, look_through) && any_file(&search, can_choose))
		found->what[0] = '\0';
}

#else

void cp_lacking_find(struct cp_lacking *found)
{
	found->what[0] = '\0';
}

#endif
