/* SPDX-License-Identifier: MIT
 *
 * The run record: what one process image counted, in a MAP_SHARED file, so
 * that it outlives the process however that ends.
 *
 * A run directory (mode 0700) holds one record per process image, named
 * PID-IMAGE.rec; IMAGE counts the execs of that pid.  A record is a header of
 * CP_RECORD_HEADER_SIZE bytes followed by items, each aligned to 8 bytes and
 * never moved: readers may look while the process lives.  An item becomes
 * visible when the writer, last of all, stores its type (release order);
 * space that was reserved but never finished has type 0 with its size set, or
 * a size of 0 where the process died in between: there the record ends.
 * Offsets are from the start of the file; 0 means "none".  Byte order and
 * word size are the writer's, which version and magic tell apart.
 *
 * Counters and quantities: a *counter* is what the engine reads (a perf event,
 * a raw counter of the simulated PMU); a *quantity* is what the user asked for
 * (an event, or a preset such as l1d_misses), a sum of counters.
 */
#ifndef CACHEPEEK_REGIONS_RECORD_H
#define CACHEPEEK_REGIONS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/counts.h"

#define CP_RECORD_MAGIC "cpeekrec"
#define CP_RECORD_VERSION 11
#define CP_RECORD_HEADER_SIZE 4096
#define CP_MAX_PASSES 1000

enum cp_engine_id { CP_ENGINE_NONE, CP_ENGINE_PERF, CP_ENGINE_SIM };

/* How a process image ended: the "how" of the JSON report. */
enum cp_how {
	CP_HOW_RUNNING, /* still running, or its end was not seen: does the pid live? */
	CP_HOW_EXIT,    /* exit(), return from main, _exit(): code is the status */
	CP_HOW_EXEC,    /* became another program */
	CP_HOW_SIGNAL,  /* code is the signal that ended it */
	CP_HOW_KILLED,  /* the same, but it did not see that coming: its parent says so */
	CP_HOW_FOLDED,  /* of a record that stands for several that ended: see ends */
};

enum cp_record_flag {
	CP_RECORD_FORKED = 1,   /* a fork child: counted from the fork on */
	CP_RECORD_ROOT = 2,     /* the root of its process tree: it reports */
	CP_RECORD_KERNEL = 4,   /* kernel mode is counted */
	CP_RECORD_NOT_USER = 8, /* user mode is not */
	CP_RECORD_SPARSE = 16,  /* regions have a struct cp_sampled */
	CP_RECORD_IN_JOB = 32,  /* it is in the report of an MPI job: none of its own */
	CP_RECORD_HEARD = 64,  /* another rank has written what this one had at its end */
	CP_RECORD_READY = 128, /* this rank has only the job's report to write */
	CP_RECORD_HELD = 256,  /* its writer has a lock (flock) on it while it lives */
	CP_RECORD_BEGUN = 512, /* it says what it counts: a report can be made of it */
	CP_RECORD_JUMPED = 1024, /* a thread's regions are not counted any more: jump.h */
	/* Counters may run backwards: they take back what was expected too much. */
	CP_RECORD_CORRECTED = 2048,
	CP_RECORD_GONE = 4096, /* a child found no directory of the run any more */
};

/* Items that were lost for lack of space or memory. */
enum cp_unrecorded {
	CP_UNRECORDED_REGION, /* executions of regions */
	CP_UNRECORDED_THREAD,
	CP_UNRECORDED_NOTE, /* meta items */
	CP_UNRECORDED_KINDS,
};

#define CP_MAX_ENDS 16

/* A file of the run directory: a byte for each process that was not recorded. */
#define CP_RECORDS_REFUSED "refused.log"

