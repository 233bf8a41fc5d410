/* SPDX-License-Identifier: MIT
 *
 * The lines of `perf script`: a task, its time, and a sample or what happened to it.
 *
 *	comm pid/tid seconds: period event: address data_src |words| weight ip
 *	comm pid/tid seconds: PERF_RECORD_MMAP2 pid/tid: [start(size) @ offset ...]: rwxp
 *path comm pid/tid seconds: PERF_RECORD_COMM exec: comm:pid/tid comm pid/tid seconds:
 *PERF_RECORD_FORK(pid:tid):(ppid:ptid) comm pid/tid seconds: PERF_RECORD_LOST lost n
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tools/profile/samples/perf_parts.h"

struct task {
	const char *name;
	int32_t pid, tid;
	uint64_t time;
};

/* ---- processes ---- */

static struct cp_perf_image *new_image(struct cp_perf *perf, int32_t pid)
{
	struct cp_perf_image *image = CP_ADD(perf->arena, perf->images);

	*image = (struct cp_perf_image){.pid = pid};
	return image;
}

static struct cp_perf_image *find_image(struct cp_perf *perf, int32_t pid)
{
	for (size_t i = perf->images.n; i--;)
		if (perf->images.all[i].pid == pid)
			return &perf->images.all[i];
	return NULL;
}

static struct cp_perf_image *image_of(struct cp_perf *perf, int32_t pid)
{
	struct cp_perf_image *image = find_image(perf, pid);

	return image ? image : new_image(perf, pid);
}

static uint32_t thread_of(
	struct cp_perf *perf, struct cp_perf_image *image, const struct task *task)
{
	struct cp_perf_thread *thread;

	for (size_t i = image->threads.n; i--;)
		if (image->threads.all[i].tid == task->tid)
			return (uint32_t)i;
	thread = CP_ADD(perf->arena, image->threads);
	*thread = (struct cp_perf_thread){task->tid, task->name};
	return (uint32_t)image->threads.n - 1;
}

/* The child has its parent's memory; a thread has nothing of its own. */
static void fork_image(struct cp_perf *perf, const char *text)
{
	int32_t pid, tid, ppid, ptid;
	const struct cp_perf_image *parent;
	struct cp_perf_image *child;
	size_t n;

	if (sscanf(text, "(%d:%d):(%d:%d)", &pid, &tid, &ppid, &ptid) != 4 || pid == ppid)
		return;
	child = new_image(perf, pid);
	parent = find_image(perf, ppid);
	n = parent ? parent->mappings.n : 0;
	for (size_t i = 0; i < n; i++)
		*CP_ADD(perf->arena, child->mappings) = parent->mappings.all[i];
}

/* ---- memory ---- */

/* The permissions and the path stand behind "]: "; what is between offset and bracket
 * (device and inode, or a build ID) is not needed. */
static void add_mapping(struct cp_perf *perf, const struct task *task, const char *text)
{
	struct cp_perf_mapping mapping = {.time = task->time};
	const char *mode = strstr(text, "]: "), *path;
	struct cp_perf_image *image;
	int32_t pid, tid;

	if (!mode || sscanf(text, "%d/%d: [%" SCNx64 "(%" SCNx64 ") @ %" SCNx64, &pid,
			     &tid, &mapping.start, &mapping.size, &mapping.offset) != 5)
		return;
	mode += 3;
	path = strchr(mode, ' ');
	if (!path)
		return;
	mapping.code = memchr(mode, 'x', (size_t)(path - mode)) != NULL;
	mapping.write = memchr(mode, 'w', (size_t)(path - mode)) != NULL;
	path++;
	mapping.path = cp_arena_copy(perf->arena, path, strcspn(path, "\n"));
	image = image_of(perf, pid);
	*CP_ADD(perf->arena, image->mappings) = mapping;
}

/* ---- samples ---- */

static struct cp_perf_event *event_named(
	struct cp_perf *perf, const char *name, size_t length)
{
	for (size_t i = 0; i < perf->events.n; i++) {
		struct cp_perf_event *event = &perf->events.all[i];

		if (strlen(event->name) == length &&
			memcmp(event->name, name, length) == 0)
			return event;
	}
	return NULL;
}

/* Kernels live in the upper half. */
static bool is_kernels(uint64_t address)
{
	return address >> 63;
}

