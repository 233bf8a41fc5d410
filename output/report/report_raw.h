/* SPDX-License-Identifier: MIT
 *
 * One region of one thread as its record has it, before there is a count of
 * anything: sums, times, and what stands in the way.
 */
#ifndef CACHEPEEK_OUTPUT_REPORT_REPORT_RAW_H
#define CACHEPEEK_OUTPUT_REPORT_REPORT_RAW_H

#include "output/report/report_parts.h"

struct cp_raw {
	struct cp_report *report;
	const struct cp_record *record;
	const struct cp_region_item *item; /* with groups that took turns */
	uint64_t turns_ns;                 /* for how long they did */
	uint64_t inclusive[CP_MAX_READ], children[CP_MAX_READ];
	const struct cp_spread *spreads;
	const struct cp_times *times;
	uint64_t calls;
	/* Not all executions were counted: those that were, and what is to be said
	 * of the others.  NULL: all were. */
	const struct cp_sampled *sampled;
	bool sim;
	bool elsewhere;   /* CP_REGION_ELSEWHERE */
	const char *gap;  /* why nothing was counted, or NULL */
	const char *part; /* why not everything was, or NULL */
};

/* report_raw.c: fills raw, whose report and record are set.  Then, from it, the
 * region's time: as a number of ns, and as a value with its status. */
void cp_raw_take(struct cp_raw *raw, const struct cp_source *source,
	const struct cp_region_item *item, const struct cp_thread_item *thread,
	const char *how);
uint64_t cp_raw_time(const struct cp_raw *raw, const struct cp_region_item *item);
struct cp_value cp_raw_seconds(
	const struct cp_raw *raw, const struct cp_region_item *item, const char *how);

/* How well the counters of one quantity were covered. */
struct cp_cover {
	double coverage; /* of the term that was covered worst */
	double enabled, running;
	const char *reason; /* why there is no value, or NULL */
};

/* report_cover.c: which share of the time a counter, or all that a quantity is made
 * of, was counting; what to multiply its counts by. */
struct cp_cover cp_raw_cover(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity);
double cp_raw_factor(const struct cp_raw *raw, uint32_t counter);
bool cp_raw_takes_turns(const struct cp_raw *raw, uint32_t counter);
bool cp_raw_any_takes_turns(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity);

/* Is the quantity the counter that tells for how long a kind of core was in use?
 * Its times then, or NULL. */
const struct cp_times *cp_raw_tells_residency(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity);

/* report_bursts.c: what is known of a quantity that was sampled.  report_counts.c: that
 * nothing is. */
struct cp_count cp_count_sampled(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity);
/* Adds the sample; what the whole sample says: value, error bar, status. */
void cp_count_pool(
	struct cp_report *report, struct cp_count *to, const struct cp_count *from);
void cp_count_conclude(struct cp_count *count);
struct cp_count cp_no_count(const char *reason);

/* Nothing was seen, and few slices looked: that is not 0.  Why, or NULL. */
const char *cp_raw_not_seen(struct cp_report *report, const struct cp_cover *cover);

#endif
