/* SPDX-License-Identifier: MIT
 *
 * The rule of false sharing: two threads that write one line, each to bytes of its own.
 * Lines whose data has the same names are taken together, as those of an array.
 */
#include <string.h>

#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/advice/sharing.h"

/* Lines of the same data. */
struct group {
	const char *data;
	size_t lines;
	uint64_t transfers, writes, hitm; /* writes: of the second busiest writer */
	const struct cp_shared_line *busiest;
	const struct cp_line_user *writer[2]; /* of that line */
};

static const char *number_text(const struct cp_profile *profile, uint64_t value)
{
	return cp_text_integer(profile->arena, value);
}

/* ---- one line ---- */

/* Is it what a program can put elsewhere? */
static bool has_name(const struct cp_profiled_object *object)
{
	switch (object->data) {
	case CP_DATA_VARIABLE:
	case CP_DATA_TLS:
	case CP_DATA_HEAP:
	case CP_DATA_MMAP:
	case CP_DATA_STACK:
		return true;
	default:
		return false;
	}
}

/* The variable that the thread writes in that part of the line; NULL: none has a name. */
static const struct cp_profiled_object *written_in(
	const struct cp_line_user *user, unsigned part)
{
	const struct cp_profiled_object *object = user->object[part];

	return user->use->written >> (8 * part) & 0xff && object && has_name(object)
		       ? object
		       : NULL;
}

static bool writes_apart(const struct cp_line_user *user)
{
	for (unsigned part = 0; user->apart > user->same && part < CP_PROFILE_PARTS;
		part++)
		if (written_in(user, part))
			return true;
	return false;
}

/* The two that write most, each mostly to bytes of its own; false: there are none. */
static bool find_writers(
	const struct cp_shared_line *line, const struct cp_line_user *writer[2])
{
	writer[0] = writer[1] = NULL;
	for (size_t i = 0; i < line->nusers; i++) {
		const struct cp_line_user *user = &line->users[i];

		if (!writes_apart(user))
			continue;
		if (!writer[0] || user->use->stores > writer[0]->use->stores) {
			writer[1] = writer[0];
			writer[0] = user;
		} else if (!writer[1] || user->use->stores > writer[1]->use->stores) {
			writer[1] = user;
		}
	}
	return writer[1];
}

/* In the order of the line, each once. */
static const char *names_of(
	struct cp_arena *arena, const struct cp_line_user *const writer[2])
{
	const char *names[2 * CP_PROFILE_PARTS], *all = "";
	unsigned n = 0;

	for (unsigned part = 0; part < CP_PROFILE_PARTS; part++)
		for (unsigned i = 0; i < 2; i++) {
			const struct cp_profiled_object *object =
				written_in(writer[i], part);
			unsigned k = 0;

			while (object && k < n && strcmp(names[k], object->name) != 0)
				k++;
			if (!object || k < n)
				continue;
			names[n++] = object->name;
			all = cp_text_listed(arena, all, object->name);
		}
	return all;
}

/* ---- lines of the same data ---- */

static struct group *group_of(struct group *groups, size_t *n, const char *data)
{
	size_t i = 0;

	while (i < *n && strcmp(groups[i].data, data) != 0)
		i++;
	if (i == *n)
		groups[(*n)++].data = data;
	return &groups[i];
}

static void add_line(struct group *group, const struct cp_shared_line *line,
	const struct cp_line_user *const writer[2])
{
	group->lines++;
	group->transfers += line->for_nothing;
	group->writes += writer[1]->use->stores;
	group->hitm += line->hitm;
	if (group->busiest && group->busiest->for_nothing >= line->for_nothing)
		return;
	group->busiest = line;
	group->writer[0] = writer[0];
	group->writer[1] = writer[1];
}

static const char *turns_text(const struct cp_sharing *sharing, const struct group *group)
{
	const struct cp_profile *profile = sharing->profile;

	if (!cp_sharing_quantum(sharing))
		return "";
	return cp_text_format(profile->arena,
		", %s of them if threads take turns of %u data references",
		number_text(profile, group->hitm), cp_sharing_quantum(sharing));
}

static const char *evidence_text(
	const struct cp_sharing *sharing, const struct group *group, uint64_t misses)
{
	const struct cp_profile *profile = sharing->profile;
	const char *lines =
		group->lines == 1
			? cp_text_format(profile->arena, "line 0x%lx",
				  (unsigned long)group->busiest->address)
			: cp_text_format(profile->arena, "%s lines, most at 0x%lx",
				  number_text(profile, group->lines),
				  (unsigned long)group->busiest->address);

	return cp_text_format(profile->arena,
		"threads %d and %d write %s and %s times to different bytes of %s: "
		"up to %s transfers there and back "
		"that bring neither what the other wrote%s "
		"(the run has %s misses in L1D)%s",
		group->writer[0]->thread->tid, group->writer[1]->thread->tid,
		number_text(profile, group->writer[0]->use->stores),
		number_text(profile, group->writer[1]->use->stores), lines,
		number_text(profile, group->transfers), turns_text(sharing, group),
		number_text(profile, misses),
		cp_sharing_both_text(profile->arena, group->writer[0], group->writer[1]));
}

static void judge_group(struct cp_findings *found, const struct cp_sharing *sharing,
	const struct group *group, uint64_t misses)
{
	struct cp_arena *arena = sharing->profile->arena;

	if (found->n == CP_ADVICE_MOST || group->writes < CP_ADVICE_MISSES ||
		group->transfers < CP_ADVICE_MISSES ||
		(double)group->transfers < CP_ADVICE_SHARE * (double)misses ||
		(cp_sharing_quantum(sharing) && !group->hitm))
		return;
	found->finding[found->n++] = (struct cp_finding){
		.rule = "false-sharing",
		.data = group->data,
		.evidence = evidence_text(sharing, group, misses),
		.threshold = cp_text_format(arena,
			"%s writes by each of two threads, %s transfers, "
			"most of which are for nothing, "
			"and %.0f %% of as many as the run's misses",
			cp_text_integer(arena, CP_ADVICE_MISSES),
			cp_text_integer(arena, CP_ADVICE_MISSES), 100 * CP_ADVICE_SHARE),
		.advice = "Keep apart what different threads write: alignas(64), "
			  "padding, or a copy for each thread, added up in the end.",
		.weight = (double)group->transfers,
		.of_runtime = group->busiest->of_runtime,
	};
}

void cp_advise_false_sharing(
	struct cp_findings *found, const struct cp_profile *profile, uint64_t misses)
{
	const struct cp_sharing *sharing;
	const struct cp_line_user *writer[2];
	struct group *groups;
	size_t n = 0;

	if (!profile->slices)
		return;
	sharing = cp_sharing_find(profile, 0);
	groups = cp_arena_alloc(profile->arena, (sharing->nfalse + 1) * sizeof(*groups));
	for (size_t i = 0; i < sharing->nfalse; i++)
		if (find_writers(&sharing->lines[i], writer))
			add_line(group_of(groups, &n, names_of(profile->arena, writer)),
				&sharing->lines[i], writer);
	for (size_t i = 0; i < n; i++)
		judge_group(found, sharing, &groups[i], misses);
}