/* Clocks: realtime_ns is CLOCK_REALTIME, everything else CLOCK_MONOTONIC. */
struct cp_record_header {
	char magic[8];
	uint32_t version;
	uint32_t header_size;
	uint32_t ncounters, nquantities, nperf_groups;
	uint32_t engine; /* enum cp_engine_id */
	uint32_t flags;  /* enum cp_record_flag */
	int32_t pid, ppid, root_pid;
	int32_t rank; /* of MPI, from the launcher's environment; -1: none */
	uint32_t image;
	uint32_t how; /* enum cp_how */
	int32_t code;
	uint64_t tail; /* end of the reserved items; atomic */
	uint64_t realtime_ns, start_ns, end_ns;
	uint64_t overhead_ns; /* our own start and end work, without the report */
	uint64_t pair_ns;     /* calibrated cost of one begin/end pair, 0: unknown */
	/* Simulated PMU: raw counters of the whole process, from its first
	 * instruction (from the fork in a fork child); kept by the tool. */
	uint64_t process[CP_MIRROR_SIZE];
	/* perf: CPU time from the constructor to the end, of the process and of
	 * those of its threads that were counted while they were; 0: not known. */
	uint64_t cpu_ns, seen_cpu_ns;
	/* perf: the first so many groups of counters took turns, one at a time:
	 * each region has a cp_rotated.  0: none did. */
	uint64_t nrotated;
	/* The number of this run among several that share the events, from 1 on, and
	 * how many there are.  0: this is the only one. */
	uint32_t pass, npasses;
	/* perf: by group, 1 + the group whose running time is the time that this
	 * one's kind of core was in use; 0: all cores are alike. */
	uint8_t reference[CP_MAX_PERF_GROUPS];
	/* perf: by group, 1: it counts all that sockets do; read by the main
	 * thread of the first process only. */
	uint8_t socket[CP_MAX_PERF_GROUPS];
	int32_t nranks; /* of the job, as the launcher tells; 0: not known */
	uint64_t unrecorded[CP_UNRECORDED_KINDS];
	/* Not 0: it stands for so many processes that have ended, and all in it is
	 * their sum; regions/fold/fold_records.c makes such records.  How they ended;
	 * what has no place in ends is in its last one, as CP_HOW_FOLDED. */
	uint64_t folded;
	struct cp_ends {
		uint32_t how; /* enum cp_how */
		int32_t code;
		uint64_t processes; /* 0: no more */
	} ends[CP_MAX_ENDS];
	/* Simulated PMU, sampled: L2 and last level in so many of so many groups of sets.
	 * Threads have what cp_thread_mirror() says.  0: it counts everything. */
	uint32_t sample_sets, sample_groups;
};

enum cp_item_type {
	CP_ITEM_NONE,
	CP_ITEM_PAD,      /* skip */
	CP_ITEM_STRING,   /* struct cp_string_item */
	CP_ITEM_META,     /* struct cp_meta_item */
	CP_ITEM_COUNTER,  /* struct cp_counter_item, in index order */
	CP_ITEM_QUANTITY, /* struct cp_quantity_item, in index order */
	CP_ITEM_THREAD,   /* struct cp_thread_item */
	CP_ITEM_REGION,   /* struct cp_region_item */
	CP_ITEM_JOURNAL,  /* struct cp_journal_item */
	CP_ITEM_MACHINE,  /* struct cp_machine_item */
	CP_ITEM_SERIES,   /* struct cp_series_item (regions/series.h); one at most */
	CP_ITEM_MPI,      /* struct cp_mpi_item; one at most */
};

struct cp_item {
	uint32_t type; /* enum cp_item_type, written last */
	uint32_t size; /* of the item with this header, a multiple of 8 */
};

struct cp_string_item {
	struct cp_item item;
	uint32_t length; /* bytes, may be any; a NUL follows */
	char text[];
};

