/* SPDX-License-Identifier: MIT
 *
 * The parts of reading .samples files: samples_read.c, samples_places.c, samples.c.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_SAMPLES_SAMPLES_PARTS_H
#define CACHEPEEK_TOOLS_PROFILE_SAMPLES_SAMPLES_PARTS_H

#include "regions/samples.h"
#include "tools/profile/samples/datasrc.h"
#include "tools/profile/model/estimate.h"
#include "tools/profile/samples/memory.h"
#include "tools/profile/model/keys.h"
#include "tools/profile/model/profile.h"
#include "tools/profile/samples/unwind.h"
#include "tools/profile/samples/variables.h"

/* A list that grows in the arena. */
#define CP_LIST(type)                                                                    \
	struct {                                                                         \
		size_t n;                                                                \
		type *all;                                                               \
	}
#define CP_ADD(arena, list)                                                              \
	((list).all = cp_profile_grow(arena, (list).all, (list).n, sizeof(*(list).all)), \
		&(list).all[(list).n++])

struct cp_timed_sample {
	const struct cp_access_sample *sample;
	uint32_t thread;
};

/* A frame of call chains, in a thread. */
struct cp_sampled_frame {
	size_t path; /* of the profile */
	struct cp_sampled_share
		*shares; /* [event]: of samples that are there themselves */
	uint64_t *count; /* the same as sampled counters */
	struct cp_estimate *estimates;
};

struct cp_timed_mapping {
	uint64_t time;
	struct cp_mapped mapped;
};

/* A file's variables, for all of its mappings. */
struct cp_sampled_image {
	const char *path;
	struct cp_variables *variables; /* NULL: there are none */
};

/* The key of samples that are counted together.  kind 0: an instruction; else 1 + enum
 * cp_profile_data. */
struct cp_sampled_key {
	uint64_t kind, thread, module, address, size;
};

struct cp_sampled_share {
	uint64_t samples;
	double periods;
};

struct cp_sampled_place {
	struct cp_sampled_key key;
	uint64_t *count;
	struct cp_estimate *estimates;
	uint64_t blocks;
	/* [thread][event]; of an instruction [0][event] */
	struct cp_sampled_share *shares;
};

struct cp_sampled_file {
	struct cp_profile *profile;
	struct cp_arena *arena;
	const char *name, *bytes;
	size_t size, first_thread, first_module;
	const char *const *same; /* see struct cp_sampled_source */
	size_t nsame;
	uint64_t maps_ns; /* when the mappings that are read were there */
	int32_t pid;
	enum cp_vendor vendor;
	const struct cp_samples_thread **threads;
	uint64_t *ends;
	size_t nthreads;
	CP_LIST(const struct cp_samples_range *) ranges;
	/* In the order in which they were asked for, and in which they were there. */
	CP_LIST(const struct cp_samples_block *) asked, given;
	CP_LIST(struct cp_timed_sample) samples;
	CP_LIST(struct cp_timed_mapping) mappings;
	CP_LIST(const struct cp_samples_chain *) chains; /* by id, from 1 on */
	CP_LIST(struct cp_sampled_frame) frames;
	struct cp_unwinder *unwinder; /* NULL: there is none */
	size_t ncallers;
	struct cp_keys *callers, *callees; /* of frames: samples_chains.c */
	CP_LIST(struct cp_sampled_image) images;
	struct cp_memory memory;
	struct cp_sampled_share *missed; /* [thread][event]: all that is in a place */
	/* Open addressing. */
	size_t nplaces, nslots;
	struct cp_sampled_place **slots;
};

/* samples_read.c: takes in the file's bytes.  False: what is damaged is left out. */
bool cp_sampled_items(struct cp_sampled_file *file);

/* samples_chains.c: the frame of a sample, with those of all its callers; NULL: it has no
 * chain.  Each is a path of the profile. */
struct cp_sampled_frame *cp_sampled_frame_of(
	struct cp_sampled_file *file, const struct cp_timed_sample *timed);

/* samples_places.c: what lies at the sample's address, as the file's memory is. */
struct cp_sampled_place *cp_sampled_in_memory(
	struct cp_sampled_file *file, const struct cp_timed_sample *timed);
struct cp_sampled_place *cp_sampled_instruction(
	struct cp_sampled_file *file, const struct cp_timed_sample *timed);
/* The blocks of the heap like this one; NULL: there are no samples of them. */
struct cp_sampled_place *cp_sampled_blocks(
	struct cp_sampled_file *file, const struct cp_samples_block *block);

#endif
