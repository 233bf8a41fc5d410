/* SPDX-License-Identifier: MIT
 *
 * Reads .samples files, and makes places of samples: in the order of their time,
 * so that what memory was is known as of then.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/profile/model/sampled.h"
#include "tools/profile/samples/samples_parts.h"

_Static_assert(CP_SAMPLED_NCOUNTERS <= CP_PROFILE_COUNTERS, "they take their place");

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
static bool classify_sample(struct cp_sampled_file *file,
	const struct cp_access_sample *sample, enum cp_sampled_counter *bucket, bool *tlb)
{
	enum cp_translated translated = cp_translated_by(sample->data_source);
	enum cp_served served = cp_served_from(sample->data_source, file->vendor);

	*tlb = file->profile->translations;
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

static void add_share(
	struct cp_sampled_share *share, const struct cp_access_sample *sample)
{
	share->samples++;
	share->periods += (double)sample->period;
}

static void tally_sample(struct cp_sampled_place *place, size_t thread,
	const struct cp_access_sample *sample)
{
	add_share(&place->shares[(place->key.kind ? thread : 0) * CP_SAMPLED_EVENTS +
				 sample->event],
		sample);
}

static void count_sample(uint64_t *counts, const struct cp_access_sample *sample,
	enum cp_sampled_counter bucket)
{
	if (sample->event == CP_SAMPLED_FAULTS) {
		counts[CP_page_faults_sampled]++;
		return;
	}
	counts[CP_memory_sampled]++;
	counts[CP_latency_sampled] += sample->latency;
	counts[bucket]++;
}

static void add_to_frame(struct cp_sampled_file *file,
	const struct cp_timed_sample *timed, enum cp_sampled_counter bucket)
{
	struct cp_sampled_frame *frame = cp_sampled_frame_of(file, timed);

	if (!frame)
		return;
	add_share(&frame->shares[timed->sample->event], timed->sample);
	count_sample(frame->count, timed->sample, bucket);
}

static void add_sample(struct cp_sampled_file *file, const struct cp_timed_sample *timed)
{
	const struct cp_access_sample *sample = timed->sample;
	enum cp_sampled_counter bucket = CP_unknown_sampled;
	struct cp_sampled_place *places[2];
	bool tlb;

	if (sample->event >= CP_SAMPLED_EVENTS || timed->thread >= file->nthreads)
		return;
	if (sample->event == CP_SAMPLED_MEMORY &&
		!classify_sample(file, sample, &bucket, &tlb))
		return;
	add_share(
		&file->missed[timed->thread * CP_SAMPLED_EVENTS + sample->event], sample);
	places[0] = cp_sampled_instruction(file, timed);
	places[1] = cp_sampled_in_memory(file, timed);
	for (unsigned i = 0; i < 2; i++) {
		tally_sample(places[i], timed->thread, sample);
		count_sample(places[i]->count, sample, bucket);
	}
	add_to_frame(file, timed, bucket);
	count_sample(&file->profile->threads[file->first_thread + timed->thread]
			      .count[CP_PROFILE_FIRST],
		sample, bucket);
}

/* ---- samples, in their order ---- */

