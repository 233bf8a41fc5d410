/* SPDX-License-Identifier: MIT
 *
 * The cache hierarchy that the simulated PMU gets: the host's, as sysfs tells
 * it, or a machine file's.
 */
#ifndef CACHEPEEK_BASE_MACHINE_MACHINE_H
#define CACHEPEEK_BASE_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/metrics/spreads.h"
#include "output/metrics/weights.h"

enum cp_policy {
	CP_LRU,
	CP_PLRU,
	CP_ROUND_ROBIN,
	CP_RANDOM,
	CP_LRU_PLRU4, /* trees of four ways, by age */
	CP_QLRU,      /* ages of two bits */
	CP_MRU,       /* ages of one bit */
	CP_MRU_N,     /* the same, once a set is full */
	CP_NPOLICIES
};
enum cp_inclusion { CP_NON_INCLUSIVE, CP_INCLUSIVE, CP_EXCLUSIVE };

/* Prefetchers (cachepeek-machines(5)); a level has up to CP_PREFETCHERS, the others of
 * which are CP_NO_PREFETCH. */
enum cp_prefetch {
	CP_NO_PREFETCH,
	CP_NEXT_LINE,
	CP_STREAM,
	CP_IP_STRIDE,
	CP_STREAMER,
	CP_ADJACENT_LINE,
	CP_REGION,
	CP_UP_DOWN,
	CP_NPREFETCH
};
#define CP_PREFETCHERS 4
#define CP_PREFETCH_NUMBERS 3
struct cp_prefetcher {
	uint8_t kind;
	uint32_t number[CP_PREFETCH_NUMBERS]; /* 0: left out */
};

/* Set duelling.  In each `of` sets, `count` from `first` on keep to CP_QLRU's age of new
 * lines, and as many from `second` on give most of them this age; the others do as those
 * that miss less. of 0: all keep to it. */
struct cp_duel {
	uint32_t age, first, second, count, of;
};

/* sets 0: the machine has no such cache. */
struct cp_cache {
	uint32_t sets, ways, line;
	uint8_t policy, inclusion; /* of the enums above */
	bool write_through, no_allocate, half_lines, fp_bypass;
	bool absent;      /* of those for huge pages: not even with the small ones */
	uint32_t shared;  /* by how many cores; 0: not said */
	uint32_t latency; /* cycles of a hit; 0: not said */
	uint64_t seed;    /* of CP_RANDOM */
	uint32_t qlru;    /* of CP_QLRU: the digits of its name */
	struct cp_duel duel;
	/* And those that it would have, without prefetch = none. */
	struct cp_prefetcher prefetch[CP_PREFETCHERS], without[CP_PREFETCHERS];
};

static inline bool cp_has_prefetcher(const struct cp_cache *cache)
{
	return cache->prefetch[0].kind != CP_NO_PREFETCH;
}

/* Its word in machine files, and how many numbers follow. */
const char *cp_prefetch_name(unsigned kind);
unsigned cp_prefetch_numbers(const struct cp_prefetcher *p);
/* Are the kinds ones that there are? */
bool cp_prefetch_is_sound(const struct cp_cache *cache);

/* Auto, and sample, which is always: of cores out of order the time of a sample. */
enum cp_timing { CP_TIMING_AUTO, CP_TIMING_ON, CP_TIMING_OFF, CP_TIMING_SAMPLE };

/* Out-of-order execution is modelled for FULL instructions at the beginning of each
 * region of a thread, and then for a UNIT in each PERIOD, behind WARM instructions that
 * warm it up, and BRANCHES whose branches alone are modelled. */
#define CP_TIME_FULL 2097152
#define CP_TIME_PERIOD 786432
#define CP_TIME_BRANCHES 65536
#define CP_TIME_WARM 8192
#define CP_TIME_UNIT 8192

enum cp_level {
	CP_L1I,
	CP_L1D,
	CP_L2,
	CP_LLC,
	CP_ITLB,
	CP_DTLB,
	CP_STLB,
	CP_ITLB2,
	CP_DTLB2,
	CP_ITLB_2M, /* for huge pages, from here on */
	CP_DTLB_2M,
	CP_STLB_2M,
	CP_ITLB2_2M,
	CP_DTLB2_2M,
	CP_NLEVELS
};

static inline bool cp_is_tlb(enum cp_level level)
{
	return level >= CP_ITLB;
}

#define CP_MOST_BANKS 64
#define CP_SET_LINES 48 /* that set_line is of */

