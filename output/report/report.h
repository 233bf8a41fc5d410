/* SPDX-License-Identifier: MIT
 *
 * The report model: what a run directory says, as processes, threads and trees
 * of regions, with every count's provenance, and the same summed over threads
 * and processes by path.  Writers (output/json.h, output/text/text.h) only print it.
 *
 * Rules:
 * - A count of a path is the sum over its threads: sum over threads == process
 *   == merged, for value, exclusive and calls.  Where some threads could not be
 *   counted, the sum is over the others, "estimated", and says so in reason.
 *   What was sampled (CACHEPEEK_SAMPLE) is estimated from the samples of all threads.
 * - perf: a counter that was on the PMU part of the time is scaled by
 *   enabled / running of that region.  Below CP_MIN_COVERAGE there is no value.
 * - Nothing is negative, and "not counted" is never 0.
 */
#ifndef CACHEPEEK_OUTPUT_REPORT_REPORT_H
#define CACHEPEEK_OUTPUT_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/counts.h"
#include "output/metrics/group.h"
#include "output/metrics/spreads.h"
#include "output/metrics/value.h"
#include "output/metrics/weights.h"
#include "base/text/words.h"
#include "regions/record.h"

/* Fraction of the time below which a multiplexed count is not scaled. */
#define CP_MIN_COVERAGE 0.01

/* Deeper nesting than the library itself can record is not a real record. */
#define CP_MAX_DEPTH 256

struct cp_place {
	int32_t rank; /* -1: none */
	int32_t pid, tid;
};

/* Statistics of a value over the threads that have it, without folded ones;
 * nthreads 0: none has. */
struct cp_extent {
	double min, max, sum, squares; /* mean: sum / nthreads */
	size_t nthreads;
	struct cp_place min_at, max_at;
};

/* The mean of at least one thread; rounding does not take it beyond min and max. */
static inline double cp_extent_mean(const struct cp_extent *extent)
{
	double mean = extent->sum / (double)extent->nthreads;

	if (mean < extent->min)
		return extent->min;
	return mean > extent->max ? extent->max : mean;
}

/* Standard deviation of the sample; 0 of one. */
double cp_extent_stddev(const struct cp_extent *extent);

/* The samples of a count (report_bursts.c), in any number of threads. */
struct cp_pool {
	uint32_t nsets, ngroups; /* so many groups of sets were simulated, of so many */
	bool in_bursts, in_sets; /* whether some of the count is */
	bool differs;            /* nsets and ngroups are not those of all threads */
	double exact;            /* of what was counted in full all the time */
	double instructions,
		full; /* all of them, and those that were simulated in full */
	double in[CP_SAMPLE_GROUPS]; /* and those in bursts, by group */
	/* The last of bursts: how many of the groups' may be none. */
	double bursts[CP_SAMPLE_PARTS], sets[CP_SAMPLE_PARTS];
	/* report_kept.h: lines that sampled sets of L1D took, by group of bursts, and of
	 * all that was not counted in full; and what bursts asked these sets for first.
	 */
	double kept[CP_SAMPLE_GROUPS], kept_all;
	double firsts[CP_SAMPLE_GROUPS], missed[CP_SAMPLE_GROUPS];
};

struct cp_pools {
	struct cp_pool all, own; /* own: without nested regions */
};

/* report_bursts.c: what a pool comes to, and the square of its error bar's half-width. */
struct cp_pooled {
	double value, square;
	const char *none; /* why there is no value, or NULL */
};
struct cp_pooled cp_pool_estimate(const struct cp_pool *pool);
/* The same of what one place in a program has of all, and of its share. */
struct cp_pooled cp_pool_of_place(const struct cp_pool *place, const struct cp_pool *all);
struct cp_pooled cp_pool_share(const struct cp_pool *place, const struct cp_pool *all);

/* The value without that group of bursts, and without that sampled set (-1: with all);
 * and the square of the part of the error bar that no differences between those show. */
double cp_pool_without(const struct cp_pool *pool, int burst, int set);
double cp_pool_unseen(const struct cp_pool *pool);
/* Half of the interval of how many misses are none (report_kept.h). */
double cp_pool_unsure(const struct cp_pool *pool);

/* Adds several counts of one sample, each so many times.  cp_pool_mixed_square is what
 * differences between parts show of their sum, as the square of half of its interval. */
void cp_pool_mix(struct cp_pool *to, const struct cp_pool *from, double times);
double cp_pool_mixed_square(const struct cp_pool *mix);

#define CP_FEW_RANKS 8 /* so many of a region's ranks are named */

