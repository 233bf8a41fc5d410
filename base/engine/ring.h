/* SPDX-License-Identifier: MIT
 *
 * The reader's end of a ring that the kernel writes samples into.
 */
#ifndef CACHEPEEK_BASE_ENGINE_RING_H
#define CACHEPEEK_BASE_ENGINE_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "regions/samples.h"

/* The attributes that an event needs for the functions below. */
#define CP_RING_SAMPLE_TYPE                                                              \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |  \
		PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT |             \
		PERF_SAMPLE_DATA_SRC)

/* With these, call chains as well: of the program, by its frame pointers; and registers
 * and the upper end of the stack. */
#define CP_RING_CHAINS                                                                   \
	(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* Which registers; where none are known, chains have addresses only. */
#if defined(__x86_64__)
#define CP_RING_REGISTERS ((uint64_t)7 << 6) /* BP, SP, IP */
#define CP_RING_NREGISTERS 3
#elif defined(__aarch64__)
#define CP_RING_REGISTERS ((uint64_t)15 << 29) /* X29, LR, SP, PC */
#define CP_RING_NREGISTERS 4
#else
#define CP_RING_REGISTERS ((uint64_t)0)
#define CP_RING_NREGISTERS 0
#endif

/* Bytes that a sample takes without a chain. */
#define CP_RING_SAMPLE 72

/* Addresses in the program, the innermost one first; what the kernel puts between them is
 * left out by who copies them (cp_chain_copy). */
struct cp_chain {
	const uint64_t *address;
	uint64_t n;
	struct cp_unwound_registers registers;
	const uint64_t *stack;
	uint64_t stack_size; /* bytes; 0: registers are not known either */
};

/* Longer records are passed over; mappings with the longest path are not. */
#define CP_RING_RECORD 4352

struct cp_ring {
	struct perf_event_mmap_page *page; /* NULL: there is none */
	uint64_t mapped;                   /* bytes, with the page */
	unsigned pages;                    /* of data */
	bool chains;                       /* its samples have them */
	/* A record that lies across the ring's end. */
	char whole[CP_RING_RECORD] __attribute__((aligned(8)));
};

/* Callbacks for the records of a ring, one by one. */
struct cp_ring_visitor {
	void (*sample)(void *context, uint64_t id, const struct cp_access_sample *sample,
		const struct cp_chain *chain);
	/* Samples of the event id that the ring had no room for. */
	void (*lost)(void *context, uint64_t id, uint64_t n);
	void (*mapping)(void *context, const struct cp_samples_mapping *mapping,
		const char *path, uint32_t length);
};

/* A ring of at most so many pages, a power of two, or fewer where the kernel has a
 * limit: 0 or -errno. */
int cp_ring_map(struct cp_ring *ring, int fd, unsigned pages);
void cp_ring_unmap(struct cp_ring *ring);

/* In a fork child, which has no ring: an empty one. */
void cp_ring_unmapped(const struct cp_ring *ring);

/* Takes out what is there. */
void cp_ring_drain(
	struct cp_ring *ring, const struct cp_ring_visitor *visitor, void *context);

/* The addresses of a chain without the kernel's marks, at most so many; how many. */
uint32_t cp_chain_copy(uint64_t *to, const struct cp_chain *chain, uint32_t most);

/* Percent of the ring that is waiting to be taken out. */
unsigned cp_ring_filled(const struct cp_ring *ring);

#endif
