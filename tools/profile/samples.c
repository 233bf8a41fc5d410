/* SPDX-License-Identifier: MIT
 *
 * Reads .samples files, and makes places of samples: in the order of their time,
 * so that what memory was is known as of then.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "output/table.h"
#include "tools/profile/datasrc.h"
#include "tools/profile/memory.h"
#include "tools/profile/profile.h"
#include "tools/profile/sampled.h"
#include "tools/profile/variables.h"

_Static_assert(CP_SAMPLED_NCOUNTERS <= CP_PROFILE_COUNTERS, "they take their place");

/* A list that grows in the arena. */
#define LIST(type)                                                                       \
	struct {                                                                         \
		size_t n;                                                                \
		type *all;                                                               \
	}
#define ADD(arena, list)                                                                 \
	((list).all = cp_profile_grow(arena, (list).all, (list).n, sizeof(*(list).all)), \
		&(list).all[(list).n++])

struct timed_sample {
	const struct cp_access_sample *sample;
	uint32_t thread;
};

struct timed_mapping {
	uint64_t time;
	struct cp_mapped mapped;
};

/* A file's variables, for all of its mappings. */
struct image {
	const char *path;
	struct cp_variables *variables; /* NULL: there are none */
};

/* What is counted together.  kind 0: an instruction; else 1 + enum
 * cp_profile_data. */
struct key {
	uint64_t kind, thread, module, address, size;
};

struct share {
	uint64_t samples;
	double periods;
};

struct place {
	struct key key;
	uint64_t *count;
	struct cp_estimate *estimates;
	uint64_t blocks;
	struct share *shares; /* [thread][event]; of an instruction [0][event] */
};

struct file {
	struct cp_profile *profile;
	struct cp_arena *arena;
	const char *name, *bytes;
	size_t size, first_thread, first_module;
	int32_t pid;
	enum cp_vendor vendor;
	const struct cp_samples_thread **threads;
	uint64_t *ends;
	size_t nthreads;
	LIST(const struct cp_samples_range *) ranges;
	LIST(const struct cp_samples_block *) blocks;
	LIST(struct timed_sample) samples;
	LIST(struct timed_mapping) mappings;
	LIST(struct image) images;
	struct cp_memory memory;
	struct share *missed; /* [thread][event]: all that is in a place */
	/* Open addressing. */
	size_t nplaces, nslots;
	struct place **slots;
};

/* ---- items ---- */

static size_t least_size(uint32_t type)
{
	switch (type) {
	case CP_SAMPLES_EVENT:
		return sizeof(struct cp_samples_event);
	case CP_SAMPLES_THREAD:
		return sizeof(struct cp_samples_thread);
	case CP_SAMPLES_BATCH:
		return sizeof(struct cp_samples_batch);
	case CP_SAMPLES_RANGE:
		return sizeof(struct cp_samples_range);
	case CP_SAMPLES_BLOCK:
		return sizeof(struct cp_samples_block);
	case CP_SAMPLES_MAPS:
		return sizeof(struct cp_samples_maps);
	case CP_SAMPLES_MAPPING:
		return sizeof(struct cp_samples_mapping);
	default:
		return sizeof(struct cp_item);
	}
}

static bool each_item(
	struct file *file, void (*visit)(struct file *file, const struct cp_item *item))
{
	size_t at = CP_RECORD_HEADER_SIZE;

	while (at + sizeof(struct cp_item) <= file->size) {
		const struct cp_item *item = (const void *)(file->bytes + at);

		if (!item->size)
			return true;
		if (item->size > file->size - at || item->size % 8 ||
			item->size < least_size(item->type))
			return false;
		visit(file, item);
		at += item->size;
	}
	return true;
}

/* ---- the first time: threads, mappings, and what is where ---- */

static bool ends(const char *text, size_t size)
{
	return memchr(text, 0, size) != NULL;
}

static void add_event(struct file *file, const struct cp_item *item)
{
	const struct cp_samples_event *in = (const void *)item;

	if (in->event >= CP_SAMPLED_EVENTS || !ends(in->name, sizeof(in->name)) ||
		!ends(in->vendor, sizeof(in->vendor)) || !ends(in->why, sizeof(in->why)))
		return;
	file->profile->sampling[in->event].event = in;
	if (in->event == CP_SAMPLED_MEMORY)
		file->vendor = strncmp(in->vendor, "amd", 3) == 0   ? CP_VENDOR_AMD
			       : strncmp(in->vendor, "arm", 3) == 0 ? CP_VENDOR_ARM
								    : CP_VENDOR_INTEL;
}