/* The words of data_src end with the last '|...'; weight and ip follow. */
static bool read_columns(
	const struct cp_perf *perf, const char *text, struct cp_access_sample *sample)
{
	const char *last = strrchr(text, '|');
	uint64_t weight = 0;
	int end = 0;

	if (sscanf(text, "%" SCNx64 "%n", &sample->address, &end) != 1)
		return false;
	text += end;
	if (perf->has_source) {
		if (sscanf(text, "%" SCNx64, &sample->data_source) != 1 || !last)
			return false;
		/* "|BLK  N/A", and the columns are apart by two blanks or more. */
		text = last;
	}
	last = text + strlen(text);
	while (last > text && strchr(" \n", last[-1]))
		last--;
	while (last > text && last[-1] != ' ')
		last--;
	if (sscanf(last, "%" SCNx64, &sample->instruction) != 1)
		return false;
	if (!perf->has_weight)
		return true;
	while (last > text && last[-1] == ' ')
		last--;
	while (last > text && last[-1] != ' ')
		last--;
	if (sscanf(last, "%" SCNu64, &weight) != 1)
		return false;
	sample->latency = weight > UINT32_MAX ? UINT32_MAX : (uint32_t)weight;
	return true;
}

static void add_sample(struct cp_perf *perf, const struct task *task, const char *text)
{
	struct cp_access_sample *sample;
	struct cp_perf_image *image;
	struct cp_perf_event *event;
	uint64_t period;
	const char *name;
	int end = 0;
	size_t length;

	if (sscanf(text, "%" SCNu64 " %n", &period, &end) != 1)
		return;
	name = text + end;
	length = strcspn(name, " ");
	event = length ? event_named(perf, name, length - 1) : NULL;
	if (!event || !cp_perf_takes(perf, event->kind))
		return;
	if (event->by) {
		event->repeated++;
		return;
	}
	sample = cp_arena_alloc(perf->arena, sizeof(*sample));
	*sample = (struct cp_access_sample){
		.time = task->time, .period = period, .event = event->kind};
	if (!read_columns(perf, name + length, sample))
		return;
	if (is_kernels(sample->instruction)) {
		perf->in_kernel++;
		return;
	}
	event->samples++;
	image = image_of(perf, task->pid);
	*CP_ADD(perf->arena, image->samples) =
		(struct cp_timed_sample){sample, thread_of(perf, image, task)};
}

/* ---- lines ---- */

/* A task's name may have anything in it, but hardly " 12/34 5.678: " as well.  Returns
 * what follows; NULL: it is no line of a task. */
static const char *read_task(struct cp_perf *perf, const char *line, struct task *task)
{
	for (const char *at = line; (at = strchr(at, ' ')); at++) {
		uint64_t seconds, ns;
		int end = 0;

		if (sscanf(at, " %d/%d %" SCNu64 ".%9" SCNu64 ": %n", &task->pid,
			    &task->tid, &seconds, &ns, &end) != 4 ||
			!end)
			continue;
		while (*line == ' ')
			line++;
		task->name =
			at > line ? cp_arena_copy(perf->arena, line, (size_t)(at - line))
				  : "";
		task->time = seconds * 1000000000 + ns;
		return at + end;
	}
	return NULL;
}

/* Returns the text behind the word; NULL: it begins otherwise. */
static const char *text_behind(const char *text, const char *word)
{
	return cp_starts_with(text, word) ? text + strlen(word) : NULL;
}

static void add_record(struct cp_perf *perf, const struct task *task, const char *text)
{
	const char *rest;
	uint64_t lost;

	if ((rest = text_behind(text, "MMAP2 ")) || (rest = text_behind(text, "MMAP ")))
		add_mapping(perf, task, rest);
	else if ((rest = text_behind(text, "FORK")))
		fork_image(perf, rest);
	else if (text_behind(text, "COMM exec"))
		new_image(perf, task->pid);
	else if ((rest = text_behind(text, "LOST")) && (rest = strstr(rest, "lost ")) &&
		 sscanf(rest, "lost %" SCNu64, &lost) == 1)
		perf->lost += lost;
}

void cp_perf_line(struct cp_perf *perf, const char *line)
{
	struct task task;
	const char *text = read_task(perf, line, &task), *record;

	if (!text)
		return;
	record = text_behind(text, "PERF_RECORD_");
	if (record)
		add_record(perf, &task, record);
	else
		add_sample(perf, &task, text);
}
