/* SPDX-License-Identifier: MIT
 *
 * The steps of cp_report_build(); nobody else's business.
 */
#ifndef CACHEPEEK_OUTPUT_REPORT_REPORT_PARTS_H
#define CACHEPEEK_OUTPUT_REPORT_REPORT_PARTS_H

#include "output/report/report.h"
#include "regions/record_read.h"

/* A record, and how its quantities are numbered in the report. */
struct cp_source {
	struct cp_record record;
	const char *name; /* of its file */
	/* By the record's index, the report's, or CP_NOT_NUMBERED. */
	uint32_t quantity[CP_MAX_QUANTITIES];
	/* CP_QUANTITY_UNPROVEN, and 0 everywhere in the report */
	bool silent[CP_MAX_QUANTITIES];
};

struct cp_source_list {
	struct cp_source **items;
	size_t count, room;
	bool folded; /* some stand for several processes */
};

/* report_bursts.c: a quantity of the simulated PMU's sample in a part of the run, where
 * counters have grown by that. */
struct cp_sampled_part {
	double value, error; /* half of the 95 % interval */
	const char *none;    /* why there is no value, or NULL */
};
/* The number of the counter in that place of the mirrors; of counters if nobody asked for
 * it. */
uint32_t cp_counter_at(const struct cp_record *record, uint32_t at);
bool cp_is_sampled(
	const struct cp_record *record, const struct cp_quantity_item *quantity);
struct cp_sampled_part cp_sampled_part_of(const struct cp_record *record,
	const struct cp_quantity_item *quantity, const uint64_t *counts);

#define CP_MAX_GROUPS 16

/* report.c: from the records on.  report->quantities and report->groups may
 * begin with those of a job. */
void cp_sources_add(struct cp_report *report, struct cp_source_list *list,
	const struct cp_record *record);
void cp_sources_add_path(
	struct cp_report *report, struct cp_source_list *list, const char *path);
void cp_report_lines(struct cp_report *report, const struct cp_source_list *list);
void cp_report_of_sources(struct cp_report *report, const struct cp_source_list *all);
void cp_report_metrics(struct cp_report *report);

/* report_pinned.c: by what the records say, and by what the processes were. */
void cp_report_pinned(struct cp_report *report, const struct cp_source_list *list,
	const struct cp_record *spokesman);

#define CP_NOT_NUMBERED UINT32_MAX /* a quantity that the report leaves out */

/* report_counts.c: one thread's numbers, from what report_raw.h has of them. */
void cp_count_region(struct cp_report *report, const struct cp_source *source,
	const struct cp_region_item *item, const struct cp_thread_item *thread,
	const char *how, struct cp_region *region);
void cp_count_process(struct cp_report *report, const struct cp_source *source,
	struct cp_count *counts);
void cp_count_unattributed(struct cp_report *report, const struct cp_source *source,
	struct cp_count *counts);
void cp_counts_unavailable(
	struct cp_report *report, struct cp_count *counts, const char *reason);

/*
 * report_rotated.c: what a counter of a group that took turns comes to, over all
 * executions of a region.  The samples are taken as clusters that were drawn at
 * random; the bar (95 %) is the sum of
 * - Student's t times the standard error of the ratio of counts to samples,
 *   without a correction for the finite population: that is too much for work
 *   that repeats itself after as many executions as there are groups,
 * - the part by which the samples' mean time differs from that of all,
 * - for each first execution that it has not counted, as much as is added for it.
 * There is no value where the bar reaches 0, or where one cluster makes up more
 * than a fifth of the variance (and the bar is above 1 %): with such tails no
 * bar holds.
 */
struct cp_guess {
	double value, error;
	const char *loose; /* no guess, by the time counted only: why; or NULL */
	const char *none;  /* there is no value: why; or NULL */
};
struct cp_guess cp_rotated_guess(struct cp_report *report, const struct cp_record *record,
	const struct cp_region_item *item, uint32_t counter);

/* For how long any group that takes turns was enabled. */
uint64_t cp_rotated_time(
	const struct cp_record *record, const struct cp_region_item *item);

/* Mean and standard deviation (of the sample) over calls executions, from
 * value and squares. */
void cp_count_finish_calls(struct cp_count *count, uint64_t calls);

