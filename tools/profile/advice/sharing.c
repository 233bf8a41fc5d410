/* SPDX-License-Identifier: MIT */
#include "tools/profile/advice/sharing.h"
#include "base/counts.h"

#include <stdlib.h>
#include <string.h>

/* ---- which use belongs to which line ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_line(const void *one, const void *other)
{
	const struct cp_profiled_sharer *a = one, *b = other;
	int order = compare_numbers(a->source, b->source);

	if (!order)
		order = compare_numbers(a->in->line, b->in->line);
	return order ? order : compare_numbers(a->in->incarnation, b->in->incarnation);
}

static uint64_t references_of(const struct cp_profile_sharer *use)
{
	return use->loads + use->stores;
}

static int by_references(const void *one, const void *other)
{
	const struct cp_line_user *a = one, *b = other;
	int order = compare_numbers(references_of(b->use), references_of(a->use));

	return order ? order
		     : compare_numbers(
			       (uint64_t)a->thread->tid, (uint64_t)b->thread->tid);
}

/* ---- data ---- */

static int by_id(const void *one, const void *other)
{
	const struct cp_profiled_object
		*a = *(const struct cp_profiled_object *const *)one,
		*b = *(const struct cp_profiled_object *const *)other;
	int order = compare_numbers(a->source, b->source);

	return order ? order : compare_numbers(a->id, b->id);
}

struct index {
	size_t n;
	const struct cp_profiled_object **object;
};

static struct index index_objects(const struct cp_profile *profile)
{
	struct index index = {profile->nobjects, NULL};

	index.object =
		cp_arena_alloc(profile->arena, (index.n + 1) * sizeof(*index.object));
	for (size_t i = 0; i < index.n; i++)
		index.object[i] = &profile->objects[i];
	qsort(index.object, index.n, sizeof(*index.object), by_id);
	return index;
}

static const struct cp_profiled_object *find_object(
	const struct index *index, size_t source, uint32_t id)
{
	const struct cp_profiled_object wanted = {.source = source, .id = id},
					*key = &wanted, **found;

	found = bsearch(&key, index->object, index->n, sizeof(*index->object), by_id);
	return found ? *found : NULL;
}

/* ---- one line ---- */

static uint64_t part_bits(unsigned part)
{
	return 0xffull << (8 * part);
}

/* Do both touch the same bytes of the part, and one of them write them? */
static bool are_in_conflict(const struct cp_profile_sharer *one,
	const struct cp_profile_sharer *other, unsigned part)
{
	return ((one->written & (other->read | other->written)) |
		       (one->read & other->written)) &
	       part_bits(part);
}

/* The references to the part that may need what another did there: not more than the
 * others have.  A thread that cleared a line before it was anybody's has one. */
static uint64_t same_of_part(
	const struct cp_shared_line *line, const struct cp_line_user *user, unsigned part)
{
	uint64_t mine = user->use->part[part], others = 0;

	for (size_t i = 0; i < line->nusers && others < mine; i++) {
		const struct cp_profile_sharer *other = line->users[i].use;

		if (other != user->use && are_in_conflict(user->use, other, part))
			others += other->part[part];
	}
	return mine < others ? mine : others;
}

/* A reference that touches several parts is divided among them by their shares. */
static void split_references(struct cp_shared_line *line, struct cp_line_user *user)
{
	uint64_t same = 0, all = 0;

	for (unsigned part = 0; part < CP_PROFILE_PARTS; part++) {
		all += user->use->part[part];
		same += same_of_part(line, user, part);
	}
	user->same = all ? cp_count_of((double)references_of(user->use) * (double)same /
				       (double)all)
			 : 0;
	user->apart = references_of(user->use) - user->same;
}

/* There and back: each takes a reference of the busiest and one of another, or of two
 * others. */
static uint64_t bound_transfers(const struct cp_shared_line *line, bool apart)
{
	uint64_t sum = 0, most = 0;

	for (size_t i = 0; i < line->nusers; i++) {
		const struct cp_line_user *user = &line->users[i];
		uint64_t n = apart ? user->apart : user->same;

		sum += n;
		most = n > most ? n : most;
	}
	return sum - most < sum / 2 ? sum - most : sum / 2;
}

static uint64_t bound_of_all(const struct cp_shared_line *line)
{
	uint64_t sum = 0, most = references_of(line->users[0].use);

	for (size_t i = 0; i < line->nusers; i++)
		sum += references_of(line->users[i].use);
	return sum - most < sum / 2 ? sum - most : sum / 2;
}

/* A thread that only reads a line takes it from nobody: behind each store, every other
 * thread may have to fetch it once. */
static uint64_t bound_by_stores(const struct cp_shared_line *line, uint64_t transfers)
{
	uint64_t fetches = 0;

	for (size_t i = 0; i < line->nusers; i++)
		fetches += line->users[i].use->stores * (line->nusers - 1);
	return transfers < fetches ? transfers : fetches;
}

