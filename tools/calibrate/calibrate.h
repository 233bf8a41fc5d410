/* SPDX-License-Identifier: MIT
 *
 * cachepeek doctor --calibrate: what the caches, TLBs and memory of this host take, by
 * the clock.  Other processes and the hypervisor only ever make a measurement slower:
 * all figures are measured in several rounds, and the best of a time, or the middle of
 * a place where a curve steps, is taken.  How far the middle of the rounds is from it
 * says how stable the figure is.
 */
#ifndef CACHEPEEK_TOOLS_CALIBRATE_H
#define CACHEPEEK_TOOLS_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/machine/machine.h"

enum cp_figure {
	CP_FIGURE_CLOCK,
	CP_FIGURE_WIDTH,
	CP_FIGURE_LOADS,
	CP_FIGURE_STORES,
	CP_FIGURE_FLOAT_ADD,
	CP_FIGURE_FLOAT_MULTIPLY,
	CP_FIGURE_L1,
	CP_FIGURE_L2,
	CP_FIGURE_LLC,
	CP_FIGURE_MEMORY,
	CP_FIGURE_DTLB,
	CP_FIGURE_STLB,
	CP_FIGURE_STLB_HIT,
	CP_FIGURE_WALK,
	CP_FIGURE_PARALLEL,
	CP_FIGURE_PARALLEL_FAR,
	CP_FIGURE_WALKERS,
	CP_FIGURE_WINDOW,
	CP_FIGURE_MISPREDICT,
	CP_FIGURE_STREAM_L2,
	CP_FIGURE_SAME_SET,
	CP_FIGURE_LLC_SET,
	CP_FIGURE_BANKS,
	CP_FIGURE_STORE_LINE,
	CP_FIGURE_SET_LINE,
	CP_FIGURE_STREAM_LLC,
	CP_FIGURE_LONE_LINE,
	CP_FIGURE_STREAM_MEMORY,
	CP_FIGURE_PREFETCH,
	CP_FIGURE_NEAR,
	CP_FIGURE_ROOM,
	CP_FIGURE_STAY,
	CP_FIGURE_TRANSFER,
	CP_NFIGURES
};

#define CP_CALIBRATE_ROUNDS 8
#define CP_UNSTABLE 0.2 /* of the figure: further apart than that, it is not stable */

/* The figures that a round found, in cycles where the figure's unit says so.  NAN: it
 * could not be measured. */
struct cp_round {
	double value[CP_NFIGURES];
	/* A figure that a curve tells is known at some points only, and the clock
	 * changes: it is between these.  INFINITY: nobody knows how much more it is. */
	double low[CP_NFIGURES], high[CP_NFIGURES];
};

struct cp_calibration {
	struct cp_machine machine; /* geometry, from sysfs */
	bool sized;                /* which tells it: else it is assumed */
	struct cp_round round[CP_CALIBRATE_ROUNDS];
	/* By the rounds of even number alone, and by the others: of what rests on all
	 * rounds so far. */
	struct cp_round half[2];
	double value[CP_NFIGURES];
	double spread[CP_NFIGURES]; /* with what lies between the points of a curve */
	bool at_least[CP_NFIGURES]; /* no more is known of it */
	unsigned rounds;
	double seconds; /* that it took */
	bool huge;      /* the memory is of huge pages: no walks are in the latencies */
	size_t bytes;   /* of memory */
};

/* Nothing is known yet. */
void cp_round_clear(struct cp_round *round);

/* It is a point of a curve, or lies between two of them. */
static inline void cp_found_between(struct cp_round *round, enum cp_figure figure,
	double value, double low, double high)
{
	round->value[figure] = value;
	round->low[figure] = low;
	round->high[figure] = high;
}

/* Is it between two values in each round?  Then its spread is never less than their
 * distance. */
bool cp_figure_has_grid(enum cp_figure figure);

/* "l2_latency", "cycles", and what it is for people. */
const char *cp_figure_name(enum cp_figure figure);
const char *cp_figure_unit(enum cp_figure figure);
/* Behind the point, so that four digits are shown, or all of a larger number. */
int cp_figure_decimals(double value);
const char *cp_figure_title(enum cp_figure figure);