struct cp_count {
	uint64_t value;     /* events, nested regions included; scaled if need be */
	uint64_t exclusive; /* without nested regions; <= value */
	enum cp_status status;
	enum cp_status exclusive_status; /* of nested regions, if that is worse */
	const char *reason;              /* unavailable or estimated: why; else NULL */
	double coverage;                 /* fraction of the time counted, 0 .. 1 */
	/* CP_SCALED: half-width of the error bar, in events; see
	 * cp_scaling_error(); < 0: none */
	double error;
	/* Over executions, scaled as value is; only if calls_known. */
	bool calls_known;
	double call_min, call_max, call_mean, call_stddev;
	struct cp_extent over; /* merged trees only */
	/* It counts all that sockets did: no thread has it, and the sums have what
	 * the main thread read. */
	bool socket;
	enum cp_status of_socket;
	/* The same of a job: the sums over the hosts whose first rank has a value. */
	struct cp_hosts {
		size_t count;
		uint64_t value, exclusive;
		double squares; /* of the error bars */
		enum cp_status status;
	} hosts;

	/* For the sums; not for writers.  Squares of the executions' deviations. */
	uint64_t executions;
	double squares, covered, wanted;
	struct cp_pools *pools; /* NULL: it was not sampled */
	/* Another rank counts it.  In sums of threads: of how many; in those of ranks,
	 * how many ranks; and what those that count it did beside: executions, and
	 * instructions. */
	size_t shared;
	uint64_t sample_calls;
	double sample_instructions;
	/* Merged: threads that have the region and a value, or none. */
	size_t counted, missing;
};

struct cp_result {
	struct cp_value value;
	double error;          /* half-width of its interval; < 0: none */
	struct cp_extent over; /* merged trees only */
};

/* A path of regions; the root (parent NULL) is a thread's, or the run's, whole. */
struct cp_region {
	struct cp_slice name; /* any bytes; empty for the root */
	struct cp_region *parent, *child, *last_child, *next;
	/* In merged trees: the children by name. */
	struct cp_region **buckets, *same_bucket;
	size_t nbuckets, nchildren;
	unsigned depth;                /* 0 for the root */
	uint32_t flags;                /* enum cp_region_flag, of any thread */
	uint64_t calls;                /* executions completed */
	uint64_t time_ns, children_ns; /* sums over threads */
	uint64_t longest_ns;           /* of one thread */
	struct cp_value seconds;       /* "time_s": time_ns, or why not */
	double seconds_error;          /* half-width of its interval; < 0: none */
	size_t nthreads;               /* that have it */
	size_t nranks;                 /* the same, of a job's total */
	/* The first ranks that entered it: all of them, if there are no more. */
	int32_t entered[CP_FEW_RANKS];
	bool folded;               /* of many threads: says nothing of any one of them */
	struct cp_count *counts;   /* [report->nquantities] */
	struct cp_result *metrics; /* [report->nmetrics] */
};

struct cp_thread {
	int32_t tid;
	const char *name;
	uint32_t state;     /* enum cp_thread_state */
	const char *reason; /* CP_THREAD_LOST: why; else NULL */
	/* CP_THREAD_FOLDS: how many threads it stands for; 1 for any other. */
	uint64_t threads;
	struct cp_region *root;
};

struct cp_process {
	int32_t pid, ppid, rank;  /* rank -1: none */
	uint32_t image;           /* execs of this pid before it */
	const char *host, *exe;   /* "" if not known */
	const char *how;          /* exit, exec, signal, running, killed, unknown */
	int32_t code;             /* status or signal */
	bool unseen;              /* its end: nothing in the process saw it coming */
	const char *counted_from; /* constructor, fork */
	bool root;                /* of its process tree */
	bool jumped;              /* a thread's regions are not counted to the end */
	const char *illegal; /* the instruction that it died of, and where; or NULL */
	uint64_t start_ns, end_ns, overhead_ns, pair_ns, realtime_ns;
	struct cp_count *whole; /* [nquantities]: of the whole process, if known */
	/* The part of the process's counts that belongs to no thread: [nquantities];
	 * and its CPU time, if cpu_ns (of the process) is not 0. */
	struct cp_count *unattributed;
	uint64_t cpu_ns, unattributed_ns;
	const struct cp_mpi_item *mpi; /* time in MPI; NULL: not known */
	uint64_t huge_pages;           /* that the simulated PMU has met */
	bool x87;                      /* it computed with the x87 unit, simulated */
	const char *cpu;               /* what CPUID told it: "host", or whose; NULL */
	bool shown_host;               /* the same, for it is marked x86-64-v4 */
	const uint64_t *unrecorded;    /* [CP_UNRECORDED_KINDS] */
	uint64_t folded;            /* it stands for so many that ended; 0: it is one */
	const struct cp_ends *ends; /* [CP_MAX_ENDS]: how they did */
	size_t nthreads;            /* rows: one may stand for many threads */
	struct cp_thread *threads;
	struct cp_region *total;        /* the sum of the threads' trees */
	const struct cp_course *course; /* its time series; NULL: none */
};

