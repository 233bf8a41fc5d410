/* SPDX-License-Identifier: MIT
 *
 * The request (names and groups), and what both engines share in answering it.
 */
#include "base/counters/events.h"

#include <string.h>

#include "base/format.h"
#include "base/text/nearest.h"
#include "base/text.h"
#include "output/metrics/other_names.h"
#include "output/metrics/preset.h"
#include "base/counters/encode.h"
#include "base/counters/events_internal.h"

static void add_name(struct cp_request *request, const char *name)
{
	for (size_t i = 0; i < request->nnames; i++)
		if (strcmp(request->names[i], name) == 0)
			return;
	if (request->nnames == CP_MAX_QUANTITIES) {
		request->dropped++;
		return;
	}
	request->names[request->nnames++] = name;
}

/* The settings of sysfs:PMU/ONE=1,TWO=2/ hold commas. */
static const char *next_event(const char **list, size_t *length)
{
	const char *piece = cp_next_piece(list, ',', length), *first, *last;

	if (!piece || !cp_starts_with(piece, "sysfs:"))
		return piece;
	first = strchr(piece, '/');
	last = first && first < piece + *length ? strchr(first + 1, '/') : NULL;
	if (!last || last < piece + *length)
		return piece;
	*length = (size_t)(last - piece) + strcspn(last, ",");
	*list = piece + *length;
	return piece;
}

static void add_events(
	struct cp_request *request, struct cp_arena *arena, const char *list)
{
	const char *piece;
	size_t length;

	while ((piece = next_event(&list, &length)))
		add_name(request, cp_arena_copy(arena, piece, length));
}

/* The group with another value of a constant.  The value becomes part of its
 * text, and so the run record keeps it. */
static const struct cp_group *with_let(struct cp_arena *arena,
	const struct cp_group *group, const char *name, const char *value,
	cp_complaint *complain)
{
	size_t room = strlen(group->text) + strlen(name) + strlen(value) + 16;
	char *text = cp_arena_alloc(arena, room), error[256], line[320];
	const struct cp_group *changed;

	cp_format(text, room, "%s\n@let %s %s\n", group->text, name, value);
	changed = cp_group_parse(arena, "CACHEPEEK_LET", text, error, sizeof(error));
	if (changed)
		return changed;
	cp_format(line, sizeof(line),
		"CACHEPEEK_LET: %s=%.80s is not a number above 0: %s is used", name,
		value, cp_group_let(group, name)->text);
	complain(line);
	return group;
}

/* The next NAME=NUMBER: the name, and the number in *number. */
static const char *next_let(
	struct cp_arena *arena, const char **lets, const char **number)
{
	const char *piece;
	size_t length;

	while (*lets && (piece = cp_next_piece(lets, ',', &length))) {
		char *name = cp_arena_copy(arena, piece, length),
		     *equals = strchr(name, '=');

		if (!equals)
			continue;
		*equals = '\0';
		*number = equals + 1;
		return name;
	}
	return NULL;
}

static const struct cp_group *with_lets(struct cp_arena *arena,
	const struct cp_group *group, const char *lets, cp_complaint *complain)
{
	const char *name, *number;

	while ((name = next_let(arena, &lets, &number)))
		if (cp_group_let(group, name))
			group = with_let(arena, group, name, number, complain);
	return group;
}

/* All groups, and profiles, use the same cost of a line. */
static void set_weight(struct cp_request *request, struct cp_arena *arena,
	const char *name, const char *number, cp_complaint *complain)
{
	char line[320];
	double cycles;

	if (cp_formula_number(arena, cp_slice_of(number), &cycles) && cycles <= 1e9) {
		request->weights[cp_weight_find(name)] = cycles;
		return;
	}
	cp_format(line, sizeof(line),
		"CACHEPEEK_LET: %s=%.80s is not a number of cycles above 0: "
		"it changes nothing",
		name, number);
	complain(line);
}

static void set_weights(struct cp_request *request, struct cp_arena *arena,
	const char *lets, cp_complaint *complain)
{
	const char *name, *number;

	while ((name = next_let(arena, &lets, &number)))
		if (cp_weight_find(name) < CP_NWEIGHTS)
			set_weight(request, arena, name, number, complain);
}

static bool has_constant(const struct cp_request *request, const char *name)
{
	if (cp_weight_find(name) < CP_NWEIGHTS)
		return true;
	for (size_t i = 0; i < request->ngroups; i++)
		if (cp_group_let(request->groups[i], name))
			return true;
	return false;
}

/* Each NAME=NUMBER is for one of the groups, or says what lines cost. */
static void check_lets(
	const struct cp_request *request, const char *lets, cp_complaint *complain)
{
	const char *piece;
	char line[200], name[64];
	size_t length;

	while (lets && (piece = cp_next_piece(&lets, ',', &length))) {
		size_t left = strcspn(piece, "=");

		cp_format(name, sizeof(name), "%.*s",
			(int)(left < length ? left : length), piece);
		if (left < length && has_constant(request, name))
			continue;
		cp_format(line, sizeof(line),
			left < length ? "CACHEPEEK_LET: "
					"no group of this run has a constant %s: "
					"`cachepeek list groups NAME` shows them"
				      : "CACHEPEEK_LET=%s: write NAME=NUMBER",
			name);
		complain(line);
	}
}

/* The group, also by another tool's name, which is said. */
static const struct cp_group *find_group(struct cp_arena *arena, const char *name,
	char *error, size_t size, cp_complaint *complain)
{
	const struct cp_group *group = cp_group_find(arena, name, error, size);
	struct cp_other_name other;
	char line[200];

	if (group || !cp_other_name(arena, CP_NAMED_GROUP, name, &other))
		return group;
	cp_other_name_note(&other, name, line, sizeof(line));
	complain(line);
	return cp_group_find(arena, other.ours, error, size);
}

