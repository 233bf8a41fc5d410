/* SPDX-License-Identifier: MIT
 *
 * CACHEPEEK_SWEEP: one level of the simulated machine in many sizes at once.  The
 * simulated PMU keeps beside the level what it would hold with other ways or another
 * size, and counts what misses there.  Each point is a quantity of its own, called
 * LEVEL_misses[FIELD=VALUE]; output/report/sweep.h finds them again in a report.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_SWEEP_H
#define CACHEPEEK_BASE_COUNTERS_SWEEP_H

#include "base/engine/engine.h"
#include "base/machine/machine.h"
#include "tools/sim/request.h"

struct cp_sweep_plan {
	enum cp_level level;
	char field[8]; /* "ways", "size", "entries" */
	unsigned npoints;
	struct {
		uint64_t value;
		uint32_t sets, ways;
	} point[CP_SIM_SWEEP_POINTS];
	char why[CP_WHY_SIZE]; /* why it cannot be had on this machine; "": it can */
	bool sampled;          /* sample.h */
};

/* L1D.ways=1..16, L2.size=256K..8M.  0, or -EINVAL with one line in error. */
int cp_sweep_parse(struct cp_sweep_plan *plan, const struct cp_machine *machine,
	const char *text, char *error, size_t error_size);

/* The option of the simulated PMU; "" if it cannot be had. */
#define CP_SWEEP_OPTION 640
void cp_sweep_option(const struct cp_sweep_plan *plan, char *to, size_t size);

/* Adds a quantity for each point. */
void cp_sweep_add_events(struct cp_event_set *set, const struct cp_sweep_plan *plan);

/* The part that all points share, for the record. */
void cp_sweep_describe(const struct cp_sweep_plan *plan, const struct cp_machine *machine,
	char *to, size_t size);

#endif
