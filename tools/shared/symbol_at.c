/* SPDX-License-Identifier: MIT */
#include "base/search.h"
#include "tools/shared/symbol_at.h"

#include <gelf.h>
#include <stdlib.h>

enum { NOT_ASKED = 0 };

/* libdw compares an address with where symbols and sections begin and end, and with
 * nothing else.  Between two neighbours of these all addresses have the same symbol. */
struct cp_symbol_ranges {
	Dwfl_Module *module;
	size_t n;
	uint64_t *start;  /* of each range, in order */
	uint32_t *answer; /* of each range: NOT_ASKED, or its number in answers, plus 1 */
	size_t nanswers;
	struct cp_symbol_at *answers; /* name NULL: none */
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void add_both_ends(struct cp_symbol_ranges *ranges, uint64_t start, uint64_t size)
{
	ranges->start[ranges->n++] = start;
	ranges->start[ranges->n++] = start + size;
}

/* A symbol's value, and the address that libdw makes of it, differ for function
 * descriptors. */
static void add_symbols(struct cp_symbol_ranges *ranges, int n)
{
	for (int i = 0; i < n; i++) {
		GElf_Sym symbol;
		GElf_Addr address;

		if (!dwfl_module_getsym_info(
			    ranges->module, i, &symbol, &address, NULL, NULL, NULL))
			continue;
		add_both_ends(ranges, address, symbol.st_size);
		if (symbol.st_value != address)
			add_both_ends(ranges, symbol.st_value, symbol.st_size);
	}
}

static void add_sections(struct cp_symbol_ranges *ranges, Elf *elf, GElf_Addr bias)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header)) {
			add_both_ends(ranges, header.sh_addr + bias, header.sh_size);
			/* The address behind its last byte is a section's, too. */
			ranges->start[ranges->n++] =
				header.sh_addr + bias + header.sh_size + 1;
		}
}

static void sort_once_each(struct cp_symbol_ranges *ranges)
{
	size_t kept = 0;

	qsort(ranges->start, ranges->n, sizeof(*ranges->start), by_value);
	for (size_t i = 0; i < ranges->n; i++)
		if (!kept || ranges->start[i] != ranges->start[kept - 1])
			ranges->start[kept++] = ranges->start[i];
	ranges->n = kept;
}

static bool fill_in(struct cp_symbol_ranges *ranges)
{
	int nsymbols = dwfl_module_getsymtab(ranges->module);
	GElf_Addr bias = 0;
	Elf *elf = dwfl_module_getelf(ranges->module, &bias);
	size_t nsections = 0;

	if (nsymbols < 0)
		nsymbols = 0;
	if (elf && elf_getshdrnum(elf, &nsections) < 0)
		nsections = 0;
	ranges->start =
		calloc(4 * (size_t)nsymbols + 3 * nsections + 1, sizeof(*ranges->start));
	if (!ranges->start)
		return false;
	add_symbols(ranges, nsymbols);
	if (nsections)
		add_sections(ranges, elf, bias);
	sort_once_each(ranges);
	ranges->answer = calloc(ranges->n + 1, sizeof(*ranges->answer));
	return ranges->answer;
}

struct cp_symbol_ranges *cp_symbol_ranges_make(Dwfl_Module *module)
{
	struct cp_symbol_ranges *ranges = calloc(1, sizeof(*ranges));

	if (!ranges)
		return NULL;
	ranges->module = module;
	if (fill_in(ranges))
		return ranges;
	cp_symbol_ranges_free(ranges);
	return NULL;
}

void cp_symbol_ranges_free(struct cp_symbol_ranges *ranges)
{
	if (!ranges)
		return;
	free(ranges->start);
	free(ranges->answer);
	free(ranges->answers);
	free(ranges);
}

static void ask_libdw(Dwfl_Module *module, uint64_t address, struct cp_symbol_at *at)
{
	GElf_Off offset = 0;
	GElf_Sym symbol;

	*at = (struct cp_symbol_at){.name = dwfl_module_addrinfo(module, address, &offset,
					    &symbol, NULL, NULL, NULL)};
	if (!at->name)
		return;
	at->start = address - offset;
	at->size = symbol.st_size;
	at->type = GELF_ST_TYPE(symbol.st_info);
}

/* Without memory the answer is not kept. */
static void keep_answer(
	struct cp_symbol_ranges *ranges, uint32_t *answer, const struct cp_symbol_at *at)
{
	size_t n = ranges->nanswers;

	if (!(n & (n - 1))) {
		struct cp_symbol_at *larger =
			realloc(ranges->answers, (n ? 2 * n : 1) * sizeof(*larger));

		if (!larger)
			return;
		ranges->answers = larger;
	}
	ranges->answers[n] = *at;
	*answer = (uint32_t)++ranges->nanswers;
}

/* How many ranges begin at the address or before. */
static size_t ranges_until(const struct cp_symbol_ranges *ranges, uint64_t address)
{
	return CP_IN_FRONT(ranges->n, i, ranges->start[i] <= address);
}

bool cp_symbol_at(
	struct cp_symbol_ranges *ranges, uint64_t address, struct cp_symbol_at *at)
{
	uint32_t *answer = &ranges->answer[ranges_until(ranges, address)];

	if (*answer != NOT_ASKED) {
		*at = ranges->answers[*answer - 1];
		return at->name;
	}
	ask_libdw(ranges->module, address, at);
	keep_answer(ranges, answer, at);
	return at->name;
}
