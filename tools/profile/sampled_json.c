/* SPDX-License-Identifier: MIT */
#include "tools/profile/sampled_json.h"

#include <stdio.h>
#include <string.h>

#include "base/counts.h"
#include "base/text/table.h"
#include "tools/profile/model/sampled_write.h"
#include "tools/shared/json_file.h"

static double read_number(const json_t *in, const char *name)
{
	double value = json_number_value(json_object_get(in, name));

	return value > 0 ? value : 0;
}

static struct cp_samples_event *event_of(struct cp_arena *arena, const json_t *in)
{
	struct cp_samples_event *event = cp_arena_alloc(arena, sizeof(*event));

	memset(event, 0, sizeof(*event));
	snprintf(event->name, sizeof(event->name), "%s", cp_json_word(in, "event"));
	snprintf(event->why, sizeof(event->why), "%s", cp_json_word(in, "reason"));
	event->unit = strcmp(cp_json_word(in, "unit"), "operations") == 0
			      ? CP_UNIT_OPERATIONS
			      : CP_UNIT_MISSES;
	event->period = cp_count_of(read_number(in, "period"));
	event->jitter = (uint32_t)cp_count_of(100 * read_number(in, "jitter") + 0.5);
	event->exact = json_is_true(json_object_get(in, "exact"));
	return event;
}

static struct cp_sampling sampling_of(struct cp_arena *arena, const json_t *in)
{
	double scale = read_number(in, "scale"), total = read_number(in, "total");

	return (struct cp_sampling){
		.event = event_of(arena, in),
		.lost = cp_count_of(read_number(in, "lost")),
		.dropped = cp_count_of(read_number(in, "dropped")),
		.samples = cp_count_of(read_number(in, "samples")),
		.total = total,
		.periods = scale > 0 ? total / scale : 0,
		.threads = (unsigned)cp_count_of(read_number(in, "threads")),
		.without = (unsigned)cp_count_of(read_number(in, "threads_without")),
		.pages = (unsigned)cp_count_of(read_number(in, "ring_pages")),
	};
}

bool cp_sampled_json_head(struct cp_profile *profile, const json_t *document)
{
	const json_t *sampling = json_object_get(document, "sampling");

	profile->sampled = true;
	for (unsigned i = 0; i < CP_SAMPLED_EVENTS; i++) {
		const json_t *event = json_object_get(sampling, cp_sampled_event_key(i));

		if (json_is_object(event))
			profile->sampling[i] = sampling_of(profile->arena, event);
	}
	profile->threads->estimates =
		(struct cp_estimate *)cp_sampled_json_estimates(profile->arena, document);
	return profile->threads->estimates != NULL;
}

const struct cp_estimate *cp_sampled_json_estimates(
	struct cp_arena *arena, const json_t *row)
{
	const json_t *in = json_object_get(row, "estimates");
	struct cp_estimate *out = cp_arena_alloc(arena, CP_SAMPLED_EVENTS * sizeof(*out));

	if (!in)
		return NULL;
	for (unsigned i = 0; i < CP_SAMPLED_EVENTS; i++) {
		const json_t *one = json_object_get(in, cp_sampled_event_key(i));

		out[i] = (struct cp_estimate){
			read_number(one, "value"), read_number(one, "variance")};
	}
	return out;
}
