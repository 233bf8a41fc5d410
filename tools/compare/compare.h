/* SPDX-License-Identifier: MIT
 *
 * Shared by cmd_compare.c and compare_*.c.
 */
#ifndef CACHEPEEK_TOOLS_COMPARE_COMPARE_H
#define CACHEPEEK_TOOLS_COMPARE_COMPARE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/out.h"
#include "base/text/table.h"
#include "output/metrics/spreads.h"
#include "output/metrics/value.h"
#include "base/counters/events.h"
#include "base/counters/sample.h"
#include "output/report/report.h"
#include "base/machine/machine.h"
#include "tools/sim/request.h"

#define CP_COMPARED_DIFFERS 32

/* Instructions, references and misses of the whole tree of processes, on one
 * of the machines. */
struct cp_compared {
	struct cp_machine machine;
	const char *asked; /* its name, from wherever a process is */
	unsigned run;      /* from 1 on: those of one run saw the same references */
	uint64_t count[CP_SIM_NCOUNTERS];
	/* Where machine.sampled is set: how, as all machines of the run are, and parts of
	 * what was sampled.  Else why it is not, if that was asked for. */
	struct cp_sample_plan sample;
	uint64_t parts[CP_SAMPLE_WORDS];
	char unsampled[256];
	struct cp_event_set set;
	struct cp_weights weights;
	struct cp_spreads spreads; /* how far predicted times may be off */
};

/* A part of a sample is left out while an interval is computed, or a part of a machine's
 * time takes longer; run 0 and NULL: all is as it is. */
struct cp_compared_view {
	unsigned run;
	int burst, set;                   /* that group, or set, of it is not; or -1 */
	const struct cp_quantity *nudged; /* by what its sample cannot show; or NULL */
	const struct cp_compared *longer; /* by the spread of that part */
	enum cp_time_part part;
	bool otherwise; /* the value hangs on other estimates as well */
};

struct cp_comparison {
	struct cp_arena arena;
	char **program; /* with its arguments */
	unsigned nmachines, nruns;
	unsigned nprocesses; /* images of programs, of the first run */
	bool alone;          /* a static program: without its children */
	int status;          /* of wait(2), of the first run */
	/* When that began, in nanoseconds since 1970, and where; "": not known. */
	uint64_t realtime_ns;
	char host[65];
	struct cp_compared of[CP_MAX_MACHINES];
	struct cp_request request;
	struct cp_compared_view view;
	const struct cp_metric **metrics; /* of all groups, each name once */
	size_t nmetrics;
	const char *groups, *events, *lets, *reproducible,
		*sample; /* as asked for; NULL: the default */
	/* With that, what may differ between runs all the same. */
	const char *differs[CP_COMPARED_DIFFERS];
	size_t ndiffers;
};

/* The request, resolved for each machine. */
void cp_compare_resolve(struct cp_comparison *c);

/* A quantity or metric of machine i. */
struct cp_value cp_compare_quantity(
	const struct cp_comparison *c, unsigned i, const char *name);
struct cp_value cp_compare_metric(
	struct cp_comparison *c, unsigned i, const struct cp_metric *metric);

/* compare_sampled.c: which machines are sampled, where that is asked for: those that
 * cannot be get a run of their own, in full.  False, with one line: it is not as it
 * should be.  Then, when runs are planned: all machines of a run have the same sets. */
bool cp_compare_plan_samples(struct cp_comparison *c);
void cp_compare_join_groups(struct cp_comparison *c);

/* A quantity of a machine that is sampled. */
struct cp_pool cp_compare_pool(
	const struct cp_compared *compared, const struct cp_quantity *quantity);
bool cp_compare_is_sampled(
	const struct cp_compared *compared, const struct cp_quantity *quantity);
struct cp_value cp_compare_sampled(const struct cp_comparison *c,
	const struct cp_compared *compared, const struct cp_quantity *quantity);

/* compare_spreads.c: a quantity's value as the comparison is looked at now, and the clock
 * by which its cycles are seconds. */
double cp_compare_longer(const struct cp_comparison *c,
	const struct cp_compared *compared, const char *quantity, double value);
double cp_compare_clock(
	const struct cp_comparison *c, const struct cp_compared *compared);

/* The kind of the intervals: "(95 %)" of a sample, "(rounds)" of a calibration's; NULL:
 * the machine has none. */
const char *cp_compare_interval_of(const struct cp_compared *compared);

/* How far rounds of calibrations are apart; "": there is no such interval. */
const char *cp_compare_rounds(struct cp_comparison *c);

/* compare_intervals.c: half of the interval of a quantity or metric (NULL: none) of
 * machine i; < 0: it has none.  And: do machines i and j differ by no more than such an
 * interval of their difference? */
double cp_compare_error(struct cp_comparison *c, unsigned i, const char *quantity,
	const struct cp_metric *metric);
bool cp_compare_undecided(struct cp_comparison *c, unsigned i, unsigned j,
	const char *quantity, const struct cp_metric *metric);

/* Is it unavailable on all of the machines? */
bool cp_compare_nowhere(
	struct cp_comparison *c, const char *quantity, const struct cp_metric *metric);

/* The lines that answer a group's question, what they go by, and the machine that has
 * the most of that; nothing where no machine has it. */
struct cp_compared_best {
	struct cp_answer answer;
	const char *ranked_by, *most;
	bool undecided; /* least and most differ by no more than the interval of that */
};
void cp_compare_answer(struct cp_comparison *c, const struct cp_group *group,
	struct cp_compared_best *best);

/* " ±2.1 %", or "" where there is none. */
const char *cp_compare_interval(struct cp_comparison *c, unsigned i, const char *quantity,
	const struct cp_metric *metric, double value);

/* How it was sampled, and which machines were not; why there were several runs. */
const char *cp_compare_how(struct cp_comparison *c);
const char *cp_compare_why_runs(const struct cp_comparison *c);

/* Names the values that may differ between runs, with commas. */
const char *cp_compare_differs(struct cp_comparison *c);

/* The answer (width 0: of no terminal), and the whole. */
void cp_compare_screen(struct cp_comparison *c, struct cp_out *out, size_t width);
void cp_compare_text(struct cp_comparison *c, struct cp_out *out);
/* All values, or those of events that no group has; nothing: there are none. */
void cp_compare_table(
	struct cp_comparison *c, struct cp_out *out, size_t width, bool events);
void cp_compare_csv(struct cp_comparison *c, struct cp_out *out);
void cp_compare_json(struct cp_comparison *c, struct cp_out *out);
void cp_compare_html(struct cp_comparison *c, struct cp_out *out);

#endif
