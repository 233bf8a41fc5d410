/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How values flow through a batch: what its loads' addresses, the registers that it
 * writes, and its branch hang on.  Made when code is instrumented, read by ahead.c.
 *
 * A value is ready when all of its sources are, each some cycles after that.  Sources are
 * registers as they were when the superblock began, and the superblock's loads so far.
 */
#ifndef CACHEPEEK_SIM_FLOW_H
#define CACHEPEEK_SIM_FLOW_H

#include <stdint.h>

#define FLOW_REGISTERS 64
#define FLOW_LOADS 64 /* of a superblock; those behind are not followed */
#define FLOW_SOURCES (FLOW_REGISTERS + FLOW_LOADS)

/* A value takes so much longer by way of memory than a hit: as on Golden Cove, measured
 * (6 cycles where a hit takes 5); of others it is assumed. */
#define CARRIED_CYCLES 1

/* from: a register, or FLOW_REGISTERS + a load. */
struct flow_source {
	uint8_t from, add;
};

/* Sources [first, first + count) of the batch; and which those are, a bit each. */
struct flow_value {
	uint64_t registers, loads;
	uint16_t first;
	uint8_t count, to; /* the load whose address it is */
	uint8_t again;     /* so many later loads of the batch hang on the same */
	uint8_t fit;       /* so many such loads are of one line */
};

/* The registers that hang on a source: so many registers, which stand behind this. */
struct flow_way {
	uint8_t from, count;
};

/* A register that is ready so much later than a source. */
struct flow_put {
	uint8_t to, add;
};

/* Either of both. */
union flow_word {
	struct flow_way way;
	struct flow_put put;
};

/* Entries for instructions that wait for others: Skylake's (WikiChip, "Skylake (client)",
 * key changes from Broadwell), and by the clock Golden Cove's; of other cores that is
 * assumed. */
#define SCHEDULER 97

/* So many instructions that compute, and wait for the latest of those sources, a bit
 * each; and by how many cycles longer than for that, on average: of all together until
 * they are kept. */
struct flow_wait {
	uint64_t registers, loads;
	uint32_t instructions, longer;
};

/* The waits of a batch; the sources that any waits for, and by how many cycles longer at
 * the most. */
struct flow_waits {
	uint64_t registers, loads;
	uint32_t n, longest;
	struct flow_wait of[];
};

/* How a batch ends. */
enum flow_end { FLOW_GOES_ON, FLOW_BRANCHES };

/* The values: the addresses of its loads, and what the branch needs, if it has one.
 * Behind them are the sources of those, and the ways to registers.  A bit each: registers
 * and loads that registers get something of, and those registers. */
struct flow {
	uint64_t reads, loads, writes;
	uint8_t begins; /* a superblock */
	uint8_t end;
	uint8_t nloads, nways;
	uint16_t nsources, nwords;      /* of the ways */
	const struct flow_waits *waits; /* NULL: none */
	struct flow_value value[];
};

static inline const struct flow_source *flow_sources(const struct flow *f)
{
	return (const struct flow_source *)(f->value + f->nloads +
					    (f->end == FLOW_BRANCHES));
}

static inline const union flow_word *flow_ways(const struct flow *f)
{
	return (const union flow_word *)(flow_sources(f) + f->nsources);
}

#endif