uint64_t cp_process_threads(const struct cp_process *process);

#define CP_MAX_TOTALS 16

struct cp_report {
	struct cp_arena *arena; /* owns everything here */
	struct cp_names *names; /* of files and lines; while it is built */
	const char *version;    /* of the library that counted */
	size_t narguments;
	const char *const *command;
	enum cp_engine_id engine;
	const char *why, *domain, *machine, *host;
	const char *sweep;   /* what its points have in common: regions/record.h */
	const char *windows; /* what working sets are of: the same */
	const char *sample;  /* how the simulated PMU was sampled: the same */
	/* CACHEPEEK_REPRODUCIBLE: what the program found in its environment (NULL: all
	 * that there was), and what differs between runs all the same. */
	const char *const *pinned;
	size_t npinned, nunpinned;
	const char **unpinned;
	double line; /* bytes, 0 if not known */
	struct cp_weights weights;
	struct cp_spreads spreads;
	size_t nquantities, ngroups, nmetrics, nprocesses, nwarnings;
	const char *const *quantities; /* spelled as they were asked for */
	const struct cp_group *const *groups;
	const struct cp_metric **metrics; /* of all groups, each name once */
	struct cp_process *processes;     /* by rank, then time of start */
	struct cp_region *total;          /* merged over all processes */
	const char **warnings;
	/* The job (output/report/job.h), if this is the report of one: then there are
	 * no processes, and ranks stand where threads do. */
	const struct cp_job *job;
	bool in_job; /* some of it is in the report of a job already */
	bool copies; /* its texts outlive those of what is added */
	/* Programs that processes of the run started and that have no record. */
	size_t nunfollowed;
	struct cp_unfollowed {
		int32_t pid, ppid;
		const char *exe, *why;
	} * unfollowed;
	/* The launcher's counts of the whole process tree, from its exec on. */
	size_t ntotals;
	struct cp_launcher_total {
		const char *name;
		uint64_t value;
	} totals[CP_MAX_TOTALS];
};

/*
 * Builds the report of what paths (npaths of them) hold: run directories, or
 * single records.  Records that cannot be read become warnings.
 * Returns NULL, with one line in error, if there is none at all, or memory ran
 * out.  Uses no malloc; everything lives in arena, whose out_of_memory the
 * function sets for itself.  Not to be called by two threads with one arena.
 */
const struct cp_report *cp_report_build(struct cp_arena *arena, const char *const *paths,
	size_t npaths, char *error, size_t error_size);

/* The next region in preorder below (and with) root; NULL after the last. */
const struct cp_region *cp_region_next(
	const struct cp_region *root, const struct cp_region *region);

/* The names from the outermost region down to this one; returns how many: its depth. */
unsigned cp_region_path(
	const struct cp_region *region, const struct cp_slice *names[CP_MAX_DEPTH]);

/* Does the time of some of the region's instructions stand for that of others; and which
 * share of them had it modelled? */
bool cp_time_is_sampled(const struct cp_report *report, const struct cp_region *region);
/* Whether predicted times have an interval there: of the sample, of the machine, or of
 * both. */
bool cp_time_has_interval(const struct cp_report *report, const struct cp_region *region);
double cp_time_share(const struct cp_report *report, const struct cp_region *region);

/* How the warning begins that processes computed with the x87 unit, simulated. */
#define CP_X87_WARNING "x87 instructions"

/* The limits of the simulated PMU, for each report that has its counts, with what is
 * known of this run; they fit into CP_LIMITS bytes. */
#define CP_LIMITS 512
void cp_report_limits(const struct cp_report *report, char *to, size_t size);

/* The metric's or quantity's index in the report; -1 if it has none. */
int cp_report_metric(const struct cp_report *report, const char *name);
/* The metric of the region's own counts, without those of nested regions; in arena, since
 * that of a report gets no more once it is built. */
struct cp_value cp_report_own(struct cp_arena *arena, const struct cp_report *report,
	const struct cp_region *region, const struct cp_metric *metric);
int cp_report_quantity(const struct cp_report *report, const char *name);
/* Whether writers show the quantity of that index: variances are in intervals. */
bool cp_report_shows(const struct cp_report *report, size_t quantity);

/*
 * Half-width of a 95 % error bar of a count that was multiplexed: value, the
 * fraction of time covered, and running time in ns.  Takes the slices of 4 ms
 * (the kernel's default rotation) to vary as much as their mean and events to
 * come one by one, and corrects for the finite population:
 * 2 * value * sqrt((1 - coverage) * (1 / slices + 1 / seen)), where
 * seen = value * coverage.  None seen: 3 / coverage.
 */
double cp_scaling_error(double value, double coverage, double running_ns);

#endif