/* KEY NUL VALUE; the value may hold anything and runs to length.  Keys:
 *   exe       path of the program        command   argv, each NUL-terminated
 *   host      node name                  why       why this engine was chosen
 *   machine   the hierarchy counted on, e.g. "host: AMD EPYC; L1D 32 KiB …"
 *   clock     Hz of the simulated machine, where its cycles are counted (decimal)
 *   sweep     "LEVEL FIELD own=VALUE line=BYTES sets=SETS" (or ways=WAYS): what the
 *             points of a sweep have in common
 *   sample    "sets=N groups=N warm=N burst=N period=N", and " seed=N" if that was given
 *   windows   "length=N line=BYTES …": what working sets are of
 *   line      bytes of a cache line (decimal; the LINE of formulas)
 *   group     the text of a group file that was asked for, one item each
 *   tool      version of the library     warning   one line for the report
 *   object    "BUILDID PATH": a file whose name is in names of regions,
 *             "FUNCTION@FILE+0xOFFSET"; BUILDID is - where it has none
 *   line_seen "FILE:LINE": a line of source that is a region, and that this process has;
 *             no_line "FILE:LINE: WHY": one that it does not have
 *   functions_untold "": where functions and lines begin and end could not be told
 *   function_seen "PATTERN": functions that are regions, and that this process has;
 *             no_function "PATTERN: WHY": it has none
 *   case_seen "FRAMEWORK": cases of tests or benchmarks are regions, and this process
 *             has what runs them; no_case "FRAMEWORK: WHY": it has not
 *   refused_functions  one line for the report: functions, and why they are no regions
 *   pmu       the core PMU(s), perf engine
 *   program   "PID kept|changed|refused PATH": process PID was made to run PATH (this
 *             one: it is the next image); changed: in an environment without us;
 *             refused: the simulated PMU does not run it
 *   folded    pids (int32_t, not decimal) of the processes that this one stands for,
 *             as many as there was room for
 *   folding   "NAME REALTIME": a record that was folded into this one last; where
 *             it is still there it is not to be read again
 *   unseen_exit     the `cachepeek` command saw the process exit, it itself did not
 *   launcher_total  "NAME VALUE": what the `cachepeek` command counted of the
 *             whole tree, one item each
 */
struct cp_meta_item {
	struct cp_item item;
	uint32_t key_length, length;
	char text[]; /* key, NUL, value, NUL */
};

struct cp_counter_item {
	struct cp_item item;
	uint32_t perf_group; /* index into the times of a region; sim: 0 */
	uint32_t mirror;     /* sim: index into the mirrors; perf: ~0u */
	char name[];         /* NUL-terminated */
};

enum cp_quantity_state {
	CP_QUANTITY_UNAVAILABLE,
	CP_QUANTITY_AVAILABLE,
	CP_QUANTITY_UNPROVEN,  /* counted, but a 0 in the whole run is no count */
	CP_QUANTITY_ESTIMATED, /* by a model: the reason says which */
};

/* A quantity that could not be counted is here too, with its reason, which begins
 * like this where another run or rank counts it. */
#define CP_IN_PASS "counted in pass "

struct cp_quantity_item {
	struct cp_item item;
	uint32_t available; /* enum cp_quantity_state */
	uint32_t nterms;
	struct cp_term {
		uint32_t counter;
		int32_t sign; /* +1 or -1 */
	} terms[8];
	uint32_t name_length, reason_length;
	char text[]; /* name NUL reason NUL */
};

enum cp_thread_state {
	CP_THREAD_RUNNING = 1, /* or not seen to end */
	CP_THREAD_ENDED = 2,
	CP_THREAD_ADOPTED = 4, /* found by a scan: counted from then on */
	CP_THREAD_LOST = 8,    /* its counters could not be opened: see reason */
	/* Its regions move into a thread with FOLDS, and all that they have not
	 * lost is still to be found in them.  With a root of no calls (or, if it
	 * is lost, without that) nothing is left: it is counted there. */
	CP_THREAD_FOLDED = 16,
	CP_THREAD_FOLDS = 32, /* stands for threads that have ended; its tid is 0 */
};

struct cp_thread_item {
	struct cp_item item;
	int32_t tid;
	uint32_t state; /* enum cp_thread_state */
	uint64_t start_ns, end_ns;
	uint64_t root;   /* offset of its root region */
	uint64_t reason; /* CP_THREAD_LOST: offset of a string */
	char name[16];
	/* CP_THREAD_FOLDS and LOST: base[0] is how many there are.  Simulated PMU, of
	 * other processes: mirror is what they counted before their roots began.
	 * Simulated PMU: mirror is kept by the tool, base is what it held when
	 * the root region began: the root's counts are mirror - base. */
	uint64_t base[CP_MIRROR_SIZE];
	uint64_t mirror[CP_MIRROR_SIZE];
	/* Sampled: the same of the parts, base[CP_SAMPLE_WORDS] and mirror[…].  Those
	 * with CP_THREAD_FOLDS have none, and other versions may have fewer. */
};