static int by_time(const void *a, const void *b)
{
	const struct cp_timed_sample *x = a, *y = b;

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

static int by_there(const void *a, const void *b)
{
	const struct cp_samples_block *x = *(const struct cp_samples_block *const *)a,
				      *y = *(const struct cp_samples_block *const *)b;

	return x->there < y->there ? -1 : x->there > y->there;
}

static int by_mapping_time(const void *a, const void *b)
{
	const struct cp_timed_mapping *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->mapped.id < y->mapped.id ? -1 : 1;
}

static void replay_file(struct cp_sampled_file *file)
{
	size_t mapping = 0, asked = 0, given = 0;

	for (size_t i = 0; i < file->samples.n; i++) {
		uint64_t time = file->samples.all[i].sample->time;

		while (mapping < file->mappings.n &&
			file->mappings.all[mapping].time <= time)
			cp_memory_map(
				&file->memory, file->mappings.all[mapping++].mapped);
		while (asked < file->asked.n && file->asked.all[asked]->start <= time)
			cp_memory_ask_block(&file->memory, file->asked.all[asked++]);
		while (given < file->given.n && file->given.all[given]->there <= time)
			cp_memory_add_block(&file->memory, file->given.all[given++]);
		add_sample(file, &file->samples.all[i]);
	}
}

/* The number that the event counted: all samples of operations stand for it, of misses
 * those that missed. */
static struct cp_population population_of(
	const struct cp_sampled_file *file, size_t thread, unsigned event)
{
	const struct cp_sampled_totals *totals = &file->threads[thread]->events[event];
	const struct cp_samples_event *e = file->profile->sampling[event].event;
	const struct cp_sampled_share *missed =
		&file->missed[thread * CP_SAMPLED_EVENTS + event];
	bool all = !e || e->unit == CP_UNIT_OPERATIONS;

	return (struct cp_population){
		.total = (double)totals->total,
		.periods = all ? (double)totals->periods : missed->periods,
		.samples = all ? totals->samples : missed->samples,
	};
}

static void estimate_place(struct cp_sampled_file *file, struct cp_sampled_place *place)
{
	size_t n = place->key.kind ? file->nthreads : 1;

	for (size_t i = 0; i < n; i++)
		for (unsigned event = 0; event < CP_SAMPLED_EVENTS; event++) {
			size_t id = place->key.kind ? i : (size_t)place->key.thread;
			const struct cp_sampled_share *share =
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

static void estimate_frame(
	struct cp_sampled_file *file, const struct cp_sampled_frame *frame)
{
	const struct cp_profiled_path *path = &file->profile->paths[frame->path];
	size_t thread =
		(size_t)(path->thread - file->profile->threads) - file->first_thread;

	for (unsigned event = 0; event < CP_SAMPLED_EVENTS; event++) {
		struct cp_population population = population_of(file, thread, event);

		cp_estimate_add(&frame->estimates[event], &population,
			frame->shares[event].samples, frame->shares[event].periods);
	}
}

static void count_blocks(struct cp_sampled_file *file)
{
	for (size_t i = 0; i < file->given.n; i++) {
		struct cp_sampled_place *place =
			cp_sampled_blocks(file, file->given.all[i]);

		if (place)
			place->blocks++;
	}
}

static struct cp_profiled_module *module_of(
	struct cp_sampled_file *file, const struct cp_sampled_place *place)
{
	static struct cp_profiled_module nowhere = {
		.end = UINT64_MAX, .path = "", .name = "[unknown]"};

	if (place->key.module)
		return &file->profile
				->modules[file->first_module + place->key.module - 1];
	return place->key.kind ? NULL : &nowhere;
}

static void give_out(struct cp_sampled_file *file, const struct cp_sampled_place *place)
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

static void note_totals(struct cp_sampled_file *file)
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

static void count_samples(struct cp_sampled_file *file)
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
	if (file->asked.n)
		qsort(file->asked.all, file->asked.n, sizeof(*file->asked.all), by_start);
	if (file->given.n)
		qsort(file->given.all, file->given.n, sizeof(*file->given.all), by_there);
	if (file->mappings.n)
		qsort(file->mappings.all, file->mappings.n, sizeof(*file->mappings.all),
			by_mapping_time);
	file->callers = cp_keys_new(file->arena);
	file->callees = cp_keys_new(file->arena);
	file->unwinder = file->chains.n ? cp_unwinder_new(file->arena) : NULL;
	replay_file(file);
	cp_unwinder_close(file->unwinder);
	count_blocks(file);
	for (size_t i = 0; i < file->frames.n; i++)
		estimate_frame(file, &file->frames.all[i]);
	for (size_t i = 0; i < file->nslots; i++)
		if (file->slots[i]) {
			estimate_place(file, file->slots[i]);
			give_out(file, file->slots[i]);
		}
	note_totals(file);
}

/* ---- files ---- */

static bool is_samples(const struct cp_sampled_file *file)
{
	const struct cp_record_header *header = (const void *)file->bytes;

	return file->bytes && file->size >= CP_RECORD_HEADER_SIZE &&
	       memcmp(header->magic, CP_SAMPLES_MAGIC, sizeof(header->magic)) == 0 &&
	       header->version == CP_SAMPLES_VERSION;
}

static void open_file(struct cp_profile *profile, struct cp_sampled_file *file,
	const struct cp_sampled_source *source)
{
	*file = (struct cp_sampled_file){.profile = profile,
		.arena = profile->arena,
		.name = source->name,
		.bytes = source->bytes,
		.size = source->size,
		.same = source->same,
		.nsame = source->nsame,
		.first_thread = profile->nthreads,
		.first_module = profile->nmodules};
	if (!file->bytes)
		return;
	if (!is_samples(file)) {
		cp_profile_warn(profile,
			"%s has no samples of this version of cachepeek: left out",
			file->name);
		return;
	}
	file->pid = ((const struct cp_record_header *)(const void *)file->bytes)->pid;
	profile->nprocesses++;
	if (!cp_sampled_items(file))
		cp_profile_warn(
			profile, "%s is damaged: what can be read is used", file->name);
}

void cp_sampled_add(
	struct cp_profile *profile, const struct cp_sampled_source *sources, size_t n)
{
	struct cp_sampled_file *files =
		cp_arena_alloc(profile->arena, (n + 1) * sizeof(*files));

	for (size_t i = 0; i < n; i++)
		open_file(profile, &files[i], &sources[i]);
	/* Threads and modules stay where they are from here on. */
	for (size_t i = 0; i < n; i++)
		if (is_samples(&files[i]) && files[i].nthreads)
			count_samples(&files[i]);
}

bool cp_sampled_read(struct cp_profile *profile, int directory)
{
	const char **names;
	size_t n = cp_profile_names(profile->arena, directory, ".samples", &names);
	struct cp_sampled_source *sources =
		cp_arena_alloc(profile->arena, (n + 1) * sizeof(*sources));

	for (size_t i = 0; i < n; i++) {
		sources[i].name = names[i];
		sources[i].bytes =
			cp_profile_file(profile, directory, names[i], &sources[i].size);
	}
	cp_sampled_add(profile, sources, n);
	return n > 0;
}