static void add_thread(struct file *file, const struct cp_item *item)
{
	const struct cp_samples_thread *in = (const void *)item;
	struct cp_profiled_thread *thread;

	if (in->id != file->nthreads)
		return;
	file->threads =
		cp_profile_grow(file->arena, file->threads, file->nthreads, sizeof(in));
	file->ends = cp_profile_grow(
		file->arena, file->ends, file->nthreads, sizeof(*file->ends));
	file->threads[file->nthreads] = in;
	file->ends[file->nthreads++] = in->end;
	thread = cp_profile_new_thread(file->profile);
	thread->pid = file->pid;
	thread->tid = in->tid;
	thread->name = "";
	thread->estimates = cp_arena_alloc(
		file->arena, CP_SAMPLED_EVENTS * sizeof(*thread->estimates));
}

/* What has no file has names in brackets, or none. */
static const char *clean_path(struct file *file, const char *path, size_t length)
{
	static const char deleted[] = " (deleted)";
	const size_t end = sizeof(deleted) - 1;

	if (length > end && memcmp(path + length - end, deleted, end) == 0)
		length -= end;
	if (length >= 2 && path[0] == '/' && path[1] == '/')
		length = 0;
	return cp_arena_copy(file->arena, path, length);
}

static void add_mapping(struct file *file, uint64_t time, struct cp_mapped mapped)
{
	struct cp_profiled_module *module = cp_profile_new_module(file->profile);
	struct timed_mapping *timed = ADD(file->arena, file->mappings);
	const char *slash = strrchr(mapped.path, '/');

	mapped.id = file->profile->nmodules - file->first_module;
	*timed = (struct timed_mapping){time, mapped};
	module->pid = file->pid;
	module->start = mapped.start;
	module->end = mapped.end;
	module->offset = mapped.offset;
	/* Not something to open. */
	module->path = *mapped.path == '/' ? mapped.path : "";
	module->name = !*mapped.path ? "[no file]" : slash ? slash + 1 : mapped.path;
}

static void add_maps_line(
	struct file *file, uint64_t time, const char *line, size_t length)
{
	uint64_t start, end, offset;
	char mode[8];
	int path = 0;
	char copy[4400];

	if (length >= sizeof(copy))
		return;
	memcpy(copy, line, length);
	copy[length] = '\0';
	if (sscanf(copy, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &start,
		    &end, mode, &offset, &path) != 4 ||
		!path)
		return;
	add_mapping(file, time,
		(struct cp_mapped){.start = start,
			.end = end,
			.offset = offset,
			.path = clean_path(file, copy + path, length - (size_t)path),
			.code = mode[2] == 'x',
			.writable = mode[1] == 'w'});
}

static void add_maps(struct file *file, const struct cp_item *item)
{
	const struct cp_samples_maps *in = (const void *)item;
	const char *at = in->text, *end;

	if (in->length > item->size - sizeof(*in))
		return;
	for (end = at + in->length; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		/* Before anything else that is known of memory. */
		add_maps_line(file, 0, at, (size_t)((newline ? newline : end) - at));
		at = newline ? newline + 1 : end;
	}
}

static void add_later_mapping(struct file *file, const struct cp_item *item)
{
	const struct cp_samples_mapping *in = (const void *)item;

	if (in->length > item->size - sizeof(*in) || in->start + in->size < in->start)
		return;
	add_mapping(file, in->time,
		(struct cp_mapped){.start = in->start,
			.end = in->start + in->size,
			.offset = in->offset,
			.path = clean_path(file, in->path, in->length),
			.code = in->protection & PROT_EXEC,
			.writable = in->protection & PROT_WRITE});
}

static void add_block(struct file *file, const struct cp_item *item)
{
	const struct cp_samples_block *in = (const void *)item;

	if (in->size && in->address + in->size > in->address)
		*ADD(file->arena, file->blocks) = in;
}

static void add_batch(struct file *file, const struct cp_item *item)
{
	const struct cp_samples_batch *in = (const void *)item;

	if (in->n > (item->size - sizeof(*in)) / sizeof(in->sample[0]))
		return;
	for (uint32_t i = 0; i < in->n; i++)
		*ADD(file->arena, file->samples) =
			(struct timed_sample){&in->sample[i], in->thread};
}

