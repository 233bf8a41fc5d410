/* SPDX-License-Identifier: MIT
 *
 * Reads what a .samples file has: threads, mappings, blocks and samples.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text.h"
#include "tools/profile/model/sampled.h"
#include "tools/profile/samples/samples_parts.h"

static bool is_terminated(const char *text, size_t size)
{
	return memchr(text, 0, size) != NULL;
}

static void add_event(struct cp_sampled_file *file, const struct cp_item *item)
{
	const struct cp_samples_event *in = (const void *)item;

	if (in->event >= CP_SAMPLED_EVENTS ||
		!is_terminated(in->name, sizeof(in->name)) ||
		!is_terminated(in->vendor, sizeof(in->vendor)) ||
		!is_terminated(in->why, sizeof(in->why)))
		return;
	file->profile->sampling[in->event].event = in;
	/* Faults are asked for with TLB misses only. */
	file->profile->translations |=
		in->event == CP_SAMPLED_FAULTS && in->name[0] != '\0';
	if (in->event == CP_SAMPLED_MEMORY)
		file->vendor = strncmp(in->vendor, "amd", 3) == 0   ? CP_VENDOR_AMD
			       : strncmp(in->vendor, "arm", 3) == 0 ? CP_VENDOR_ARM
								    : CP_VENDOR_INTEL;
}

static void add_thread(struct cp_sampled_file *file, const struct cp_item *item)
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

/* Mappings without a file have names in brackets, or none. */
static const char *clean_path(
	struct cp_sampled_file *file, const char *path, size_t length)
{
	static const char deleted[] = " (deleted)";
	const size_t end = sizeof(deleted) - 1;

	if (length > end && memcmp(path + length - end, deleted, end) == 0)
		length -= end;
	if (length >= 2 && path[0] == '/' && path[1] == '/')
		length = 0;
	return cp_arena_copy(file->arena, path, length);
}

static uint64_t realtime_of(const struct cp_sampled_file *file, uint64_t monotonic)
{
	const struct cp_record_header *header = (const void *)file->bytes;

	if (!header->realtime_ns || monotonic < header->start_ns)
		return header->realtime_ns;
	return header->realtime_ns + (monotonic - header->start_ns);
}

static bool is_same(const struct cp_sampled_file *file, const char *path)
{
	for (size_t i = 0; i < file->nsame; i++)
		if (strcmp(file->same[i], path) == 0)
			return true;
	return false;
}

static void add_mapping(
	struct cp_sampled_file *file, uint64_t time, struct cp_mapped mapped)
{
	struct cp_profiled_module *module = cp_profile_new_module(file->profile);
	struct cp_timed_mapping *timed = CP_ADD(file->arena, file->mappings);

	mapped.id = file->profile->nmodules - file->first_module;
	*timed = (struct cp_timed_mapping){time, mapped};
	module->pid = file->pid;
	module->start = mapped.start;
	module->end = mapped.end;
	module->offset = mapped.offset;
	if (!is_same(file, mapped.path))
		module->mapped_ns = realtime_of(file, file->maps_ns);
	/* Not something to open. */
	module->path = *mapped.path == '/' ? mapped.path : "";
	module->name = !*mapped.path ? "[no file]" : cp_base_name(mapped.path);
}

static void add_maps_line(
	struct cp_sampled_file *file, uint64_t time, const char *line, size_t length)
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

static void add_maps(struct cp_sampled_file *file, const struct cp_item *item)
{
	const struct cp_samples_maps *in = (const void *)item;
	const char *at = in->text, *end;

	if (in->length > item->size - sizeof(*in))
		return;
	file->maps_ns = in->time;
	for (end = at + in->length; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		/* Before anything else that is known of memory. */
		add_maps_line(file, 0, at, (size_t)((newline ? newline : end) - at));
		at = newline ? newline + 1 : end;
	}
}

static void add_later_mapping(struct cp_sampled_file *file, const struct cp_item *item)
{
	const struct cp_samples_mapping *in = (const void *)item;

	if (in->length > item->size - sizeof(*in) || in->start + in->size < in->start)
		return;
	file->maps_ns = in->time;
	add_mapping(file, in->time,
		(struct cp_mapped){.start = in->start,
			.end = in->start + in->size,
			.offset = in->offset,
			.path = clean_path(file, in->path, in->length),
			.code = in->protection & PROT_EXEC,
			.writable = in->protection & PROT_WRITE});
}

static void add_block(struct cp_sampled_file *file, const struct cp_item *item)
{
	const struct cp_samples_block *in = (const void *)item;

	if (!in->size || in->address + in->size <= in->address)
		return;
	*CP_ADD(file->arena, file->given) = in;
	if (in->start < in->there)
		*CP_ADD(file->arena, file->asked) = in;
}

static void add_batch(struct cp_sampled_file *file, const struct cp_item *item)
{
	const struct cp_samples_batch *in = (const void *)item;

	if (in->n > (item->size - sizeof(*in)) / sizeof(in->sample[0]))
		return;
	for (uint32_t i = 0; i < in->n; i++)
		*CP_ADD(file->arena, file->samples) =
			(struct cp_timed_sample){&in->sample[i], in->thread};
}

/* Threads write theirs at the same time: numbers come in any order. */
static void add_chain(struct cp_sampled_file *file, const struct cp_item *item)
{
	const struct cp_samples_chain *in = (const void *)item;

	if (!in->id || in->id > file->size / sizeof(*in) || in->n > CP_CHAIN_LENGTH ||
		in->stack > CP_CHAIN_STACK / sizeof(in->word[0]) ||
		in->n + in->stack > (item->size - sizeof(*in)) / sizeof(in->word[0]))
		return;
	while (file->chains.n < in->id)
		*CP_ADD(file->arena, file->chains) = NULL;
	file->chains.all[in->id - 1] = in;
}

static void take_in(struct cp_sampled_file *file, const struct cp_item *item)
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
	case CP_SAMPLES_CHAIN:
		add_chain(file, item);
		break;
	case CP_SAMPLES_MAPPING:
		add_later_mapping(file, item);
		break;
	case CP_SAMPLES_RANGE:
		*CP_ADD(file->arena, file->ranges) = (const void *)item;
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

/* ---- all of them ---- */

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
	case CP_SAMPLES_CHAIN:
		return sizeof(struct cp_samples_chain);
	case CP_SAMPLES_MAPPING:
		return sizeof(struct cp_samples_mapping);
	default:
		return sizeof(struct cp_item);
	}
}

bool cp_sampled_items(struct cp_sampled_file *file)
{
	size_t at = CP_RECORD_HEADER_SIZE;

	while (at + sizeof(struct cp_item) <= file->size) {
		const struct cp_item *item = (const void *)(file->bytes + at);

		if (!item->size)
			return true;
		if (item->size > file->size - at || item->size % 8 ||
			item->size < least_size(item->type))
			return false;
		take_in(file, item);
		at += item->size;
	}
	return true;
}
