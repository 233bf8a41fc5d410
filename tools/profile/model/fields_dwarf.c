/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <stdlib.h>

#include "base/text/table.h"
#include "tools/profile/model/fields.h"
#include "tools/profile/model/symbols_parts.h"

#define MOST_FIELDS 256
#define MOST_NESTED 8

struct reading {
	struct cp_arena *arena;
	struct cp_fields *fields;
};

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, type) && dwarf_peel_type(type, type) == 0;
}

static bool is_structure(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

static bool number_of(Dwarf_Die *die, unsigned name, Dwarf_Word *number)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, name, &attribute) &&
	       dwarf_formudata(&attribute, number) == 0;
}

/* Where in its structure the member is; a bit field is in the bytes that have it. */
static bool place_of(Dwarf_Die *member, Dwarf_Die *type, struct cp_field *field)
{
	Dwarf_Word offset = 0, size, bit, bits;

	if (dwarf_aggregate_size(type, &size) < 0)
		return false;
	if (number_of(member, DW_AT_data_bit_offset, &bit) &&
		number_of(member, DW_AT_bit_size, &bits)) {
		offset = bit / 8;
		size = (bit + bits + 7) / 8 - offset;
	} else if (!number_of(member, DW_AT_data_member_location, &offset)) {
		return false; /* static, or where the object itself says */
	}
	field->offset += offset;
	field->size = size;
	return true;
}

static const char *nested_name(
	const struct reading *r, const char *outer, Dwarf_Die *member)
{
	const char *own = dwarf_diename(member);

	if (!own)
		return outer;
	own = cp_text_safe(r->arena, cp_slice_of(own));
	return *outer ? cp_text_format(r->arena, "%s.%s", outer, own) : own;
}

/* In place of what is nested, its own fields. */
static void read_fields(const struct reading *r, Dwarf_Die *structure, const char *outer,
	uint64_t offset, unsigned depth)
{
	Dwarf_Die member, type;

	if (depth == MOST_NESTED || dwarf_child(structure, &member) != 0)
		return;
	do {
		struct cp_field field = {.offset = offset};
		int tag = dwarf_tag(&member);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
			!type_of(&member, &type) || !place_of(&member, &type, &field) ||
			!field.size)
			continue;
		field.name =
			nested_name(r, outer, tag == DW_TAG_member ? &member : &type);
		if (is_structure(&type))
			read_fields(r, &type, field.name, field.offset, depth + 1);
		else if (r->fields->n < MOST_FIELDS)
			r->fields->field[r->fields->n++] = field;
	} while (dwarf_siblingof(&member, &member) == 0);
}

/* Finds the type of an array's elements. */
static bool element_of(Dwarf_Die *variable, Dwarf_Die *type)
{
	if (!type_of(variable, type))
		return false;
	while (dwarf_tag(type) == DW_TAG_array_type)
		if (!type_of(type, type))
			return false;
	return is_structure(type);
}

static int by_offset(const void *a, const void *b)
{
	const struct cp_field *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->size > y->size) - (x->size < y->size);
}

struct cp_fields *cp_symbols_fields(
	struct cp_symbols *symbols, struct cp_arena *arena, uint64_t address)
{
	struct reading r = {arena, cp_arena_alloc(arena, sizeof(*r.fields))};
	Dwarf_Die variable, type;
	const char *name;
	Dwarf_Word size;

	if (!cp_symbols_entry(symbols, address, &variable) ||
		!element_of(&variable, &type) || dwarf_aggregate_size(&type, &size) < 0)
		return NULL;
	name = dwarf_diename(&type);
	r.fields->type = cp_text_safe(arena, cp_slice_of(name ? name : ""));
	r.fields->size = size;
	r.fields->field = cp_arena_alloc(arena, MOST_FIELDS * sizeof(*r.fields->field));
	read_fields(&r, &type, "", 0, 0);
	if (r.fields->n)
		qsort(r.fields->field, r.fields->n, sizeof(*r.fields->field), by_offset);
	return r.fields->n && size ? r.fields : NULL;
}
