/* SPDX-License-Identifier: MIT
 *
 * An engine counts events per thread.  There are two, perf.c (the kernel's counters) and
 * sim.c (the simulated PMU).  An engine knows nothing of regions, records and reports.
 *
 * One error rule: functions return 0 or -errno, and a why for people where
 * there is one.  Nothing here allocates with malloc or keeps the program's
 * errno changed on purpose; callers save it.
 */
#ifndef CACHEPEEK_BASE_ENGINE_ENGINE_H
#define CACHEPEEK_BASE_ENGINE_ENGINE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/counts.h"

#define CP_MAX_TERMS 8
#define CP_NAME_SIZE 96
#define CP_WHY_SIZE 400
#define CP_MAX_PARTS 64
#define CP_NO_MIRROR UINT32_MAX

/* Why something cannot be counted, and what would change that: one line. */
struct cp_why {
	char text[CP_WHY_SIZE];
};

/* One thing the engine reads. */
struct cp_counter {
	char name[CP_NAME_SIZE];
	struct perf_event_attr attr; /* perf */
	unsigned group;              /* perf: which group it was put into */
	unsigned mirror;             /* sim: enum cp_sim_counter; else CP_NO_MIRROR */
	bool sampled;  /* sim: CP_SAMPLE_PARTS from there on, each a counter of a reading
			*/
	bool unproven; /* perf: CP_PROOF_NONE */
	bool socket;   /* perf: the sum of its parts; no thread's */
	bool rusage;   /* perf: not opened, but read by rusage.h */
	unsigned core; /* perf: kind of core, from 1 on; 0: any */
};

/* One thing the user asked for: a sum of counters, or a reason why not. */
struct cp_quantity {
	char name[CP_NAME_SIZE];
	bool available;
	bool unproven; /* available, but a 0 is not to be believed: why */
	bool modelled; /* available, as an estimate: why says by what */
	unsigned nterms;
	struct {
		unsigned counter;
		int sign;
	} terms[CP_MAX_TERMS];
	struct cp_why why;
};

/* One PMU, on one of the CPUs that stand for a socket. */
struct cp_part {
	unsigned counter;
	int cpu;
	struct perf_event_attr attr;
};

struct cp_event_set {
	unsigned ncounters, nquantities, ngroups;
	unsigned nrotated; /* perf: the first so many groups take turns; 0: none does */
	unsigned nparts;
	struct cp_part parts[CP_MAX_PARTS];
	bool timed;        /* sim: cycles are counted as well */
	bool time_sampled; /* and how well they are known */
	bool starved;      /* perf: some event was never put on the PMU */
	/* perf: by group, 1 + the group whose running time is the time that this
	 * one's kind of core was in use; 0: there is but one kind. */
	unsigned char reference[CP_MAX_PERF_GROUPS];
	unsigned pass, npasses; /* of several runs, from 1 on; 0: this is the only one */
	struct cp_counter counters[CP_MAX_COUNTERS];
	struct cp_quantity quantities[CP_MAX_QUANTITIES];
};

/* A thread's open counters.  Zeroed means closed. */
struct cp_thread_counters {
	bool open;
	unsigned one_read; /* perf: so many, which one read(2) has all; 0: it has not */
	int fd[CP_MAX_COUNTERS]; /* perf; leaders first of their group; -1: see page */
	void *page[CP_MAX_COUNTERS]; /* perf: the mmap'd page, or NULL */
	/* perf, by the group's first counter: can be read in user space */
	bool user_read[CP_MAX_COUNTERS];
	/* perf: the counters of sockets are read with this thread's; one thread. */
	bool sockets;
	unsigned turn; /* perf, nrotated: the group that counts */
	pid_t tid;     /* perf: the thread that is counted */
	/* perf: its group was not opened, because the thread may not: read by rusage.h */
	bool refused[CP_MAX_COUNTERS], any_refused;
	uint64_t switches; /* perf, rusage: of that thread before it was opened */
	uint64_t *mirror;  /* sim: where the tool keeps this thread's counts */
	uint64_t *sample;  /* the same of what it samples; NULL: nothing */
};

struct cp_engine {
	const char *name;

	/* -- what holds for its counts, so that nobody asks which engine it is -- */

	/* It counts each thread from its first instruction to its last, into the mirror,
	 * which outlives thread_close and the process. */
	bool counts_whole_threads;
	/* thread_open takes any thread of the process. */
	bool opens_any_thread;
	/* A reading counts something itself, which has to be measured. */
	bool counts_readings;
	/* The time that passes is the program's. */
	bool has_time;
	/* One thread runs at a time: those that wait should let others run. */
	bool runs_one_thread;

	/* -- our own work -- */

	/* Whatever the calling thread does between pause and resume is not counted.
	 * They nest, and hold before configure.  NULL: counts are read so that our work
	 * lies outside. */
	void (*pause)(void);
	void (*resume)(void);

