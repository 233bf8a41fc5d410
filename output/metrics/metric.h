/* SPDX-License-Identifier: MIT
 *
 * The formulas of a group with everything that the group itself knows: its
 * constants, N, and the metrics that stand above.
 */
#ifndef CACHEPEEK_OUTPUT_METRICS_METRIC_H
#define CACHEPEEK_OUTPUT_METRICS_METRIC_H

#include "output/metrics/group.h"

/*
 * The value of a formula of group.  lookup knows quantities and the parameters
 * LINE, SECONDS, TSC, CLOCK and the weights (output/metrics/weights.h).  Rules as in
 * output/metrics/formula.h.
 */
struct cp_value cp_metric_evaluate(struct cp_arena *arena, const struct cp_group *group,
	const struct cp_formula *formula, cp_formula_lookup *lookup, void *context);

/* Is it A / B, of which the group's checks say that A is at most B? */
bool cp_metric_is_part(const struct cp_metric *metric);

#endif
