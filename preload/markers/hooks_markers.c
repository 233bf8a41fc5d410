/* SPDX-License-Identifier: MIT
 *
 * Exports: cachepeek_api_1, the table behind the markers of regions/cachepeek.h.
 */
#include <errno.h>
#include <string.h>

#include "base/counts.h"
#include "preload/markers/markers.h"
#include "preload/markers/markers_parts.h"
#include "regions/cachepeek.h"
#include "preload/self.h"
#include "preload/planned.h"

static void begin_region(cachepeek_region name)
{
	cp_marker_begin(name, CP_MARKER_API);
}

static void end_region(cachepeek_region name)
{
	if (name)
		cp_marker_end(name, CP_MARKER_API, CP_END_OWN);
}

static void begin_named(const char *name)
{
	begin_region(cp_marker_name(name));
}

static void end_named(const char *name)
{
	end_region(cp_marker_name(name));
}

static const struct cp_quantity *find_quantity(const char *name)
{
	for (unsigned i = 0; i < cp_plan.set.nquantities; i++)
		if (strcmp(cp_plan.set.quantities[i].name, name) == 0)
			return &cp_plan.set.quantities[i];
	return NULL;
}

/* Multiplexed counters are scaled, as in the report; -ENODATA if there is no
 * number that would be right. */
static int quantity_value(const struct cp_quantity *quantity,
	const struct cp_reading *reading, uint64_t *value)
{
	double sum = 0;
	uint64_t exact = 0;
	bool scaled = false;

	for (unsigned t = 0; t < quantity->nterms; t++) {
		unsigned counter = quantity->terms[t].counter;
		const struct cp_times *times =
			&reading->group[cp_plan.set.counters[counter].group];
		uint64_t count = reading->counter[counter];

		/* A counter that takes turns knows executions, not moments; a counter
		 * of sockets belongs to no thread. */
		if (!times->running || cp_plan.set.counters[counter].socket ||
			cp_plan.set.counters[counter].group < cp_plan.set.nrotated)
			return -ENODATA;
		scaled |= times->running < times->enabled;
		exact += (uint64_t)quantity->terms[t].sign * count;
		sum += quantity->terms[t].sign * (double)count * (double)times->enabled /
		       (double)times->running;
	}
	if (sum < 0 || (quantity->unproven && !exact))
		return -ENODATA;
	*value = scaled ? cp_count_of(sum + 0.5) : exact;
	return 0;
}

static int read_quantity(const char *name, uint64_t *value)
{
	struct cp_live_thread *thread = cp_marker_enter();
	const struct cp_quantity *quantity;
	int result = -ENOENT, state;

	if (!thread)
		return -ENOSYS;
	cp_own_work_begin(&state);
	quantity = find_quantity(name);
	if (quantity)
		result = quantity->available
				 ? cp_marker_read(thread, true, &thread->reading)
				 : -ENODATA;
	if (result == 0)
		result = quantity_value(quantity, &thread->reading, value);
	cp_own_work_end(state);
	cp_marker_leave(thread);
	return result;
}

extern const struct cachepeek_api cachepeek_api_1;

/* Weak, as the header says in assembly: LLVM's assembler refuses two bindings of one
 * symbol. */
__attribute__((weak, visibility("default")))
const struct cachepeek_api cachepeek_api_1 = {
	.size = sizeof(struct cachepeek_api),
	.region_register = cp_marker_name,
	.begin = begin_region,
	.end = end_region,
	.read = read_quantity,
	.pause = cp_marker_pause,
	.resume = cp_marker_resume,
	.flush = cp_marker_flush,
	.begin_named = begin_named,
	.end_named = end_named,
};