static inline uint32_t cp_thread_parts(const struct cp_thread_item *thread)
{
	return (uint32_t)((thread->item.size - sizeof(*thread)) / (2 * sizeof(uint64_t)));
}

static inline uint64_t *cp_thread_sample(struct cp_thread_item *thread)
{
	return (uint64_t *)(thread + 1);
}

/* By the index of a counter: base, and mirror, of counters and parts. */
static inline uint64_t cp_thread_base(const struct cp_thread_item *thread, uint32_t m)
{
	if (m < CP_MIRROR_SIZE)
		return thread->base[m];
	m -= CP_MIRROR_SIZE;
	return m < cp_thread_parts(thread) ? ((const uint64_t *)(thread + 1))[m] : 0;
}

static inline uint64_t cp_thread_mirror(const struct cp_thread_item *thread, uint32_t m)
{
	uint32_t parts = cp_thread_parts(thread);

	if (m < CP_MIRROR_SIZE)
		return thread->mirror[m];
	m -= CP_MIRROR_SIZE;
	return m < parts ? ((const uint64_t *)(thread + 1))[parts + m] : 0;
}

enum cp_region_flag {
	CP_REGION_END_WITHOUT_BEGIN = 1, /* on a root region: in that thread */
	CP_REGION_WRONG_NAME = 2,  /* ended by another name: the inner ones were closed */
	CP_REGION_LEFT_OPEN = 4,   /* open when the thread ended: closed there */
	CP_REGION_READ_FAILED = 8, /* a reading failed: counts are incomplete */
	CP_REGION_OVERLAPPING = 16, /* a range: not in its parent's children */
	CP_REGION_DEEPER = 32,      /* regions nested too deeply are counted here */
	CP_REGION_CONTINUED = 64, /* went on elsewhere when the region around it ended */
	CP_REGION_SHORT = 128,    /* in reports: our cost is over 5 % of it */
	/* Counts what regions inside it counted in this thread while it was open in
	 * another one only: these are no executions, and have no spread. */
	CP_REGION_ELSEWHERE = 256,
	CP_REGION_AT_EXEC = 512, /* open when its process executed another program */
	/* The stack of these functions, or lines of source, waited for others: some of
	 * what is counted is of parts of executions, and there is no spread. */
	CP_REGION_PARTS = 1024,
	CP_REGION_FUNCTION = 2048, /* a function that nobody marked, or a line */
};

/* Raw sums over the executions of a region, children included. */
struct cp_sum {
	uint64_t inclusive;
	uint64_t children; /* of which in regions nested inside */
};

/* Over the completed executions.  Raw (unscaled) counts of the quantity. */
struct cp_spread {
	uint64_t min, max;
	double squares; /* of the deviations from the mean */
};

/*
 * The squares of two sets of executions lack this much of the squares of both together:
 * their sums, and how many each are (not 0).  Large sums are computed in whole numbers as
 * far as that goes, so that nothing of a small spread of large counts is lost.
 */
static inline double cp_squares_between(
	uint64_t sum, uint64_t n, uint64_t other, uint64_t m)
{
	double apart, few = (double)n, more = (double)m;

	if (__builtin_expect((sum | other) >> 40 == 0, 1))
		apart = (double)sum / few - (double)other / more;
	else
		apart = (double)(int64_t)(sum / n - other / m) +
			((double)(sum % n) / few - (double)(other % m) / more);
	return apart * apart * few * (more / (few + more));
}

/*
 * The same for m more executions that each counted `value`, with one division for
 * all quantities: their distance from the mean is (sum - n * value) / n, and that
 * is squared and multiplied by n * m / (n + m).
 */