static void first_visit(struct file *file, const struct cp_item *item)
{
	switch (item->type) {
	case CP_SAMPLES_EVENT:
		add_event(file, item);
		break;
	case CP_SAMPLES_THREAD:
		add_thread(file, item);
		break;
	case CP_SAMPLES_MAPS:
		add_maps(file, item);
		break;
	case CP_SAMPLES_MAPPING:
		add_later_mapping(file, item);
		break;
	case CP_SAMPLES_RANGE:
		*ADD(file->arena, file->ranges) = (const void *)item;
		break;
	case CP_SAMPLES_BLOCK:
		add_block(file, item);
		break;
	case CP_SAMPLES_BATCH:
		add_batch(file, item);
		break;
	default:
		break;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct timed_sample *x = a, *y = b;

	if (x->sample->time != y->sample->time)
		return x->sample->time < y->sample->time ? -1 : 1;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct cp_samples_block *x = *(const struct cp_samples_block *const *)a,
				      *y = *(const struct cp_samples_block *const *)b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int by_mapping_time(const void *a, const void *b)
{
	const struct timed_mapping *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->mapped.id < y->mapped.id ? -1 : 1;
}

/* ---- places ---- */

static uint64_t hash(const struct key *key)
{
	uint64_t h = key->kind;

	h = (h ^ key->thread) * 0x9e3779b97f4a7c15u;
	h = (h ^ (h >> 29) ^ key->module) * 0x9e3779b97f4a7c15u;
	h = (h ^ (h >> 29) ^ key->address) * 0x9e3779b97f4a7c15u;
	h = (h ^ (h >> 29) ^ key->size) * 0x9e3779b97f4a7c15u;
	return h >> 20;
}

static struct place **find_slot(struct file *file, const struct key *key)
{
	size_t i = hash(key) & (file->nslots - 1);

	while (file->slots[i] && memcmp(&file->slots[i]->key, key, sizeof(*key)) != 0)
		i = (i + 1) & (file->nslots - 1);
	return &file->slots[i];
}

static void grow_places(struct file *file)
{
	struct place **old = file->slots;
	size_t n = file->nslots;

	file->nslots = n ? 2 * n : 1024;
	file->slots = cp_arena_alloc(file->arena, file->nslots * sizeof(*file->slots));
	for (size_t i = 0; i < n; i++)
		if (old[i])
			*find_slot(file, &old[i]->key) = old[i];
}

static struct place *place_of(struct file *file, const struct key *key)
{
	struct place **slot, *place;

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

static struct cp_variables *variables_of(struct file *file, const char *path)
{
	struct image *image;

	for (size_t i = 0; i < file->images.n; i++)
		if (strcmp(file->images.all[i].path, path) == 0)
			return file->images.all[i].variables;
	image = ADD(file->arena, file->images);
	image->path = path;
	image->variables = cp_variables_read(file->arena, path);
	return image->variables;
}

/* A variable of the file that is mapped around the address, or the file itself. */
static struct place *in_module(
	struct file *file, uint64_t address, bool of_thread, uint64_t tls_offset)
{
	const struct cp_mapped *base = cp_memory_base(&file->memory, address);
	struct cp_variables *variables = base ? variables_of(file, base->path) : NULL;
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
		return place_of(file,
			&(struct key){1 + (of_thread ? CP_DATA_TLS : CP_DATA_VARIABLE), 0,
				base->id, v->address, v->size});
	return place_of(file, &(struct key){1 + CP_DATA_MODULE, 0, base->id, 0,
				      of_thread || file->memory.mapped[at].writable});
}

static struct place *in_block(struct file *file, const struct cp_samples_block *block)
{
	size_t at = cp_memory_find(&file->memory, block->site - 1);

	return place_of(
		file, &(struct key){1 + CP_DATA_HEAP, 0,
			      at < file->memory.nmapped ? file->memory.mapped[at].id : 0,
			      block->site, block->size});
}

static struct place *in_mapping(struct file *file, uint64_t address)
{
	size_t at = cp_memory_find(&file->memory, address);
	const struct cp_mapped *mapped = &file->memory.mapped[at];

	if (at == file->memory.nmapped)
		return place_of(file, &(struct key){1 + CP_DATA_UNKNOWN, 0, 0, 0, 0});
	if (strcmp(mapped->path, "[heap]") == 0)
		return place_of(file, &(struct key){1 + CP_DATA_HEAP_OTHER, 0, 0, 0, 0});
	return place_of(file, &(struct key){1 + CP_DATA_MAPPED, 0,
				      *mapped->path == '/' ? mapped->id : 0, 0, 0});
}

static struct place *in_memory(struct file *file, uint64_t address, uint64_t time)
{
	const struct cp_samples_range *range = cp_memory_range(
		&file->memory, CP_RANGE_TLS, address, time, file->ends, file->nthreads);
	const struct cp_samples_block *block;
	struct place *place = NULL;

	if (range)
		place = in_module(file, range->image, true, address - range->low);
	if (place)
		return place;
	block = cp_memory_block(&file->memory, address, time);
	if (block)
		return in_block(file, block);
	range = cp_memory_range(
		&file->memory, CP_RANGE_STACK, address, time, file->ends, file->nthreads);
	if (range)
		return place_of(
			file, &(struct key){1 + CP_DATA_STACK, range->thread, 0, 0, 0});
	place = in_module(file, address, false, 0);
	return place ? place : in_mapping(file, address);
}

static struct place *instruction(struct file *file, const struct timed_sample *timed)
{
	uint64_t address = timed->sample->instruction;
	size_t at = cp_memory_find(&file->memory, address);

	return place_of(
		file, &(struct key){0, timed->thread,
			      at < file->memory.nmapped ? file->memory.mapped[at].id : 0,
			      address, 0});
}

/* ---- what a sample says ---- */

static const enum cp_sampled_counter bucket_of[] = {
	[CP_SERVED_L2] = CP_l2_sampled,
	[CP_SERVED_LFB] = CP_lfb_sampled,
	[CP_SERVED_L3] = CP_l3_sampled,
	[CP_SERVED_C2C] = CP_c2c_sampled,
	[CP_SERVED_LOCAL] = CP_local_sampled,
	[CP_SERVED_1HOP] = CP_hop1_sampled,
	[CP_SERVED_2HOP] = CP_hop2_sampled,
	[CP_SERVED_UNKNOWN] = CP_unknown_sampled,
};

/* Whether it is one of the measurement's misses. */
static bool classify(struct file *file, const struct cp_access_sample *sample,
	enum cp_sampled_counter *bucket, bool *tlb)
{
	enum cp_translated translated = cp_translated_by(sample->data_source);
	enum cp_served served = cp_served_from(sample->data_source, file->vendor);

	*tlb = file->profile->sampling[CP_SAMPLED_FAULTS].event->name[0] != '\0';
	if (*tlb) {
		*bucket = translated == CP_TRANSLATED_L2 ? CP_tlb_l2_sampled
							 : CP_tlb_walk_sampled;
		return translated == CP_TRANSLATED_L2 || translated == CP_TRANSLATED_WALK;
	}
	if (served == CP_SERVED_L1 || served == CP_SERVED_NOTHING)
		return false;
	*bucket = bucket_of[served];
	return true;
}

static void add_share(struct share *share, const struct cp_access_sample *sample)
{
	share->samples++;
	share->periods += (double)sample->period;
}

static void tally(
	struct place *place, size_t thread, const struct cp_access_sample *sample)
{
	add_share(&place->shares[(place->key.kind ? thread : 0) * CP_SAMPLED_EVENTS +
				 sample->event],
		sample);
}

static void count(struct file *file, uint64_t *counts,
	const struct cp_access_sample *sample, enum cp_sampled_counter bucket)
{
	(void)file;
	if (sample->event == CP_SAMPLED_FAULTS) {
		counts[CP_page_faults_sampled]++;
		return;
	}
	counts[CP_memory_sampled]++;
	counts[CP_latency_sampled] += sample->latency;
	counts[bucket]++;
}

static void add_sample(struct file *file, const struct timed_sample *timed)
{
	const struct cp_access_sample *sample = timed->sample;
	enum cp_sampled_counter bucket = CP_unknown_sampled;
	struct place *places[2];
	bool tlb;

	if (sample->event >= CP_SAMPLED_EVENTS || timed->thread >= file->nthreads)
		return;
	if (sample->event == CP_SAMPLED_MEMORY && !classify(file, sample, &bucket, &tlb))
		return;
	add_share(
		&file->missed[timed->thread * CP_SAMPLED_EVENTS + sample->event], sample);
	places[0] = instruction(file, timed);
	places[1] = in_memory(file, sample->address, sample->time);
	for (unsigned i = 0; i < 2; i++) {
		tally(places[i], timed->thread, sample);
		count(file, places[i]->count, sample, bucket);
	}
	count(file,
		&file->profile->threads[file->first_thread + timed->thread]
			 .count[CP_PROFILE_FIRST],
		sample, bucket);
}

/* ---- the second time: samples, in their order ---- */

static void replay(struct file *file)
{
	size_t mapping = 0, block = 0;

	for (size_t i = 0; i < file->samples.n; i++) {
		uint64_t time = file->samples.all[i].sample->time;

		while (mapping < file->mappings.n &&
			file->mappings.all[mapping].time <= time)
			cp_memory_map(
				&file->memory, file->mappings.all[mapping++].mapped);
		while (block < file->blocks.n && file->blocks.all[block]->start <= time)
			cp_memory_add_block(&file->memory, file->blocks.all[block++]);
		add_sample(file, &file->samples.all[i]);
	}
}

/* What the event counted: of operations all samples stand for that, of misses those
 * that missed. */
static struct cp_population population_of(
	const struct file *file, size_t thread, unsigned event)
{
	const struct cp_sampled_totals *totals = &file->threads[thread]->events[event];
	const struct cp_samples_event *e = file->profile->sampling[event].event;
	const struct share *missed = &file->missed[thread * CP_SAMPLED_EVENTS + event];
	bool all = !e || e->unit == CP_UNIT_OPERATIONS;

	return (struct cp_population){
		.total = (double)totals->total,
		.periods = all ? (double)totals->periods : missed->periods,
		.samples = all ? totals->samples : missed->samples,
	};
}

static void estimate(struct file *file, struct place *place)
{
	size_t n = place->key.kind ? file->nthreads : 1;

	for (size_t i = 0; i < n; i++)
		for (unsigned event = 0; event < CP_SAMPLED_EVENTS; event++) {
			size_t id = place->key.kind ? i : (size_t)place->key.thread;
			const struct share *share =
				&place->shares[i * CP_SAMPLED_EVENTS + event];
			struct cp_population population = population_of(file, id, event);

			cp_estimate_add(&place->estimates[event], &population,
				share->samples, share->periods);
			if (!place->key.kind)
				cp_estimate_add(
					&file->profile->threads[file->first_thread + id]
						 .estimates[event],
					&population, share->samples, share->periods);
		}
}

static void count_blocks(struct file *file)
{
	for (size_t i = 0; i < file->blocks.n; i++) {
		const struct cp_samples_block *block = file->blocks.all[i];
		size_t at = cp_memory_find(&file->memory, block->site - 1);
		struct key key = {1 + CP_DATA_HEAP, 0,
			at < file->memory.nmapped ? file->memory.mapped[at].id : 0,
			block->site, block->size};

		if (file->nslots && *find_slot(file, &key))
			(*find_slot(file, &key))->blocks++;
	}
}

static struct cp_profiled_module *module_of(struct file *file, const struct place *place)
{
	static struct cp_profiled_module nowhere = {
		.end = UINT64_MAX, .path = "", .name = "[unknown]"};

	if (place->key.module)
		return &file->profile
				->modules[file->first_module + place->key.module - 1];
	return place->key.kind ? NULL : &nowhere;
}

static void give_out(struct file *file, const struct place *place)
{
	struct cp_profile *profile = file->profile;
	const struct cp_profiled_thread *thread =
		&profile->threads[file->first_thread + place->key.thread];

	if (!place->key.kind) {
		*cp_profile_new_site(profile) = (struct cp_profiled_site){
			.thread = thread,
			.at = {.module = module_of(file, place),
				.address = place->key.address,
				.function = "",
				.file = ""},
			.count = place->count,
			.estimates = place->estimates,
		};
		return;
	}
	*cp_profile_new_object(profile) = (struct cp_profiled_object){
		.data = (enum cp_profile_data)(place->key.kind - 1),
		.thread = thread,
		.module = module_of(file, place),
		.address = place->key.address,
		.size = place->key.size,
		.blocks = place->blocks,
		.name = "",
		.file = "",
		.count = place->count,
		.estimates = place->estimates,
	};
}

static void note_totals(struct file *file)
{
	for (size_t i = 0; i < file->nthreads; i++)
		for (unsigned event = 0; event < CP_SAMPLED_EVENTS; event++) {
			const struct cp_sampled_totals *in =
				&file->threads[i]->events[event];
			struct cp_sampling *out = &file->profile->sampling[event];

			out->samples += in->samples;
			out->total += (double)in->total;
			out->periods += (double)in->periods;
			out->lost += in->lost;
			out->dropped += in->dropped;
			out->threads += in->error == 0;
			out->without += in->error != 0;
			out->error = in->error ? in->error : out->error;
			if (in->pages && (!out->pages || in->pages < out->pages))
				out->pages = in->pages;
		}
}

static void second_visit(struct file *file)
{
	file->memory.arena = file->arena;
	file->missed = cp_arena_alloc(
		file->arena, file->nthreads * CP_SAMPLED_EVENTS * sizeof(*file->missed));
	file->memory.ranges = file->ranges.all;
	file->memory.nranges = file->ranges.n;
	cp_memory_sort_ranges(&file->memory);
	if (file->samples.n)
		qsort(file->samples.all, file->samples.n, sizeof(*file->samples.all),
			by_time);
	if (file->blocks.n)
		qsort(file->blocks.all, file->blocks.n, sizeof(*file->blocks.all),
			by_start);
	if (file->mappings.n)
		qsort(file->mappings.all, file->mappings.n, sizeof(*file->mappings.all),
			by_mapping_time);
	replay(file);
	count_blocks(file);
	for (size_t i = 0; i < file->nslots; i++)
		if (file->slots[i]) {
			estimate(file, file->slots[i]);
			give_out(file, file->slots[i]);
		}
	note_totals(file);
}

/* ---- files ---- */

static bool is_samples(const struct file *file)
{
	const struct cp_record_header *header = (const void *)file->bytes;

	return file->bytes && file->size >= CP_RECORD_HEADER_SIZE &&
	       memcmp(header->magic, CP_SAMPLES_MAGIC, sizeof(header->magic)) == 0 &&
	       header->version == CP_SAMPLES_VERSION;
}

static void open_file(
	struct cp_profile *profile, struct file *file, int directory, const char *name)
{
	*file = (struct file){.profile = profile,
		.arena = profile->arena,
		.name = name,
		.first_thread = profile->nthreads,
		.first_module = profile->nmodules};
	file->bytes = cp_profile_file(profile->arena, directory, name, &file->size);
	if (!is_samples(file)) {
		cp_profile_warn(profile,
			"%s has no samples of this version of cachepeek: left out", name);
		return;
	}
	file->pid = ((const struct cp_record_header *)(const void *)file->bytes)->pid;
	profile->nprocesses++;
	if (!each_item(file, first_visit))
		cp_profile_warn(profile, "%s is damaged: what can be read is used", name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t find_files(struct cp_arena *arena, int directory, const char ***names)
{
	DIR *entries = fdopendir(dup(directory));
	struct dirent *entry;
	size_t n = 0;

	*names = NULL;
	if (entries)
		rewinddir(entries);
	while (entries && (entry = readdir(entries))) {
		if (!cp_ends_with(entry->d_name, ".samples"))
			continue;
		*names = cp_profile_grow(arena, *names, n, sizeof(**names));
		(*names)[n++] =
			cp_arena_copy(arena, entry->d_name, strlen(entry->d_name));
	}
	if (entries)
		closedir(entries);
	if (n)
		qsort(*names, n, sizeof(**names), by_name);
	return n;
}

bool cp_sampled_read(struct cp_profile *profile, int directory)
{
	const char **names;
	size_t n = find_files(profile->arena, directory, &names);
	struct file *files = cp_arena_alloc(profile->arena, (n + 1) * sizeof(*files));

	for (size_t i = 0; i < n; i++)
		open_file(profile, &files[i], directory, names[i]);
	/* Threads and modules stay where they are from here on. */
	for (size_t i = 0; i < n; i++)
		if (is_samples(&files[i]) && files[i].nthreads)
			second_visit(&files[i]);
	return n > 0;
}
