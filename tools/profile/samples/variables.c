/* SPDX-License-Identifier: MIT */
#include "tools/profile/samples/variables.h"
#include "tools/profile/model/symbols_parts.h"
#include "base/search.h"

#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/table.h"

struct cp_variables {
	size_t n;
	struct cp_variable *all; /* by of_thread, address */
	uint64_t start, end;
};

static int by_address(const void *a, const void *b)
{
	const struct cp_variable *x = a, *y = b;

	if (x->of_thread != y->of_thread)
		return x->of_thread ? 1 : -1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->size > y->size ? -1 : x->size < y->size;
}

static void add_variable(struct cp_arena *arena, struct cp_variables *variables,
	const char *name, GElf_Sym *s)
{
	int type = GELF_ST_TYPE(s->st_info);

	if (!name || !*name || !s->st_size || s->st_shndx == SHN_UNDEF ||
		(type != STT_OBJECT && type != STT_TLS))
		return;
	variables->all[variables->n++] = (struct cp_variable){
		.address = s->st_value,
		.size = s->st_size,
		.name = cp_text_safe(arena, cp_slice_of(name)),
		.of_thread = type == STT_TLS,
	};
}

/* The variables of the file's own symbol table, or of its debugging file's. */
static void read_symbols(
	struct cp_arena *arena, struct cp_variables *variables, Dwfl_Module *module)
{
	int n = dwfl_module_getsymtab(module);

	if (n <= 0)
		return;
	variables->all = cp_arena_alloc(arena, (size_t)n * sizeof(*variables->all));
	for (int i = 1; i < n; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section;
		const char *name = dwfl_module_getsym_info(
			module, i, &symbol, &address, &section, NULL, NULL);

		if (name && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT)
			symbol.st_value = address;
		add_variable(arena, variables, name, &symbol);
	}
	if (variables->n)
		qsort(variables->all, variables->n, sizeof(*variables->all), by_address);
}

static void read_segments(struct cp_variables *variables, Elf *elf)
{
	GElf_Phdr segment;
	bool first = true;
	size_t n;

	if (elf_getphdrnum(elf, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (first && segment.p_offset == 0)
			variables->start = segment.p_vaddr;
		first = false;
		if (segment.p_vaddr + segment.p_memsz > variables->end)
			variables->end = segment.p_vaddr + segment.p_memsz;
	}
}

struct cp_variables *cp_variables_read(struct cp_arena *arena, const char *path)
{
	struct cp_variables *variables = cp_arena_alloc(arena, sizeof(*variables));
	Dwfl *dwfl = dwfl_begin(&cp_dwfl_callbacks);
	Dwfl_Module *module = NULL;
	GElf_Addr bias;
	Elf *elf = NULL;

	if (!dwfl)
		return NULL;
	dwfl_report_begin(dwfl);
	module = dwfl_report_elf(dwfl, path, path, -1, 0, true);
	dwfl_report_end(dwfl, NULL, NULL);
	elf = module ? dwfl_module_getelf(module, &bias) : NULL;
	if (elf) {
		read_segments(variables, elf);
		read_symbols(arena, variables, module);
	}
	dwfl_end(dwfl);
	return elf ? variables : NULL;
}

const struct cp_variable *cp_variable_at(
	const struct cp_variables *variables, uint64_t address, bool of_thread)
{
	const struct cp_variable wanted = {
		.address = address, .size = 0, .of_thread = of_thread};
	size_t low = CP_IN_FRONT(
		variables->n, i, by_address(&variables->all[i], &wanted) <= 0);

	/* The first of several names that reaches the place. */
	for (size_t tries = 0; low-- > 0 && tries < 16; tries++) {
		const struct cp_variable *v = &variables->all[low];

		if (v->of_thread != of_thread)
			break;
		if (address >= v->address && address - v->address < v->size)
			return v;
	}
	return NULL;
}

uint64_t cp_variables_start(const struct cp_variables *variables)
{
	return variables->start;
}

uint64_t cp_variables_end(const struct cp_variables *variables)
{
	return variables->end;
}
