/* SPDX-License-Identifier: MIT */
#include "base/search.h"
#include "tools/shared/units.h"

#include <dwarf.h>
#include <stdlib.h>

/* The addresses are DWARF's. */
struct range {
	uint64_t start, end;
	uint64_t reach; /* the last end of this range and of all before it */
	Dwarf_Die unit;
};

struct cp_units {
	size_t n, room;
	struct range *range; /* by start */
	Dwarf_Addr bias;
	bool failed;
};

/* Linkers give 0 or 1 for the start of a function that they left out. */
#define LAST_LEFT_OUT 1

static void add_range(
	struct cp_units *units, const Dwarf_Die *unit, uint64_t start, uint64_t end)
{
	size_t room = units->room ? 2 * units->room : 64;
	struct range *larger;

	if (start <= LAST_LEFT_OUT || start >= end)
		return;
	if (units->n == units->room) {
		larger = realloc(units->range, room * sizeof(*larger));
		if (!larger) {
			units->failed = true;
			return;
		}
		units->range = larger;
		units->room = room;
	}
	units->range[units->n++] = (struct range){start, end, 0, *unit};
}

/* A unit of an assembler, or of an old compiler, may state no ranges: its lines have
 * sequences, each with an end. */
static void add_sequences(struct cp_units *units, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	Dwarf_Addr start = 0, at;
	bool inside = false, ends;
	size_t n;

	if (dwarf_getsrclines(unit, &lines, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);

		if (dwarf_lineaddr(line, &at) != 0 ||
			dwarf_lineendsequence(line, &ends) != 0)
			continue;
		if (!inside)
			start = at;
		if (ends)
			add_range(units, unit, start, at);
		inside = !ends;
	}
}

static void add_unit(struct cp_units *units, Dwarf_Die *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;
	bool any = false;

	while ((next = dwarf_ranges(unit, next, &base, &start, &end)) > 0) {
		add_range(units, unit, start, end);
		any = true;
	}
	if (!any)
		add_sequences(units, unit);
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1)
				    : (x->end > y->end) - (x->end < y->end);
}

struct cp_units *cp_units_make(Dwarf *dwarf, Dwarf_Addr bias)
{
	struct cp_units *units = calloc(1, sizeof(*units));
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint64_t reach = 0;

	if (units)
		units->bias = bias;
	while (units && dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL) == 0)
		add_unit(units, &unit);
	if (!units || units->failed) {
		cp_units_free(units);
		return NULL;
	}
	if (units->n)
		qsort(units->range, units->n, sizeof(*units->range), by_start);
	for (size_t i = 0; i < units->n; i++) {
		if (units->range[i].end > reach)
			reach = units->range[i].end;
		units->range[i].reach = reach;
	}
	return units;
}

void cp_units_free(struct cp_units *units)
{
	if (!units)
		return;
	free(units->range);
	free(units);
}

/* How many ranges begin at the address or before it. */
static size_t count_before(const struct cp_units *units, uint64_t address)
{
	return CP_IN_FRONT(units->n, i, units->range[i].start <= address);
}

bool cp_unit_at(
	const struct cp_units *units, uint64_t address, Dwarf_Die *unit, Dwarf_Addr *bias)
{
	uint64_t at = address - units->bias;
	size_t i = count_before(units, at);

	while (i > 0 && units->range[i - 1].reach > at)
		if (units->range[--i].end > at) {
			*unit = units->range[i].unit;
			*bias = units->bias;
			return true;
		}
	return false;
}

bool cp_unit_entries(Dwarf_Die *unit, Dwarf_Die *entries)
{
	uint8_t kind = 0;

	*entries = *unit;
	if (dwarf_cu_info(unit->cu, NULL, &kind, NULL, entries, NULL, NULL, NULL) != 0 ||
		kind != DW_UT_skeleton) {
		*entries = *unit;
		return true;
	}
	return entries->addr != NULL;
}

const char *cp_declared_in(Dwarf_Die *entry)
{
	Dwarf_Attribute attribute;
	Dwarf_Half version = 0;
	Dwarf_Files *files;
	Dwarf_Word number;
	Dwarf_Die unit;
	size_t n;

	if (!dwarf_attr_integrate(entry, DW_AT_decl_file, &attribute) ||
		dwarf_formudata(&attribute, &number) != 0 ||
		!dwarf_cu_die(entry->cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
		(number == 0 && version < 5) ||
		dwarf_getsrcfiles(&unit, &files, &n) != 0 || number >= n)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}
