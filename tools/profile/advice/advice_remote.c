/* SPDX-License-Identifier: MIT
 *
 * The rule about data in the memory of another socket.
 */
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"

#define REMOTE_SHARE 0.5 /* of an object's lines, from another socket's memory */

static uint64_t count_of(const struct cp_profiled_object *object, unsigned counter)
{
	return object->count[counter - CP_PROFILE_FIRST];
}

static uint64_t remote_of(const struct cp_profiled_object *object)
{
	return count_of(object, CP_SIM_one_hop_lines) +
	       count_of(object, CP_SIM_two_hop_lines);
}

/* That no cache of the socket had. */
static uint64_t beyond_of(const struct cp_profiled_object *object)
{
	return count_of(object, CP_SIM_llc_load_lines) +
	       count_of(object, CP_SIM_llc_store_lines);
}

static void judge_object(const struct cp_profile *profile,
	const struct cp_profiled_object *object, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context)
{
	struct cp_arena *arena = profile->arena;
	uint64_t lines = remote_of(object);

	if (lines < CP_ADVICE_MISSES || (double)lines < CP_ADVICE_SHARE * (double)all ||
		(double)lines < REMOTE_SHARE * (double)beyond_of(object))
		return;
	add(context,
		(struct cp_finding){
			.rule = "remote-memory",
			.data = object->name,
			.evidence = cp_text_format(arena,
				"another socket's memory had %s "
				"of its %s lines that miss the last level "
				"(%.1f %% of the run's)",
				cp_text_integer(arena, lines),
				cp_text_integer(arena, beyond_of(object)),
				100 * (double)lines / (double)all),
			.threshold = cp_text_format(arena,
				"%.0f %% of its lines, "
				"and %.0f %% of the run's that miss the last level",
				100 * REMOTE_SHARE, 100 * CP_ADVICE_SHARE),
			.advice = "Let the threads that use it touch it first, "
				  "keep them on their socket (numactl --cpunodebind), "
				  "or spread it over all (numactl --interleave).",
			.weight = (double)lines,
		});
}

void cp_advise_remote(const struct cp_profile *profile,
	void (*add)(void *context, struct cp_finding finding), void *context)
{
	uint64_t all = 0;

	for (size_t i = 0; i < profile->nobjects; i++)
		all += beyond_of(&profile->objects[i]);
	for (size_t i = 0; i < profile->nobjects; i++)
		judge_object(profile, &profile->objects[i], all, add, context);
}