static bool is_of_runtime(const struct cp_shared_line *line)
{
	bool any = false;

	for (size_t i = 0; i < line->nusers; i++)
		for (unsigned part = 0; part < CP_PROFILE_PARTS; part++) {
			const struct cp_profiled_object *object =
				line->users[i].object[part];

			if (object && !object->of_runtime)
				return false;
			any = any || object;
		}
	return any;
}

static void judge_line(struct cp_shared_line *line)
{
	qsort(line->users, line->nusers, sizeof(*line->users), by_references);
	for (size_t i = 0; i < line->nusers; i++) {
		split_references(line, &line->users[i]);
		line->hitm += line->users[i].use->hitm;
		line->invalidations += line->users[i].use->invalidations;
	}
	line->transfers = bound_by_stores(line, bound_of_all(line));
	line->for_nothing = bound_by_stores(line, bound_transfers(line, true));
	line->for_data = bound_by_stores(line, bound_transfers(line, false));
	line->is_false = line->for_nothing > line->for_data;
	line->of_runtime = is_of_runtime(line);
}

static struct cp_line_user user_of(struct cp_arena *arena,
	const struct cp_profiled_sharer *sharer, const struct index *index)
{
	struct cp_line_user user = {.thread = sharer->thread, .use = sharer->in};

	for (unsigned part = 0; part < CP_PROFILE_PARTS; part++)
		if (sharer->in->object[part])
			user.object[part] = find_object(
				index, sharer->source, sharer->in->object[part]);
	cp_sharing_find_places(arena, sharer, &user);
	return user;
}

/* ---- all of them ---- */

static int by_transfers(const void *one, const void *other)
{
	const struct cp_shared_line *a = one, *b = other;
	int order = b->is_false - a->is_false;

	if (!order)
		order = compare_numbers(b->is_false ? b->for_nothing : b->transfers,
			a->is_false ? a->for_nothing : a->transfers);
	return order ? order : compare_numbers(a->address, b->address);
}

static void add_line(struct cp_sharing *sharing, const struct cp_profiled_sharer *first,
	size_t n, const struct index *index)
{
	struct cp_shared_line *line = &sharing->lines[sharing->nlines];

	line->address = first->in->line;
	line->nusers = n;
	line->users = cp_arena_alloc(sharing->profile->arena, n * sizeof(*line->users));
	for (size_t i = 0; i < n; i++)
		line->users[i] = user_of(sharing->profile->arena, &first[i], index);
	judge_line(line);
	if (line->transfers < sharing->least) {
		sharing->few++;
		memset(line, 0, sizeof(*line));
		return;
	}
	sharing->nlines++;
	sharing->nfalse += line->is_false;
}

const struct cp_sharing *cp_sharing_find(const struct cp_profile *profile, uint64_t least)
{
	struct cp_sharing *sharing = cp_arena_alloc(profile->arena, sizeof(*sharing));
	struct index index = index_objects(profile);
	size_t end;

	sharing->profile = profile;
	sharing->least = least;
	sharing->lines = cp_arena_alloc(
		profile->arena, (profile->nsharers + 1) * sizeof(*sharing->lines));
	if (profile->nsharers)
		qsort(profile->sharers, profile->nsharers, sizeof(*profile->sharers),
			by_line);
	for (size_t i = 0; i < profile->nsharers; i = end) {
		for (end = i + 1;
			end < profile->nsharers &&
			by_line(&profile->sharers[i], &profile->sharers[end]) == 0;
			end++)
			;
		add_line(sharing, &profile->sharers[i], end - i, &index);
	}
	if (sharing->nlines)
		qsort(sharing->lines, sharing->nlines, sizeof(*sharing->lines),
			by_transfers);
	return sharing;
}

unsigned cp_sharing_quantum(const struct cp_sharing *sharing)
{
	const struct cp_profile_slices *slices = sharing->profile->slices;

	return slices && slices->whole ? slices->quantum : 0;
}

void cp_sharing_warn(struct cp_profile *profile)
{
	if (profile->slices->quantum && !profile->slices->whole)
		cp_profile_warn(profile,
			"a process was killed, or still runs: its turns are not known");
	if (profile->slices->lost)
		cp_profile_warn(profile,
			"%lu references went to lines beyond those "
			"that are looked after: "
			"what those share is not known",
			(unsigned long)profile->slices->lost);
}

/* ---- what the reports say of it ---- */

void cp_sharing_extent(const struct cp_sharing *sharing, const struct cp_line_user *user,
	unsigned *first, unsigned *last)
{
	uint64_t bits = user->use->read | user->use->written;
	unsigned line = sharing->profile->slices ? sharing->profile->slices->line : 64,
		 each = line > 64 ? line / 64 : 1;

	*first = bits ? (unsigned)__builtin_ctzll(bits) * each : 0;
	*last = bits ? (63 - (unsigned)__builtin_clzll(bits) + 1) * each - 1 : 0;
}

bool cp_sharing_named_before(const struct cp_line_user *user, unsigned part)
{
	for (unsigned i = 0; i < part; i++)
		if (user->object[i] &&
			strcmp(user->object[i]->name, user->object[part]->name) == 0)
			return true;
	return false;
}