enum { MAX_ERROR = 256 };

/* error: why there is no such group; empty if there is. */
static void add_group(struct cp_request *request, struct cp_arena *arena,
	const char *name, const char *lets, char error[MAX_ERROR], cp_complaint *complain)
{
	const struct cp_group *group;

	error[0] = '\0';
	if (request->ngroups == CP_MAX_GROUPS) {
		complain("more than 16 groups were asked for: the rest is left out");
		return;
	}
	group = find_group(arena, name, error, MAX_ERROR, complain);
	if (!group)
		return;
	error[0] = '\0';
	group = with_lets(arena, group, lets, complain);
	request->groups[request->ngroups++] = group;
	for (size_t i = 0; i < group->nneed; i++)
		add_name(request, group->need[i]);
	for (size_t i = 0; i < group->nwant; i++)
		add_name(request, group->want[i]);
	for (size_t i = 0; i < group->nsimulated; i++)
		add_name(request, group->simulated[i]);
}

/* fallback: counted where nothing else is; NULL: nothing is. */
static void add_groups(struct cp_request *request, struct cp_arena *arena,
	const char *groups, const char *lets, const char *fallback,
	cp_complaint *complain)
{
	char error[MAX_ERROR] = "", line[MAX_ERROR + 64];
	const char *piece;
	size_t length;

	while ((piece = cp_next_piece(&groups, ',', &length))) {
		if (error[0])
			complain(error);
		add_group(request, arena, cp_arena_copy(arena, piece, length), lets,
			error, complain);
	}
	if (request->nnames > 0 || !fallback) {
		if (error[0])
			complain(error);
		return;
	}
	if (error[0]) {
		cp_format(line, sizeof(line), "%s (%s is counted instead)", error,
			fallback);
		complain(line);
	}
	add_group(request, arena, fallback, lets, error, complain);
}

void cp_request_read(struct cp_request *request, struct cp_arena *arena,
	const struct cp_request_text *text, cp_complaint *complain)
{
	const char *groups = text->groups;
	char line[128];

	memset(request, 0, sizeof(*request));
	if (text->events)
		add_events(request, arena, text->events);
	else if (!groups)
		groups = text->fallback;
	if (groups)
		add_groups(request, arena, groups, text->lets,
			text->events ? NULL : text->fallback, complain);
	set_weights(request, arena, text->lets, complain);
	check_lets(request, text->lets, complain);
	if (request->dropped) {
		cp_format(line, sizeof(line),
			"%u events beyond %u are not counted: ask for fewer",
			request->dropped, CP_MAX_QUANTITIES);
		complain(line);
	}
}

/* ---- the set ---- */

struct cp_quantity *cp_set_quantity(struct cp_event_set *set, const char *name)
{
	struct cp_quantity *quantity = &set->quantities[set->nquantities++];

	memset(quantity, 0, sizeof(*quantity));
	cp_format(quantity->name, sizeof(quantity->name), "%s", name);
	return quantity;
}

int cp_set_counter(struct cp_event_set *set, const char *name)
{
	for (unsigned i = 0; i < set->ncounters; i++)
		if (strcmp(set->counters[i].name, name) == 0)
			return (int)i;
	return -1;
}

struct cp_counter *cp_set_add_counter(struct cp_event_set *set, const char *name)
{
	struct cp_counter *counter = &set->counters[set->ncounters++];

	memset(counter, 0, sizeof(*counter));
	counter->mirror = CP_NO_MIRROR;
	cp_format(counter->name, sizeof(counter->name), "%s", name);
	return counter;
}

void cp_quantity_add_term(struct cp_quantity *quantity, int sign, unsigned counter)
{
	quantity->terms[quantity->nterms].sign = sign;
	quantity->terms[quantity->nterms].counter = counter;
	quantity->nterms++;
}

static const char *software_like(const char *name)
{
	const char *candidates[32];
	unsigned count = 0;

	while (count < 31 && (candidates[count] = cp_software_event(count)))
		count++;
	candidates[count] = NULL;
	return cp_nearest(name, candidates);
}

const char *cp_event_like(const char *name, struct cp_arena *arena)
{
	const char *const near[] = {cp_nearest(name, cp_preset_names(arena)),
		software_like(name),
		cp_nearest(name, cp_other_names(arena, CP_NAMED_EVENT))};
	const char *nearest = NULL;

	for (unsigned i = 0; i < sizeof(near) / sizeof(near[0]); i++)
		if (near[i] && (!nearest || cp_edit_distance(name, near[i]) <
						    cp_edit_distance(name, nearest)))
			nearest = near[i];
	return nearest;
}

const char *cp_read_as(const char *name, struct cp_arena *arena, cp_complaint *complain)
{
	struct cp_other_name other;
	char line[256];

	if (!cp_other_name(arena, CP_NAMED_EVENT, name, &other))
		return NULL;
	cp_other_name_note(&other, name, line, sizeof(line));
	complain(line);
	return other.ours;
}

void cp_complain_unknown(const char *name, struct cp_arena *arena, const char *detail,
	struct cp_quantity *quantity, cp_complaint *complain)
{
	const char *nearest = cp_event_like(name, arena);
	char line[320];

	if (nearest)
		cp_format(line, sizeof(line),
			"unknown event %s: did you mean %s? It is not counted", name,
			nearest);
	else
		cp_format(line, sizeof(line),
			"unknown event %s (%s): `cachepeek list events` "
			"shows what there is. It is not counted",
			name, detail);
	complain(line);
	cp_format(quantity->why.text, sizeof(quantity->why.text), "unknown event (%s)",
		detail);
}