/* The limits of a core that executes out of order; 0: not said, no limit.  Those of
 * the second line are in hundredths: instructions, loads and stores a cycle, and cycles
 * for which each line that it gives occupies a level. */
struct cp_ooo {
	bool on; /* timing = ooo */
	uint32_t window, mispredict, walkers, l2_fill_buffers;
	uint32_t width, loads, stores, l2_line, llc_line, memory_line;
	uint32_t distance; /* look-ups that a stream is fetched ahead */
	uint32_t near;     /* cycles that such a line takes */
	uint32_t stay;     /* cycles that a line is in the last level if nobody asks */
	uint32_t float_add, float_multiply; /* cycles that these take; 0: 3 and 4 */
	/* In hundredths: cycles for each line that a store misses in L1D, and if 48 of
	 * one set (CP_SET_LINES) come in turn. */
	uint32_t store_line, set_line;
	uint32_t lone_line; /* as llc_line, of a line that is of no stream */
	/* In hundredths: cycles for which a line keeps its bank of L2 busy, if that has
	 * it, and if it has to get it (0: as long). */
	uint32_t load_set_line, llc_set_line;
	uint32_t banks; /* that L2 has, at most CP_MOST_BANKS; 0: 4 */
};

/* The other things that a file may say it assumes, behind enum cp_weight_of: bits of
 * assumed. */
enum cp_assumed {
	CP_ASSUMED_STLB = CP_NWEIGHTS,
	CP_ASSUMED_WALK,
	CP_ASSUMED_CLOCK,
	CP_ASSUMED_FILL_BUFFERS,
	CP_ASSUMED_WRITE_BUFFERS,
	CP_ASSUMED_WIDTH,
	CP_ASSUMED_WINDOW,
	CP_ASSUMED_MISPREDICT,
	CP_ASSUMED_LOADS,
	CP_ASSUMED_STORES,
	CP_ASSUMED_WALKERS,
	CP_ASSUMED_L2_FILL_BUFFERS,
	CP_ASSUMED_L2_LINE,
	CP_ASSUMED_LLC_LINE,
	CP_ASSUMED_MEMORY_LINE,
	CP_ASSUMED_DISTANCE,
	CP_ASSUMED_NEAR,
	CP_ASSUMED_STAY,
	CP_ASSUMED_FLOAT_ADD,
	CP_ASSUMED_FLOAT_MULTIPLY,
	CP_ASSUMED_STORE_LINE,
	CP_ASSUMED_SET_LINE,
	CP_ASSUMED_LONE_LINE,
	CP_ASSUMED_LOAD_SET_LINE,
	CP_ASSUMED_LLC_SET_LINE,
	CP_ASSUMED_BANKS,
	CP_ASSUMED_LLC_SIZE,
	CP_NASSUMED
};

/* The processor whose CPUID a program is shown.  vendor "": nobody's. */
struct cp_shown {
	char vendor[16];
	uint32_t family, model, stepping;
	uint32_t threads;  /* of a core; 0: not said */
	bool has_features; /* they are said */
	uint64_t features; /* a set of cp_features[] */
};

struct cp_machine {
	char name[128];
	struct cp_cache level[CP_NLEVELS]; /* TLBs: line is 0 */
	uint32_t page;                     /* bytes */
	uint32_t cores;
	uint32_t memory_latency, fill_buffers, write_buffers; /* 0: not said */
	uint32_t walk_latency, cache_to_cache_latency;        /* the same */
	uint32_t clock_mhz;                                   /* the same */
	struct cp_ooo ooo;
	/* of a machine with several sockets; 0: not given */
	uint32_t sockets, one_hop_latency, two_hop_latency, remote_cache_latency;
	bool ring, close;
	bool ignores_orders;     /* cache-instructions = no */
	bool string_iterations;  /* string-instructions = iterations */
	uint32_t stream_buffers; /* write-combining-buffers; 0: not said */
	/* A bit for the latency of each enum cp_weight_of: the file says that it
	 * assumes it (and what enum cp_assumed names); somebody changed it (--what-if).
	 */
	uint64_t assumed;
	uint32_t changed;
	/* How far each of these may be off, in percent and 1: 0 is not said. */
	uint16_t spread[CP_NASSUMED];
	struct cp_shown shown;
	/* Threads of the processor that use one last level, if the host was recognised;
	 * 0: not known. */
	uint32_t llc_threads;
	int timing;        /* enum cp_timing: whether anybody wants to know */
	bool timed;        /* and whether it is counted */
	bool sampled;      /* only what can be sampled is counted: sample.h */
	bool time_sampled; /* time is modelled in units only */
	char events[32];   /* its own events: machines/NAME.natives; "": none */
	char pmu[32];      /* its PMU, as the presets name it; "": none */
	char note[240];    /* what was assumed, for the report; "" if nothing */
	/* When it was measured, and on which host (cp_host_word()); "": it was not. */
	char measured[16], host[160];
};

