/* SPDX-License-Identifier: MIT
 *
 * Shared by the parts of sampling.
 */
#ifndef CACHEPEEK_PRELOAD_SAMPLING_PARTS_H
#define CACHEPEEK_PRELOAD_SAMPLING_PARTS_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "base/lock.h"
#include "base/engine/engine.h"
#include "base/engine/period.h"
#include "base/engine/ring.h"
#include "preload/sampling/sampling.h"
#include "regions/record_write.h"

/* An event as it is opened; name "": it is not, and why. */
struct cp_sampling_event {
	char name[96];
	char vendor[16];
	struct perf_event_attr attr;
	struct perf_event_attr first; /* that has to lead it; size 0: none */
	struct perf_event_attr count; /* what it is scaled to; size 0: itself */
	uint64_t step;                /* periods are multiples of this */
	enum cp_sampled_unit unit;
	struct cp_why why;
};

/* The file; header NULL: there is none. */
extern struct cp_recording cp_samples;

#define CP_PENDING 32

/* Chains that a thread wrote last, by their hash: most come again. */
#define CP_KNOWN_CHAINS 512

/* A thread's events and their ring.  Under the lock, but for its place in the
 * list. */
struct cp_sampler {
	struct cp_sampler *next, *previous;
	struct cp_made_lock made;
	int fd[CP_SAMPLED_EVENTS];
	int leader; /* of the second event, where it needs one; -1: none */
	int count;  /* what that is scaled to; -1: itself */
	uint64_t id[CP_SAMPLED_EVENTS];
	struct cp_ring ring;
	struct cp_period period;
	struct cp_samples_thread *out;
	unsigned npending;
	struct cp_access_sample pending[CP_PENDING];
	struct cp_known_chain {
		uint64_t hash;
		uint32_t id; /* 0: none */
	} chains[CP_KNOWN_CHAINS];
};

/* sampler.c: of a thread (tid 0: the caller); 0 or -errno of its ring's event.  Its
 * events are disabled. */
int cp_sampler_open(struct cp_sampler *sampler, pid_t tid,
	const struct cp_sampling_event events[CP_SAMPLED_EVENTS]);
void cp_sampler_enable(struct cp_sampler *sampler, bool enable);
void cp_sampler_close(struct cp_sampler *sampler);
/* Saves its ring's samples; totals: and the counts of its events. */
void cp_sampler_drain(struct cp_sampler *sampler, bool totals);

/* chains.c: the number of a call chain in the file; 0: there is no room. */
uint32_t cp_sampling_chain(struct cp_sampler *sampler, const struct cp_chain *chain);
/* A file has its own. */
/* The number of a chain that is written now: from 1 in each file. */
uint32_t cp_sampling_new_chain(void);

/* objects.c: what memory is there at the beginning, and what the calling thread
 * calls its own (also what it has come to have: at its end again). */
void cp_sampling_note_maps(void);
void cp_sampling_note_thread(const struct cp_samples_thread *thread);
void cp_sampling_note_end(const struct cp_samples_thread *thread);

/* blocks.c: blocks of the heap. */
void cp_sampling_watch_heap(void);
/* In a fork child, that has its parent's blocks. */
void cp_sampling_note_blocks(void);
/* Why blocks have no names, for a warning; NULL: they have. */
const char *cp_sampling_blocks_nameless(void);

/* kinds.c: the processor's own samples of memory, as this machine has them. */
void cp_sampling_find_memory(struct cp_sampling_event *event, const char *measurement);

#endif
