/* SPDX-License-Identifier: MIT
 *
 * Exports: cachepeek_api_1, the table behind the markers of regions/cachepeek.h.
 */
#include <errno.h>
#include <string.h>

#include "preload/markers.h"
#include "preload/markers_parts.h"
#include "preload/runtime.h"
#include "regions/cachepeek.h"

static void begin(cachepeek_region name)
{
	cp_marker_begin(name, CP_MARKER_API);
}

static void end(cachepeek_region name)
{
	if (name)
		cp_marker_end(name, CP_MARKER_API, CP_END_OWN);
}

static void begin_named(const char *name)
{
	begin(cp_marker_name(name));
}

static void end_named(const char *name)
{
	end(cp_marker_name(name));
}

static const struct cp_quantity *find_quantity(const char *name)
{
	for (unsigned i = 0; i < cp_runtime.set.nquantities; i++)
		if (strcmp(cp_runtime.set.quantities[i].name, name) == 0)
			return &cp_runtime.set.quantities[i];
	return NULL;
}

static int read_quantity(const char *name, uint64_t *value)
{
	struct cp_live_thread *thread = cp_marker_enter();
	const struct cp_quantity *quantity;
	struct cp_reading reading;
	int64_t sum = 0;
	int result = -ENOENT;

	if (!thread)
		return -ENOSYS;
	cp_sim_pause();
	quantity = find_quantity(name);
	if (quantity)
		result = quantity->available ? cp_marker_read(thread, true, &reading)
					     : -ENODATA;
	if (result == 0) {
		for (unsigned t = 0; t < quantity->nterms; t++)
			sum += quantity->terms[t].sign *
			       (int64_t)reading.counter[quantity->terms[t].counter];
		*value = sum < 0 ? 0 : (uint64_t)sum;
	}
	cp_sim_resume();
	cp_marker_leave(thread);
	return result;
}

extern const struct cachepeek_api cachepeek_api_1;

__attribute__((visibility("default"))) const struct cachepeek_api cachepeek_api_1 = {
	.size = sizeof(struct cachepeek_api),
	.region_register = cp_marker_name,
	.begin = begin,
	.end = end,
	.read = read_quantity,
	.pause = cp_marker_pause,
	.resume = cp_marker_resume,
	.flush = cp_marker_flush,
	.begin_named = begin_named,
	.end_named = end_named,
};
