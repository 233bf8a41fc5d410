/* SPDX-License-Identifier: MIT
 *
 * Where in the code a thread uses a line: its statements, and one of them in words.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/advice/sharing.h"
#include "tools/profile/model/symbols.h"

#define NAME_COLUMNS 100
#define RARELY 4  /* so much less than the busiest: not worth naming instead of it */
#define MOSTLY 10 /* times as many reads as writes: where it reads is said, too */

/* ---- statements ---- */

static bool is_same_place(
	const struct cp_place_in_code *a, const struct cp_place_in_code *b)
{
	if (a->module != b->module || strcmp(a->function, b->function) != 0)
		return false;
	return *a->file ? a->line == b->line && strcmp(a->file, b->file) == 0
			: !*b->file && a->address == b->address;
}

static int by_use(const void *one, const void *other)
{
	const struct cp_profiled_place *a = one, *b = other;
	int order = b->writes - a->writes;

	if (!order)
		order = (b->references > a->references) - (b->references < a->references);
	return order ? order
		     : (a->at.address > b->at.address) - (a->at.address < b->at.address);
}

void cp_sharing_find_places(struct cp_arena *arena,
	const struct cp_profiled_sharer *sharer, struct cp_line_user *user)
{
	struct cp_profiled_place *places =
		cp_arena_alloc(arena, (sharer->nplaces + 1) * sizeof(*places));
	size_t n = 0;

	for (size_t i = 0; i < sharer->nplaces; i++) {
		const struct cp_profiled_place *from = &sharer->places[i];
		size_t k = 0;

		while (k < n && !is_same_place(&places[k].at, &from->at))
			k++;
		if (k == n)
			places[n++] = (struct cp_profiled_place){.at = from->at};
		if (places[k].writes == from->writes)
			places[k].references += from->references;
		else if (from->writes || !places[k].references)
			places[k].references = from->references;
		places[k].writes |= from->writes;
	}
	if (n)
		qsort(places, n, sizeof(*places), by_use);
	user->nplaces = n;
	user->places = places;
}

/* ---- in words ---- */

static const char *line_text(struct cp_arena *arena, const struct cp_place_in_code *at)
{
	struct cp_place_in_code caller;
	bool is_inlined = at->module->symbols &&
			  cp_symbols_caller(at->module->symbols, arena, at, &caller);

	return cp_place_line(arena, at, is_inlined ? &caller : NULL);
}

const char *cp_sharing_place_text(
	struct cp_arena *arena, const struct cp_place_in_code *at)
{
	const char *text;

	if (!*at->function)
		text = cp_text_format(arena, "%s+0x%lx [no symbol]", at->module->name,
			(unsigned long)at->address);
	else if (*at->file)
		text = cp_text_format(arena, "%s (%s)",
			cp_text_cut(arena, at->function, NAME_COLUMNS),
			line_text(arena, at));
	else
		text = cp_text_format(arena, "%s::%s", at->module->name,
			cp_text_cut(arena, at->function, NAME_COLUMNS));
	return cp_text_safe(arena, cp_slice_of(text));
}

/* Source that the program was made of, and no header of the system. */
static bool is_own(const struct cp_place_in_code *at)
{
	return *at->file && strncmp(at->file, "/usr/", 5) != 0;
}

/* The busiest place that writes, or reads; but rather the first one in the program's own
 * source that is not much less busy: counts are of a sample. */
static const struct cp_place_in_code *busiest(
	const struct cp_line_user *user, bool writes)
{
	const struct cp_profiled_place *first = NULL;
	const struct cp_place_in_code *own = NULL;

	for (size_t i = 0; i < user->nplaces; i++) {
		const struct cp_profiled_place *place = &user->places[i];

		if (place->writes != writes)
			continue;
		if (!first)
			first = place;
		if (is_own(&place->at) &&
			place->references >= first->references / RARELY &&
			(!own || place->at.address < own->address))
			own = &place->at;
	}
	return own ? own : first ? &first->at : NULL;
}

/* Where most of its use is: "writes in push (queue.c:41)"; "": nothing is known. */
static const char *code_text(struct cp_arena *arena, const struct cp_line_user *user)
{
	const struct cp_place_in_code *writes = busiest(user, true),
				      *reads = busiest(user, false);

	if (writes && reads && user->use->loads / MOSTLY >= user->use->stores)
		return cp_text_format(arena, "writes in %s and reads in %s",
			cp_sharing_place_text(arena, writes),
			cp_sharing_place_text(arena, reads));
	if (!writes && !reads)
		return "";
	return cp_text_format(arena, "%s in %s", writes ? "writes" : "reads",
		cp_sharing_place_text(arena, writes ? writes : reads));
}

const char *cp_sharing_both_text(struct cp_arena *arena, const struct cp_line_user *one,
	const struct cp_line_user *other)
{
	const char *first = code_text(arena, one), *second = code_text(arena, other);

	if (!*first || !*second)
		return "";
	return cp_text_format(arena, "; thread %d %s, thread %d %s", one->thread->tid,
		first, other->thread->tid,
		strcmp(first, second) == 0 ? "there, too" : second);
}
