/* SPDX-License-Identifier: MIT
 *
 * Call chains of samples as paths: a frame for each place of a call, below that of its
 * caller.
 */
#include "tools/profile/samples/samples_parts.h"

/* The part of a key that the module is; a frame's own number is below it. */
static size_t place_key(struct cp_sampled_file *file, uint64_t address, uint32_t thread)
{
	size_t at = cp_memory_find(&file->memory, address);
	size_t module =
		at < file->memory.nmapped ? (size_t)file->memory.mapped[at].id : 0;

	return module << 32 | thread;
}

static struct cp_profiled_module *module_of(struct cp_sampled_file *file, size_t key)
{
	static struct cp_profiled_module nowhere = {
		.end = UINT64_MAX, .path = "", .name = "[unknown]"};

	return key >> 32 ? &file->profile->modules[file->first_module + (key >> 32) - 1]
			 : &nowhere;
}

static size_t new_frame(
	struct cp_sampled_file *file, size_t parent, uint64_t address, size_t key)
{
	struct cp_profile *profile = file->profile;
	struct cp_sampled_frame *frame = CP_ADD(file->arena, file->frames);
	struct cp_profile_path *in = cp_arena_alloc(file->arena, sizeof(*in));

	in->function = 1; /* it is one, wherever it begins */
	*frame = (struct cp_sampled_frame){
		.path = profile->npaths,
		.shares = cp_arena_alloc(
			file->arena, CP_SAMPLED_EVENTS * sizeof(*frame->shares)),
		.count = &in->count[CP_PROFILE_FIRST],
		.estimates = cp_arena_alloc(
			file->arena, CP_SAMPLED_EVENTS * sizeof(*frame->estimates)),
	};
	profile->paths = cp_profile_grow(
		file->arena, profile->paths, profile->npaths, sizeof(*profile->paths));
	profile->paths[profile->npaths] = (struct cp_profiled_path){
		.thread = &profile->threads[file->first_thread + (uint32_t)key],
		.parent = parent ? file->frames.all[parent - 1].path : profile->npaths,
		.at = {.module = module_of(file, key),
			.address = address,
			.function = "",
			.file = ""},
		.in = in,
		.estimates = frame->estimates,
	};
	profile->npaths++;
	return file->frames.n;
}

/* From 1 on.  A frame has a key of three numbers: that of the first two is a number, too.
 */
static size_t frame_number(
	struct cp_sampled_file *file, size_t parent, uint64_t address, uint32_t thread)
{
	size_t key = place_key(file, address, thread);
	size_t *caller = cp_keys_number(file->callers, parent, key), *number;

	if (!*caller)
		*caller = ++file->ncallers;
	number = cp_keys_number(file->callees, *caller, address);
	if (!*number)
		*number = new_frame(file, parent, address, key);
	return *number;
}

/* The addresses of a sample's chain, which has at least the sample itself. */
static size_t chain_of(struct cp_sampled_file *file,
	const struct cp_access_sample *sample, uint64_t address[CP_CHAIN_LENGTH])
{
	const struct cp_samples_chain *chain =
		sample->chain <= file->chains.n ? file->chains.all[sample->chain - 1]
						: NULL;
	size_t n = chain && file->unwinder
			   ? cp_unwind(file->unwinder, &file->memory, chain, address)
			   : 0;

	address[0] = sample->instruction;
	return n ? n : 1;
}

struct cp_sampled_frame *cp_sampled_frame_of(
	struct cp_sampled_file *file, const struct cp_timed_sample *timed)
{
	uint64_t address[CP_CHAIN_LENGTH];
	size_t frame = 0;

	if (!timed->sample->chain)
		return NULL;
	for (size_t i = chain_of(file, timed->sample, address); i-- > 0;)
		frame = frame_number(file, frame, address[i], timed->thread);
	return &file->frames.all[frame - 1];
}
