/* SPDX-License-Identifier: MIT
 *
 * A process of perf's file as the bytes of a .samples file.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/profile/samples/perf_parts.h"

struct bytes {
	char *at;
	size_t n;
};

/* Room for an item and what follows it, in whole words; NULL: this pass only measures. */
static void *add_item(struct bytes *bytes, uint32_t type, size_t size)
{
	struct cp_item *item =
		bytes->at ? (struct cp_item *)(void *)(bytes->at + bytes->n) : NULL;

	size = (size + 7) & ~(size_t)7;
	bytes->n += size;
	if (item)
		*item = (struct cp_item){.type = type, .size = (uint32_t)size};
	return item;
}

static void put_header(struct bytes *bytes, const struct cp_perf *perf, int32_t pid)
{
	struct cp_record_header *header = (void *)bytes->at;

	bytes->n = CP_RECORD_HEADER_SIZE;
	if (!header)
		return;
	memcpy(header->magic, CP_SAMPLES_MAGIC, sizeof(header->magic));
	header->version = CP_SAMPLES_VERSION;
	header->header_size = CP_RECORD_HEADER_SIZE;
	header->pid = pid;
	/* Nothing was mapped later than this. */
	header->realtime_ns = perf->written_ns;
	header->start_ns = UINT64_MAX;
}

/* The names of the file's events of this kind, and what a period of them is. */
static void describe_event(const struct cp_perf *perf, enum cp_sampled_event kind,
	struct cp_samples_event *event, uint64_t periods)
{
	size_t n = 0, length = 0;

	event->exact = 1;
	for (size_t i = 0; i < perf->events.n; i++) {
		const struct cp_perf_event *one = &perf->events.all[i];

		if (one->kind != kind || one->by)
			continue;
		length += (size_t)snprintf(event->name + length,
			sizeof(event->name) - length, "%s%s", length ? " + " : "",
			one->name);
		if (length >= sizeof(event->name))
			length = sizeof(event->name) - 1;
		n += one->samples;
		event->exact &= one->each;
	}
	event->period = n ? (periods + n / 2) / n : 0;
}

static uint64_t periods_of(const struct cp_perf *perf, enum cp_sampled_event kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < perf->images.n; i++) {
		const struct cp_perf_image *image = &perf->images.all[i];

		for (size_t s = 0; s < image->samples.n; s++)
			if (image->samples.all[s].sample->event == kind)
				sum += image->samples.all[s].sample->period;
	}
	return sum;
}

static void put_event(
	struct bytes *bytes, const struct cp_perf *perf, enum cp_sampled_event kind)
{
	struct cp_samples_event *event =
		add_item(bytes, CP_SAMPLES_EVENT, sizeof(struct cp_samples_event));

	if (!event)
		return;
	event->event = kind;
	event->unit = CP_UNIT_OPERATIONS;
	snprintf(event->vendor, sizeof(event->vendor), "%s", perf->vendor_name);
	if (cp_perf_takes(perf, kind))
		describe_event(perf, kind, event, periods_of(perf, kind));
	else
		snprintf(event->why, sizeof(event->why), "%s",
			"perf's file has no samples of it that this measurement takes");
}

static void add_up(const struct cp_perf_image *image, uint32_t thread,
	struct cp_sampled_totals *totals)
{
	for (size_t i = 0; i < image->samples.n; i++) {
		const struct cp_timed_sample *one = &image->samples.all[i];

		if (one->thread != thread)
			continue;
		totals[one->sample->event].samples++;
		totals[one->sample->event].periods += one->sample->period;
		/* perf counts the event by its samples only. */
		totals[one->sample->event].total += one->sample->period;
	}
}

static void put_thread(
	struct bytes *bytes, const struct cp_perf_image *image, uint32_t id)
{
	struct cp_samples_thread *thread =
		add_item(bytes, CP_SAMPLES_THREAD, sizeof(struct cp_samples_thread));

	if (!thread)
		return;
	thread->id = id;
	thread->tid = image->threads.all[id].tid;
	add_up(image, id, thread->events);
}

static void put_mapping(struct bytes *bytes, const struct cp_perf_mapping *in)
{
	size_t length = strlen(in->path);
	struct cp_samples_mapping *mapping =
		add_item(bytes, CP_SAMPLES_MAPPING, sizeof(*mapping) + length + 1);

	if (!mapping)
		return;
	mapping->time = in->time;
	mapping->start = in->start;
	mapping->size = in->size;
	mapping->offset = in->offset;
	mapping->protection = (in->code ? PROT_EXEC : 0u) | (in->write ? PROT_WRITE : 0u);
	mapping->length = (uint32_t)length;
	memcpy(mapping->path, in->path, length);
}

/* The first thread's. */
static void put_stack(struct bytes *bytes, const struct cp_perf_mapping *in)
{
	struct cp_samples_range *range;

	if (strcmp(in->path, "[stack]") != 0)
		return;
	range = add_item(bytes, CP_SAMPLES_RANGE, sizeof(*range));
	if (!range)
		return;
	range->kind = CP_RANGE_STACK;
	range->low = in->start;
	range->high = in->start + in->size;
	range->start = in->time;
}

static void put_sample(struct bytes *bytes, const struct cp_timed_sample *in)
{
	struct cp_samples_batch *batch =
		add_item(bytes, CP_SAMPLES_BATCH, sizeof(*batch) + sizeof(*in->sample));

	if (!batch)
		return;
	batch->thread = in->thread;
	batch->n = 1;
	batch->sample[0] = *in->sample;
}

static void put_all(struct bytes *bytes, const struct cp_perf *perf,
	const struct cp_perf_image *image)
{
	put_header(bytes, perf, image->pid);
	for (unsigned i = 0; i < CP_SAMPLED_EVENTS; i++)
		put_event(bytes, perf, (enum cp_sampled_event)i);
	for (size_t i = 0; i < image->threads.n; i++)
		put_thread(bytes, image, (uint32_t)i);
	for (size_t i = 0; i < image->mappings.n; i++) {
		put_mapping(bytes, &image->mappings.all[i]);
		put_stack(bytes, &image->mappings.all[i]);
	}
	for (size_t i = 0; i < image->samples.n; i++)
		put_sample(bytes, &image->samples.all[i]);
}

struct cp_sampled_source cp_perf_source(
	const struct cp_perf *perf, const struct cp_perf_image *image)
{
	struct bytes bytes = {NULL, 0};
	struct cp_sampled_source source = {
		.name = "perf's file", .same = perf->same.all, .nsame = perf->same.n};

	put_all(&bytes, perf, image);
	source.size = bytes.n;
	source.bytes = bytes.at = cp_arena_alloc(perf->arena, bytes.n + 8);
	put_all(&bytes, perf, image);
	return source;
}