/*
 * "host", "plain" (the host with LRU, non-inclusive caches without prefetchers, and one
 * second-level TLB), the name of a machine that is compiled in, or a file (a name with a
 * slash).  0, or -errno with one line in error.  What sysfs does not tell about the host
 * is taken from the defaults and said in note.
 */
int cp_machine_find(
	struct cp_machine *machine, const char *name, char *error, size_t error_size);

/* The name of the machine to find where counts are sampled or caches swept, which "host"
 * may be too much for. */
const char *cp_machine_to_sample(const char *name, bool sampled);

/* One run of the simulated PMU gives the same references to several machines: up to
 * CP_MAX_MACHINES, with one and the same smallest line. */
#define CP_MAX_MACHINES 16

/* Whether one run can simulate both: the smallest lines are the same, and where cycles of
 * both are counted out of order, what chains of instructions take on them. */
bool cp_machine_shares_run(const struct cp_machine *a, const struct cp_machine *b);

/* The text of a machine file over what *machine says already.  0, or -EINVAL with
 * one line in error that begins with FILE:LINE. */
int cp_machine_parse(struct cp_machine *machine, const char *file, const char *text,
	char *error, size_t error_size);

/*
 * Changes of a machine, with commas between them: LEVEL.FIELD=VALUE, or a line of a
 * machine file.  Of a level's geometry the size follows ways and sets, and the sets
 * follow size and line; a size that is given holds.  The name tells of them.  0, or
 * -EINVAL with one line in error that begins with the change, and *machine is as it
 * was.
 */
int cp_machine_change(
	struct cp_machine *machine, const char *changes, char *error, size_t error_size);

/* "l1d", "dtlb2", … */
const char *cp_level_name(enum cp_level level);

/* Bytes of the host's L1D line, the one number that hardware counters need. */
unsigned cp_machine_host_line(void);

/* "host: L1I 32 KiB 8-way, …", for the report. */
void cp_machine_describe(const struct cp_machine *machine, char *to, size_t size);

/* Does the machine file say all that cycles can be counted by?  What it lacks, if not:
 * at least 64 bytes. */
bool cp_machine_tells_time(const struct cp_machine *machine, char *missing, size_t size);

/* The cycles that the machine file gives for a line from that level; 0: none given. */
uint32_t cp_machine_latency(const struct cp_machine *machine, enum cp_weight_of of);

/* "in-order" or "out-of-order": what its cycles are estimated by. */
const char *cp_machine_model(const struct cp_machine *machine);

/* The keys that time hangs on and that the file says it assumes, with commas, as many as
 * there is room for, and how many more there are; "": none.  size: 64 at least. */
void cp_machine_assumed_keys(const struct cp_machine *machine, char *to, size_t size);

/* The word for an enum cp_weight_of or cp_assumed in "assumed" and "spread". */
const char *cp_machine_figure(unsigned figure);

/* The options of the simulated PMU for its timing, and for its sockets. */
void cp_machine_time_sample_option(
	const struct cp_machine *machine, char *to, size_t size);
void cp_machine_timing_option(const struct cp_machine *machine, char *to, size_t size);
void cp_machine_ooo_option(const struct cp_machine *machine, char *to, size_t size);
void cp_machine_sockets_option(const struct cp_machine *machine, char *to, size_t size);

/* How far other sockets are at most: 0 (there are none), 1 or 2. */
int cp_machine_hops(const struct cp_machine *machine);

/* Names what the simplest model leaves out at that level: policies other than LRU,
 * prefetchers, caches that some of the cores share, and the like; NULL: nothing. */
const char *cp_machine_unlike_plain(
	const struct cp_machine *machine, enum cp_level level);

/* How many cores share its last level; 0: all of them. */
uint32_t cp_machine_llc_cores(const struct cp_machine *machine);

/* The option of the simulated PMU for a level, such as "--l1d=64,8,64,plru"; it
 * fits into CP_MACHINE_OPTION bytes. */
#define CP_MACHINE_OPTION 256
void cp_machine_option(
	const struct cp_machine *machine, enum cp_level level, char *to, size_t size);

#endif