/* report_sampled.c: regions of which not all executions were counted.  Is what is
 * kept of them possible?  How many events the executions that nothing stands for
 * add to (or those that there were not take from) a sum, and the half-width of
 * the error bar of all; < 0: none can be given.  What is exclusive in a tree. */
bool cp_sampled_is_sound(
	const struct cp_sampled *sampled, uint32_t nquantities, uint64_t calls);
double cp_sampled_tail(const struct cp_sampled *sampled, uint64_t calls, double sum);
double cp_sampled_error(
	const struct cp_sampled *sampled, uint64_t calls, const struct cp_chosen *chosen);
void cp_sampled_tree(const struct cp_report *report, struct cp_region *root);

/* report_tree.c: a record's threads and their trees. */
void cp_process_fill(struct cp_report *report, const struct cp_source *source,
	struct cp_process *process);
struct cp_region *cp_region_new(
	struct cp_report *report, struct cp_region *parent, struct cp_slice name);

/* course.c: the time series of a process whose total is there; regions: those of
 * the record's items, by index, in their threads' trees (NULL: none). */
const struct cp_course *cp_course_of(struct cp_report *report,
	const struct cp_source *source, const struct cp_process *process,
	struct cp_region *const *regions);

/* report_names.c: the name that a reader understands.  cp_demangle makes one of what
 * compilers make of C++'s and Rust's (whole: with its parameters), and returns its
 * length, or 0; NULL: nobody does. */
extern size_t (*cp_demangle)(const char *name, bool whole, char *to, size_t size);
/* The source, without its directory, and the line of an offset in an object of a record,
 * "BUILDID PATH" (BUILDID "-": it has none); NULL: not known. */
extern const char *(*cp_source_at)(const char *object, uint64_t offset, unsigned *line);
#define CP_MAX_RESOLVED 1024 /* longer ones stay as they are */
struct cp_slice cp_region_name(
	struct cp_report *report, const struct cp_record *record, struct cp_slice name);

/* report_merge.c: adds the tree of a thread to a merged tree; then, when all
 * are in, settles the sums. */
void cp_merge_tree(struct cp_report *report, struct cp_region *into,
	const struct cp_region *root, struct cp_place place);
void cp_merge_finish(struct cp_report *report, struct cp_region *root);

/* report_shared.c: a count that some ranks have, and some left to them, for all; the
 * rest of the region's sums are settled.  Nothing, if no rank left it to others. */
void cp_shared_finish(
	struct cp_report *report, const struct cp_region *region, struct cp_count *count);

/* The index of what all passes count; -1: nothing. */
int cp_common_quantity(const struct cp_report *report);

/* In a merged tree; NULL: there is none. */
struct cp_region *cp_region_child_like(
	const struct cp_region *parent, const struct cp_region *like);

/* report_passes.c: puts what another pass of the same run counted into the
 * merged tree, where the report has nothing. */
void cp_report_add_pass(
	struct cp_report *report, const struct cp_report *other, uint32_t pass);

/* report_metrics.c: computes the metrics of every region of a tree. */
void cp_metrics_of_tree(struct cp_report *report, struct cp_region *root);
/* And the intervals of those of a sample, where all of it is together. */
void cp_metrics_errors(struct cp_report *report, struct cp_region *root);

/* report_spreads.c: fills in the errors of cycles and seconds of a region. */
void cp_spreads_of_region(const struct cp_report *report, struct cp_region *region);
/* Where time is modelled in samples: takes it from regions of a finished tree whose
 * interval has 0 in it, and tells whether there were any. */
bool cp_time_forget(struct cp_report *report, struct cp_region *root);
/* Adds to a quantity what it would be more if the part (enum cp_time_part) took longer by
 * its spread.  False: the quantity is none of cycles, or its parts are not known. */
bool cp_spreads_lengthen(const struct cp_report *report, const struct cp_region *region,
	const char *quantity, unsigned part, double *value);

/* report_unfollowed.c: programs that were started without us. */
void cp_report_unfollowed(
	struct cp_report *report, struct cp_source *const *sources, size_t nsources);

/* Warnings about metrics that were clamped and checks of groups that fail. */
void cp_metrics_check(struct cp_report *report);

/* report_warnings.c: what a reader must know before believing the numbers. */
void cp_report_check(struct cp_report *report);

/* Adds a warning to the report, unless it is there already. */
void cp_report_warn(struct cp_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