/* Takes up to 15 s, 1 GB at most, and one CPU.  0, or -errno with one line in error. */
int cp_calibrate(struct cp_calibration *calibration, char *error, size_t error_size);

/* The figures of all rounds as one each: value and spread. */
void cp_calibration_conclude(struct cp_calibration *calibration);
bool cp_figure_is_stable(const struct cp_calibration *calibration, enum cp_figure figure);

/* ---- what is measured with ---- */

#define CP_CURVE_POINTS 56
#define CP_STAY_POINTS 35
#define CP_ROOM_POINTS 56
#define CP_MOMENTS 64
#define CP_SMALL_PAGE ((size_t)4096)

/* Least times of several rounds, all doubles; 0: none. */
struct cp_kept {
	double window[CP_CURVE_POINTS], page[CP_CURVE_POINTS], line[CP_CURVE_POINTS],
		stay[CP_STAY_POINTS], room[CP_ROOM_POINTS]; /* points of curves */
	double far_alone, far_beside;      /* others: a load's from memory */
	double walks_beside, lines_beside; /* loads that wait for none */
};

struct cp_host {
	const struct cp_machine *machine;
	char *memory; /* of huge pages where the kernel has them; all zeros */
	size_t bytes;
	char *scratch;     /* the same, for what writes */
	char *pages;       /* of small pages */
	size_t page_bytes; /* of each of these */
	double ns;         /* a cycle takes, as far as known by now */
	double width;      /* the most instructions a cycle by now */
	unsigned round;
	double clocks[CP_CALIBRATE_ROUNDS]; /* of the rounds so far: ns */
	double moments[CP_MOMENTS];         /* of this round: ns */
	unsigned nmoments;
	/* Kept of all rounds so far, of those of even number, and of the others; and what
	 * the latter two found. */
	struct cp_kept kept, kept_half[2];
	struct cp_round *half;
	double deadline; /* seconds */
	bool huge;
	int other_cpu; /* that the process may run on; -1: none */
};

/* Bytes of a level; 0: the machine has none. */
static inline size_t cp_host_level(const struct cp_host *host, enum cp_level level)
{
	const struct cp_cache *cache = &host->machine->level[level];

	return (size_t)cache->sets * cache->ways * cache->line;
}

/* A part of the last level that those in front are small beside, and that leaves room for
 * what others have in it: for streams. */
static inline size_t cp_host_llc_piece(const struct cp_host *host)
{
	size_t front = cp_host_level(host, CP_L2), llc = cp_host_level(host, CP_LLC);

	return front * 8 <= llc ? front * 4 : (front + llc) / 2;
}

#define CP_LINE 64

/* A congruential generator's next state.  Hull and Dobell: its period is full modulo any
 * power of two, as the factor is 1 modulo 4 and the increment odd.  Low bits are regular.
 */
static inline uint64_t cp_next_state(uint64_t state)
{
	return state * 6364136223846793005u + 1442695040888963407u;
}

/* Since some time in the past. */
double cp_calibrate_now_ns(void);

/* Nanoseconds of the best of some tries, a piece. */
typedef void cp_task(void *context);
double cp_best(unsigned tries, double pieces, cp_task *task, void *context);

/* The number that a quarter of them is below; sorts them. */
double cp_quarter(double values[], size_t count);

/* The best that a second one confirms, where there are four or more: for a moment the
 * clock may be higher than it is else.  Of sorted ones, the best first. */
size_t cp_confirmed(size_t count);

/* Each adds what it finds to the figures of the round. */
typedef void cp_measure(struct cp_host *host, struct cp_round *round);
cp_measure cp_measure_rates, cp_measure_latencies, cp_measure_pages, cp_measure_window,
	cp_measure_branches, cp_measure_streams, cp_measure_room, cp_measure_transfers;

/* There is no time for more: what is not complete by now is not found. */
bool cp_host_is_late(const struct cp_host *host);

/* Keeps a time of kept, if it is less than in the rounds before. */
void cp_keep(struct cp_host *host, const double *place, double now);