static inline double cp_squares_share(uint64_t n, uint64_t m)
{
	double few = (double)(int64_t)n, more = (double)(int64_t)m;

	return more / (few * (few + more));
}

static inline double cp_squares_of_more(
	uint64_t sum, uint64_t n, uint64_t value, uint64_t m, double share)
{
	uint64_t even, apart;

	if (__builtin_mul_overflow(n, value, &even))
		return cp_squares_between(sum, n, m * value, m);
	apart = sum > even ? sum - even : even - sum;
	if (apart > INT64_MAX)
		return cp_squares_between(sum, n, m * value, m);
	return (double)(int64_t)apart * (double)(int64_t)apart * share;
}

/* One path of regions in one thread.  The tree of regions hangs off the
 * thread's root region, the thread's whole life. */
struct cp_region_item {
	struct cp_item item;
	uint64_t thread, parent, name; /* offsets; parent and name 0: root */
	uint32_t flags;                /* enum cp_region_flag */
	uint32_t version;              /* odd while the writer changes it */
	uint64_t calls;                /* executions completed */
	uint64_t time_ns, children_ns; /* monotonic; of which in nested regions */
	/* Then: struct cp_sum[ncounters], struct cp_spread[nquantities],
	 * struct cp_times[nperf_groups]; with nrotated also struct cp_rotated,
	 * struct cp_turns[nperf_groups], struct cp_sample[ncounters]; with
	 * CP_RECORD_SPARSE struct cp_sampled. */
};

/*
 * Where not all executions are counted, those that are stand for `weight` of
 * them each, 1 or more.  The sums above (not the times of perf groups) have each
 * count as often as that, and so has what is in the parent's children; here is
 * what an error bar needs, of the executions that stand for more than one.
 */
struct cp_sampled {
	uint64_t counted; /* executions */
	uint64_t chosen;  /* of which stand for more than one: */
	uint64_t weight;  /* for so many */
	uint64_t time_ns; /* theirs, weighted */
	double squares;   /* sum of weight * (weight - 1) */
	struct cp_chosen {
		uint64_t sum;   /* of the quantity, weighted */
		double squares; /* of the deviations from the mean, weighted */
	} of[];                 /* the quantities */
};

/*
 * Groups that take turns: one of them is drawn for an execution of a region and
 * counts all that is nested in it.  Executions that went from begin to end
 * without another draw are samples.  The first one of each thread is kept apart:
 * it makes caches warm.  What several executions of a region counted after one
 * and the same draw is no independent news: a cluster.
 */
struct cp_rotated {
	uint64_t firsts;   /* first executions: how many threads have one */
	uint64_t first_ns; /* and how long a rotated group was enabled in them */
	uint64_t draw;     /* of the cluster that was added to last */
};

/* One group's part. */
struct cp_turns {
	uint64_t calls;          /* samples */
	uint64_t clusters, open; /* open: samples in the one added to last */
	uint64_t firsts;         /* first executions that it counted */
	uint64_t ns;             /* enabled in its samples */
	double squares;          /* sum over clusters: samples, squared */
};

/* One counter, over the samples of its group. */
struct cp_sample {
	uint64_t sum, first; /* first: in the first executions */
	uint64_t open;       /* in the cluster added to last */
	uint64_t max;        /* in the largest one… */
	uint64_t max_calls;  /* …which had so many samples */
	double squares;      /* sum over clusters: their counts, squared */
	double cross;        /* counts times samples */
};

/* Follows the times of a region of a thread with CP_THREAD_FOLDS. */
struct cp_folded {
	uint64_t threads;    /* that had the region */
	uint64_t longest_ns; /* of one of them */
};

/*
 * One per thread.  An execution changes several regions at once: its own, the
 * parent's and the root's.  What is about to be overwritten is kept here, and
 * active says so.  Where the writer was killed meanwhile (active, and a region
 * that is named here has an odd version) the reader puts everything back.
 */
#define CP_JOURNAL_RANGES 4

