/* SPDX-License-Identifier: MIT
 *
 * Where samples are counted: what lay at an address when the sample was taken.
 */
#include <string.h>

#include "base/probe.h"
#include "tools/profile/samples/samples_parts.h"
#include "tools/profile/model/source.h"

static uint64_t hash_key(const struct cp_sampled_key *key)
{
	uint64_t h = cp_hash_word(key->kind ^ key->thread);

	h = cp_hash_word(h ^ h >> 29 ^ key->module);
	h = cp_hash_word(h ^ h >> 29 ^ key->address);
	return cp_hash_word(h ^ h >> 29 ^ key->size) >> 20;
}

static struct cp_sampled_place **find_slot(
	struct cp_sampled_file *file, const struct cp_sampled_key *key)
{
	struct cp_sampled_place **slots = file->slots;

	return &slots[CP_PROBE(file->nslots, hash_key(key), i,
		!slots[i] || memcmp(&slots[i]->key, key, sizeof(*key)) == 0)];
}

static void grow_places(struct cp_sampled_file *file)
{
	struct cp_sampled_place **old = file->slots;
	size_t n = file->nslots;

	file->nslots = n ? 2 * n : 1024;
	file->slots = cp_arena_alloc(file->arena, file->nslots * sizeof(*file->slots));
	for (size_t i = 0; i < n; i++)
		if (old[i])
			*find_slot(file, &old[i]->key) = old[i];
}

static struct cp_sampled_place *place_of(
	struct cp_sampled_file *file, const struct cp_sampled_key *key)
{
	struct cp_sampled_place **slot, *place;

	if (file->nplaces >= file->nslots / 2)
		grow_places(file);
	slot = find_slot(file, key);
	place = *slot;
	if (place)
		return place;
	place = *slot = cp_arena_alloc(file->arena, sizeof(*place));
	file->nplaces++;
	place->key = *key;
	place->count =
		cp_arena_alloc(file->arena, CP_PROFILE_COUNTERS * sizeof(*place->count));
	place->estimates = cp_arena_alloc(
		file->arena, CP_SAMPLED_EVENTS * sizeof(*place->estimates));
	/* An instruction is of one thread. */
	place->shares = cp_arena_alloc(file->arena, (key->kind ? file->nthreads : 1) *
							    CP_SAMPLED_EVENTS *
							    sizeof(*place->shares));
	return place;
}

static struct cp_variables *variables_of(
	struct cp_sampled_file *file, const struct cp_mapped *mapped)
{
	const struct cp_profiled_module *module =
		&file->profile->modules[file->first_module + mapped->id - 1];
	const char *path = mapped->path;
	struct cp_sampled_image *image;

	for (size_t i = 0; i < file->images.n; i++)
		if (strcmp(file->images.all[i].path, path) == 0)
			return file->images.all[i].variables;
	image = CP_ADD(file->arena, file->images);
	*image = (struct cp_sampled_image){path, NULL};
	if (!cp_file_changed_since(path, module->mapped_ns))
		image->variables = cp_variables_read(file->arena, path);
	return image->variables;
}

/* A variable of the file that is mapped around the address, or the file itself. */
static struct cp_sampled_place *in_module(struct cp_sampled_file *file, uint64_t address,
	bool of_thread, uint64_t tls_offset)
{
	const struct cp_mapped *base = cp_memory_base(&file->memory, address);
	struct cp_variables *variables = base ? variables_of(file, base) : NULL;
	const struct cp_variable *v;
	uint64_t in_file;
	size_t at;

	if (!variables)
		return NULL;
	in_file = address - base->start + cp_variables_start(variables);
	if (in_file >= cp_variables_end(variables))
		return NULL;
	v = cp_variable_at(variables, of_thread ? tls_offset : in_file, of_thread);
	at = cp_memory_find(&file->memory, address);
	if (v)
		return place_of(
			file, &(struct cp_sampled_key){
				      1 + (of_thread ? CP_DATA_TLS : CP_DATA_VARIABLE), 0,
				      base->id, v->address, v->size});
	return place_of(file, &(struct cp_sampled_key){1 + CP_DATA_MODULE, 0, base->id, 0,
				      of_thread || file->memory.mapped[at].writable});
}

static struct cp_sampled_key block_key(
	struct cp_sampled_file *file, const struct cp_samples_block *block)
{
	size_t at = cp_memory_find(&file->memory, block->site - 1);

	return (struct cp_sampled_key){1 + CP_DATA_HEAP, 0,
		at < file->memory.nmapped ? file->memory.mapped[at].id : 0, block->site,
		block->size};
}

static struct cp_sampled_place *in_block(
	struct cp_sampled_file *file, const struct cp_samples_block *block)
{
	struct cp_sampled_key key = block_key(file, block);

	return place_of(file, &key);
}

struct cp_sampled_place *cp_sampled_blocks(
	struct cp_sampled_file *file, const struct cp_samples_block *block)
{
	struct cp_sampled_key key = block_key(file, block);

	return file->nslots ? *find_slot(file, &key) : NULL;
}

static struct cp_sampled_place *in_mapping(struct cp_sampled_file *file, uint64_t address)
{
	size_t at = cp_memory_find(&file->memory, address);
	const struct cp_mapped *mapped = &file->memory.mapped[at];

	if (at == file->memory.nmapped)
		return place_of(
			file, &(struct cp_sampled_key){1 + CP_DATA_UNKNOWN, 0, 0, 0, 0});
	if (strcmp(mapped->path, "[heap]") == 0)
		return place_of(file,
			&(struct cp_sampled_key){1 + CP_DATA_HEAP_OTHER, 0, 0, 0, 0});
	return place_of(file, &(struct cp_sampled_key){1 + CP_DATA_MAPPED, 0,
				      *mapped->path == '/' ? mapped->id : 0, 0, 0});
}

struct cp_sampled_place *cp_sampled_in_memory(
	struct cp_sampled_file *file, const struct cp_timed_sample *timed)
{
	uint64_t address = timed->sample->address, time = timed->sample->time;
	const struct cp_samples_range *range = cp_memory_range(
		&file->memory, CP_RANGE_TLS, address, time, file->ends, file->nthreads);
	const struct cp_samples_block *block;
	struct cp_sampled_place *place = NULL;

	if (range)
		place = in_module(file, range->image, true, address - range->low);
	if (place)
		return place;
	block = cp_memory_block(
		&file->memory, address, file->threads[timed->thread]->tid, time);
	if (block)
		return in_block(file, block);
	range = cp_memory_range(
		&file->memory, CP_RANGE_STACK, address, time, file->ends, file->nthreads);
	if (range)
		return place_of(file, &(struct cp_sampled_key){
					      1 + CP_DATA_STACK, range->thread, 0, 0, 0});
	place = in_module(file, address, false, 0);
	return place ? place : in_mapping(file, address);
}

struct cp_sampled_place *cp_sampled_instruction(
	struct cp_sampled_file *file, const struct cp_timed_sample *timed)
{
	uint64_t address = timed->sample->instruction;
	size_t at = cp_memory_find(&file->memory, address);

	return place_of(
		file, &(struct cp_sampled_key){0, timed->thread,
			      at < file->memory.nmapped ? file->memory.mapped[at].id : 0,
			      address, 0});
}
