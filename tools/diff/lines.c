/* SPDX-License-Identifier: MIT
 *
 * Lines that were edited: where one line of a function is gone and one is new, they are
 * one.
 */
#include <string.h>

#include "tools/diff/values.h"

/* Its only side; < 0: both sides have it, or none. */
static int side_of(const struct cp_spot *spot)
{
	if (!spot->line[0] == !spot->line[1])
		return -1;
	return spot->line[1] != 0;
}

/* Whether they are lines of one function: of the path all but the text. */
static bool is_beside(const struct cp_spot *one, const struct cp_spot *other)
{
	size_t n = json_array_size(one->names);

	if (strcmp(one->file, other->file) != 0 ||
		strcmp(one->function, other->function) != 0 ||
		n != json_array_size(other->names))
		return false;
	return json_equal(json_array_get(one->names, 0), json_array_get(other->names, 0));
}

/* The only one on that side; NULL: there is none, or there are several. */
static struct cp_spot *only_of(
	const struct cp_values *values, const struct cp_spot *beside, int side)
{
	struct cp_spot *found = NULL;

	for (size_t i = 0; i < values->nspots; i++) {
		struct cp_spot *spot = values->spots[i];

		if (side_of(spot) != side || !is_beside(spot, beside))
			continue;
		if (found)
			return NULL;
		found = spot;
	}
	return found;
}

static void join(struct cp_values *values, struct cp_spot *gone, struct cp_spot *new)
{
	for (size_t i = 0; i < values->nentries; i++) {
		struct cp_entry *from = values->entries[i],
				*to = from->spot == new ? cp_values_find(values, gone,
								  from->kind, from->name)
							: NULL;

		if (!to)
			continue;
		to->side[1] = from->side[1];
		from->side[1] = (struct cp_cell){0};
	}
	gone->line[1] = new->line[1];
	gone->edited = true;
	new->line[1] = 0;
}

void cp_values_join_lines(struct cp_values *values)
{
	for (size_t i = 0; i < values->nspots; i++) {
		struct cp_spot *gone = values->spots[i], *new;

		if (side_of(gone) != 0 || only_of(values, gone, 0) != gone)
			continue;
		new = only_of(values, gone, 1);
		if (new)
			join(values, gone, new);
	}
}
