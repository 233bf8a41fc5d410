/* SPDX-License-Identifier: MIT
 *
 * The file in which the perf engine leaves the samples of one process, with what
 * it takes to say later what was at an address: PID-N.samples in the run
 * directory.  It is laid out as a run record is (record.h), with a header of that
 * kind and items of the types below.  Times are CLOCK_MONOTONIC, in ns.
 */
#ifndef CACHEPEEK_REGIONS_SAMPLES_H
#define CACHEPEEK_REGIONS_SAMPLES_H

#include "regions/record.h"

#define CP_SAMPLES_MAGIC "cpeeksmp"
#define CP_SAMPLES_VERSION 3

/* The events that a thread's ring may hold samples of. */
enum cp_sampled_event {
	CP_SAMPLED_FAULTS, /* page faults, each of them */
	CP_SAMPLED_MEMORY, /* the processor's own samples of loads and stores */
	CP_SAMPLED_EVENTS,
};

/* The unit in which an event's period counts. */
enum cp_sampled_unit {
	CP_UNIT_MISSES,     /* so many of what the event counts: misses, faults */
	CP_UNIT_OPERATIONS, /* so many operations, whether they missed or not */
};

enum cp_samples_type {
	CP_SAMPLES_EVENT = 32,
	CP_SAMPLES_THREAD,
	CP_SAMPLES_BATCH,
	CP_SAMPLES_RANGE,
	CP_SAMPLES_BLOCK,
	CP_SAMPLES_MAPS,
	CP_SAMPLES_MAPPING,
	CP_SAMPLES_CHAIN,
};

/* One for the whole process; name "": the event is not sampled, and why says the reason.
 */
struct cp_samples_event {
	struct cp_item item;
	uint32_t event; /* enum cp_sampled_event */
	uint32_t unit;  /* enum cp_sampled_unit */
	uint64_t period;
	uint32_t jitter; /* percent of the period, either way */
	uint32_t exact;  /* 1: each one is sampled */
	char name[96];
	char vendor[16];
	char why[400];
};

/* A thread, and what it has of each event up to now. */
struct cp_samples_thread {
	struct cp_item item;
	uint32_t id; /* from 0 on */
	int32_t tid;
	uint64_t end; /* when it ended; 0: it has not, or nobody saw it */
	struct cp_sampled_totals {
		uint64_t total;   /* that the event counted */
		uint64_t samples; /* that are in the file */
		uint64_t periods; /* what those stand for */
		uint64_t lost;    /* samples, by the kernel: the ring was full */
		uint64_t dropped; /* samples, by us: there was no room in the file */
		int32_t error;    /* of the open; 0: it is sampled */
		uint32_t pages;   /* of the ring */
	} events[CP_SAMPLED_EVENTS];
};

struct cp_access_sample {
	uint64_t time, instruction, address;
	uint64_t data_source; /* union perf_mem_data_src */
	uint64_t period;
	uint32_t event;
	uint32_t latency; /* cycles; 0: not known */
	uint32_t chain;   /* its call chain, from 1 on; 0: none was asked for */
	uint32_t unused;
};

struct cp_samples_batch {
	struct cp_item item;
	uint32_t thread, n;
	struct cp_access_sample sample[];
};

/* The most addresses of a call chain. */
#define CP_CHAIN_LENGTH 127

/* Bytes of the stack that are kept with it. */
#define CP_CHAIN_STACK 2048

/* Where a sample was, and where each of its callers goes on, the innermost one first, as
 * frame pointers tell; and what tells more to who knows how the code keeps its stack. The
 * same chain may be there several times. */
struct cp_samples_chain {
	struct cp_item item;
	uint32_t id, n;
	uint32_t stack; /* words of it; 0: registers are not known either */
	uint32_t unused;
	struct cp_unwound_registers {
		uint64_t pc, sp, fp, lr; /* lr: 0 where there is none */
	} registers;
	uint64_t word[]; /* n addresses, and the stack from sp on */
};

enum cp_range_kind { CP_RANGE_STACK, CP_RANGE_TLS };

/* A thread's use of memory, from start on. */
struct cp_samples_range {
	struct cp_item item;
	uint32_t thread, kind;
	uint64_t low, high;
	uint64_t start;
	/* TLS: where the module's initial image is mapped, as if it were a variable
	 * there. */
	uint64_t image;
};

/* A block of the heap, by the call that returns to site.  Until it is there only the
 * thread that asked for it can touch it. */
struct cp_samples_block {
	struct cp_item item;
	uint64_t address, size, site;
	/* When it was asked for, when it was there, and when it was given back (0:
	 * it is there still).  Another one may have come and gone at its place
	 * between the first two. */
	uint64_t start, there, end;
	int32_t tid; /* of the thread that asked for it */
	uint32_t unused;
};

/* /proc/self/maps. */
struct cp_samples_maps {
	struct cp_item item;
	uint64_t time;
	uint32_t length, unused;
	char text[];
};

/* A mapping made later on. */
struct cp_samples_mapping {
	struct cp_item item;
	uint64_t time, start, size, offset;
	uint32_t protection, length;
	char path[];
};

/* Blocks from this size on are known; malloc has so many bytes of its own in front
 * of them. */
#define CP_SAMPLES_BLOCK_SIZE 4096
#define CP_SAMPLES_BLOCK_HEAD 16

#endif