/* Finds what follows from the times of all rounds so far, and from those of this half. */
typedef void cp_find(
	const struct cp_host *host, const struct cp_kept *kept, struct cp_round *round);
void cp_find_both(struct cp_host *host, struct cp_round *round, cp_find *find);

/* The clock of some moments between measurements, and what a round makes of it. */
void cp_look_at_clock(struct cp_host *host);
void cp_find_clock(struct cp_host *host, struct cp_round *round);

/* Nanoseconds of a cycle, now. */
double cp_cycle_ns(const struct cp_host *host);

/* Cycles of a load that depends on the one before, and of what finds its address: of the
 * lines of so many bytes that were not read for the longest, after some passes over all.
 */
double cp_walk(const struct cp_host *host, size_t bytes);
double cp_walk_later(const struct cp_host *host, size_t bytes, double wait); /* ns */

/* Cycles of a load from one of so many places, a stride and some lines apart, after so
 * many passes over all of them. */
double cp_chain(const struct cp_host *host, char *memory, size_t count, size_t stride,
	unsigned passes);

/* Any order of so many numbers, the same each time, that is one cycle. */
void cp_shuffle(uint32_t order[], size_t count);

/* A line of each of so many small pages, all of which the second TLB knows, in an order
 * that no prefetcher knows. */
#define CP_FEW_PAGES 1024
struct cp_pages {
	char *memory;
	size_t count;
	bool same;      /* place in their pages */
	unsigned place; /* which: a line's number */
	uint32_t order[CP_FEW_PAGES];
};

/* All at one place, another one in each round, where the L2 has no room for them: once
 * they have been read, the last level has them, and only that.  count 0: there is no such
 * level. */
void cp_pages_behind_l2(const struct cp_host *host, char *memory, struct cp_pages *pages);
/* At all places. */
void cp_pages_anywhere(char *memory, struct cp_pages *pages);

void **cp_pages_link(const struct cp_pages *pages); /* returns the first */
void cp_pages_flush(const struct cp_pages *pages);  /* no cache has them */

/* Cycles of a load from one of them that needs the one before, and of one that waits for
 * none; `flushed`: from memory. */
double cp_pages_chain(
	const struct cp_host *host, const struct cp_pages *pages, bool flushed);
double cp_pages_loads(
	const struct cp_host *host, const struct cp_pages *pages, bool flushed);

/* ---- lines that no cache has any more ---- */

#if defined(__x86_64__)
#define CP_FLUSH "clflush (%0)"
#define CP_FLUSHED "mfence"
#elif defined(__aarch64__)
#define CP_FLUSH "dc civac, %0"
#define CP_FLUSHED "dsb sy"
#endif

static inline void cp_flush_line(void *line)
{
	__asm__ volatile(CP_FLUSH : : "r"(line) : "memory");
}

/* Waits until what was flushed has left. */
static inline void cp_flush_end(void)
{
	__asm__ volatile(CP_FLUSHED : : : "memory");
}

/* ---- curves ---- */

/* Whatever disturbs a point makes it longer, and not in every round. */
static inline void cp_least(double *kept, double now)
{
	if (!(*kept > 0) || now < *kept)
		*kept = now;
}

/* Mends a curve that cannot fall: whatever is slower than a point behind it was
 * disturbed.
 */
static inline void cp_curve_settle(double curve[], size_t count)
{
	for (size_t i = count - 1; i > 0; i--)
		if (curve[i - 1] > curve[i])
			curve[i - 1] = curve[i];
}

/* The index of the last point before the curve goes up from low to high: where the fewest
 * points are on the wrong side of the middle; count: it does not rise. */
size_t cp_curve_step(const double curve[], size_t count, double low, double high);

/* ---- the file ---- */

/* A machine file of what was measured: malloc()ed text. */
char *cp_calibration_text(const struct cp_calibration *calibration, const char *date);

/* Would -m host read it?  0, or -EINVAL with one line in error. */
int cp_calibration_check(const char *text, char *error, size_t error_size);

#endif