	/* The calling thread goes on in the region of that number, 0: in none; for counts
	 * that are better known of the first instructions of each.  NULL: it need not
	 * know. */
	void (*enter_region)(uint64_t number);

	/* -- what it writes by itself; each is NULL where it writes nothing -- */

	/* The mirrors of all threads are up to date. */
	void (*sync)(void);
	/* The process's counts are kept in this mirror. */
	void (*bind_process)(void *mirror);
	/* Adds the rows of this struct cp_series from now on; NULL: no more. */
	void (*add_rows)(const void *series);

	/* -- counting -- */

	/* Takes the set whose counters were resolved for this engine.  Called
	 * once before any thread_open, and in each program image. */
	int (*configure)(const struct cp_event_set *set);

	/* Starts counting for the thread tid (0: the caller).  The caller zeroed
	 * *counters and, for sim, set mirror, else turn and sockets.  -EMFILE, -EACCES …
	 * with *why.
	 */
	int (*thread_open)(
		struct cp_thread_counters *counters, pid_t tid, struct cp_why *why);

	/* Counts since thread_open, and reading->failed if not 0.  May be called from any
	 * thread if own is false; own says that the counters are the calling thread's. */
	int (*read)(const struct cp_thread_counters *counters, bool own,
		struct cp_reading *reading);

	/* With nrotated: stops the group that has its turn and starts this one. */
	void (*turn)(struct cp_thread_counters *counters, unsigned group);

	/* Safe on counters that were never opened. */
	void (*thread_close)(struct cp_thread_counters *counters);

	/* In a fork child: forget what belongs to the parent.  counters is the
	 * forking thread's; the other threads' are dropped with drop. */
	void (*after_fork)(struct cp_thread_counters *counters);

	/* In a fork child that may go back to a reading: it ends, with whatever numbers.
	 * NULL: it does so by itself. */
	void (*forked_inside)(const struct cp_thread_counters *counters);
};

extern const struct cp_engine cp_engine_perf;
extern const struct cp_engine cp_engine_sim;

/* The engine of this image: the simulated PMU where it runs the process. */
extern const struct cp_engine *cp_engine __attribute__((visibility("hidden")));

/* Finds that out.  Our own code is not counted from here on; what it calls is. */
void cp_engine_start(void);

/* Has our code and constants mapped, before page faults are counted. */
void cp_engine_map_own(void);

/* In between, this thread's work is ours, wherever it calls, and is not counted. */
static inline void cp_engine_pause(void)
{
	if (cp_engine->pause)
		cp_engine->pause();
}

static inline void cp_engine_resume(void)
{
	if (cp_engine->resume)
		cp_engine->resume();
}

static inline void cp_engine_sync(void)
{
	if (cp_engine->sync)
		cp_engine->sync();
}

/* -- perf.c, beyond the contract -- */

/* The evidence that a raw event, which opens, also counts. */
enum cp_proof {
	CP_PROOF_COUNTS,  /* it moved, or the kernel lists it */
	CP_PROOF_NONE,    /* a 0 may be no count */
	CP_PROOF_MISSING, /* the PMU does not have it */
};

/* Can this event be opened on the calling thread, and why not?  proof (or NULL:
 * not wanted) tells whether it also counts; -ENOENT if not.  The event
 * stays open until cp_perf_probe_done(): the kernel patches itself when the
 * first event of a kind is opened and when the last is closed, which takes
 * longer than everything else here. */
int cp_perf_probe(
	const struct perf_event_attr *attr, enum cp_proof *proof, struct cp_why *why);
void cp_perf_probe_done(void);

/* Can all that a CPU stands for be counted?  0, or -errno with *why. */
int cp_perf_probe_cpu(const struct perf_event_attr *attr, int cpu, struct cp_why *why);

bool cp_perf_needs_pmu(const struct perf_event_attr *attr);

/* Does the PMU count all of these at once? */
bool cp_perf_fits(const struct perf_event_attr *const attrs[], unsigned n);

/* Distributes the counters over perf groups (counter.group, set->ngroups),
 * as many in one as the PMU really counts at once.  Reorders the counters:
 * those that need no PMU come last, in groups of their own. */
void cp_perf_arrange(struct cp_event_set *set);

/* Lets the groups that need the PMU take turns, if there are several.  After
 * cp_perf_arrange. */
void cp_perf_rotate(struct cp_event_set *set);

/* Does the machine have a hardware PMU that opens and counts?  If not, why,
 * and what would unlock it. */
bool cp_perf_hardware_works(struct cp_why *why);

/* -- sim.c -- */

/* Is this process run by the simulated PMU? */
bool cp_sim_active(void);

/* Is it run by another tool of Valgrind, which the user has started? */
bool cp_sim_is_foreign(void);

#endif