struct cp_journal_item {
	struct cp_item item;
	uint64_t thread;
	uint32_t active;
	uint32_t nranges;
	struct cp_journal_range {
		uint64_t offset; /* in the file */
		uint64_t size;   /* multiple of 8 */
	} ranges[CP_JOURNAL_RANGES];
	uint64_t bytes[]; /* the ranges' contents, one after the other */
};

/* Simulated PMU: what the whole process counted on another machine than the one
 * that the rest is about, as `process` of the header; kept by the tool. */
/* A rank's process, all threads: the outermost calls of MPI functions that
 * communicate or wait (preload/parallel/mpi_calls.h) and have returned.  Atomic. */
struct cp_mpi_item {
	struct cp_item item;
	uint64_t calls, ns;
};

struct cp_machine_item {
	struct cp_item item;
	uint32_t number; /* of the machines of the run; 0: the record's, of which process
			  * is in the header */
	uint32_t parts;  /* sampled: CP_SAMPLE_WORDS follow; else 0 */
	uint64_t process[CP_MIRROR_SIZE];
};

static inline const uint64_t *cp_machine_parts(const struct cp_machine_item *machine)
{
	return machine->parts ? (const uint64_t *)(machine + 1) : 0;
}

static inline uint64_t cp_region_item_size(
	uint32_t ncounters, uint32_t nquantities, uint32_t ngroups)
{
	return sizeof(struct cp_region_item) + ncounters * sizeof(struct cp_sum) +
	       nquantities * sizeof(struct cp_spread) + ngroups * sizeof(struct cp_times);
}

/* The part that nrotated adds to an item. */
static inline uint64_t cp_rotated_size(
	uint64_t nrotated, uint32_t ncounters, uint32_t ngroups)
{
	return nrotated ? sizeof(struct cp_rotated) + ngroups * sizeof(struct cp_turns) +
				  ncounters * sizeof(struct cp_sample)
			: 0;
}

/* The part that CP_RECORD_SPARSE adds to an item; a record has one of the two. */
static inline uint64_t cp_sampled_size(bool sparse, uint32_t nquantities)
{
	return sparse ? sizeof(struct cp_sampled) + nquantities * sizeof(struct cp_chosen)
		      : 0;
}

/* All of a region that changes, and of the two above it, their sums. */
static inline uint64_t cp_journal_item_size(uint64_t region_size)
{
	return sizeof(struct cp_journal_item) + 3 * region_size;
}

static inline struct cp_sum *cp_region_sums(const struct cp_region_item *region)
{
	return (struct cp_sum *)(uintptr_t)(region + 1);
}

static inline struct cp_spread *cp_region_spreads(
	const struct cp_region_item *region, uint32_t ncounters)
{
	return (struct cp_spread *)(cp_region_sums(region) + ncounters);
}

static inline struct cp_times *cp_region_times(
	const struct cp_region_item *region, uint32_t ncounters, uint32_t nquantities)
{
	return (struct cp_times *)(cp_region_spreads(region, ncounters) + nquantities);
}

/* Only in records with CP_RECORD_SPARSE. */
static inline struct cp_sampled *cp_region_sampled(const struct cp_region_item *region,
	uint32_t ncounters, uint32_t nquantities, uint32_t ngroups)
{
	return (struct cp_sampled *)(cp_region_times(region, ncounters, nquantities) +
				     ngroups);
}

/* Only with nrotated. */
static inline struct cp_rotated *cp_region_rotated(const struct cp_region_item *region,
	uint32_t ncounters, uint32_t nquantities, uint32_t ngroups)
{
	return (void *)(cp_region_times(region, ncounters, nquantities) + ngroups);
}

static inline struct cp_turns *cp_rotated_turns(const struct cp_rotated *rotated)
{
	return (struct cp_turns *)(uintptr_t)(rotated + 1);
}

static inline struct cp_sample *cp_rotated_samples(
	const struct cp_rotated *rotated, uint32_t ngroups)
{
	return (struct cp_sample *)(cp_rotated_turns(rotated) + ngroups);
}

#endif
