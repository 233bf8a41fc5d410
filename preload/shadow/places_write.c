/* SPDX-License-Identifier: MIT
 *
 * The file of a process's places: as the simulated PMU writes it, a chunk at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/format.h"
#include "base/map.h"
#include "base/syscall.h"
#include "base/files/maps.h"
#include "preload/planned.h"
#include "preload/run.h"
#include "preload/shadow/controller.h"
#include "preload/shadow/estimate.h"
#include "preload/shadow/places.h"
#include "preload/threads/threads.h"
#include "preload/warn.h"

#define MOST_FILES 1000
#define MAPS_SIZE ((size_t)1 << 22) /* of more mappings the first ones are known */
#define LEAST_LINE 40 /* of a mapping: it has two addresses, an offset, a device */

/* A mapping that is executed. */
struct module {
	uint64_t start, end, offset;
	const char *path, *path_end; /* in the text */
	bool reads, executes;
};

/* What is being written. */
struct places_file {
	const struct cp_places *places; /* NULL: there was no window */
	int fd, error;
	size_t used; /* of the chunk */
	bool is_cut; /* there are more mappings */
	unsigned nmodules;
	struct module module[MAPS_SIZE / LEAST_LINE]; /* by address */
	uint64_t sum[CP_SIM_NBURST][CP_SIM_GROUPS];
	char maps[MAPS_SIZE];
	_Alignas(8) char chunk[CP_PROFILE_CHUNK];
};

/* ---- the file ---- */

static int open_file(int *number)
{
	char path[CP_RUNDIR_SIZE + 32];
	bool again = *number >= 0;
	int n = again ? *number : 0;
	long fd = -EEXIST;

	for (; n < MOST_FILES && fd == -EEXIST; n++) {
		cp_format(path, sizeof(path), "%s/%d-%d.profile", cp_run.directory,
			(int)cp_runtime.pid, n);
		fd = cp_syscall(SYS_openat, AT_FDCWD, path,
			O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC |
				(again ? O_TRUNC : O_EXCL),
			0600L);
		if (fd >= 0)
			*number = n;
	}
	return (int)fd;
}

static void write_chunk(struct places_file *file)
{
	size_t done = 0;

	while (done < file->used && !file->error) {
		long n = cp_syscall(
			SYS_write, file->fd, file->chunk + done, file->used - done);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			file->error = n < 0 ? (int)n : -ENOSPC;
		else
			done += (size_t)n;
	}
}

/* Room for an entry, which lies in one chunk. */
static void *add_entry(struct places_file *file, enum cp_profile_kind kind, size_t size)
{
	struct cp_profile_entry *entry;

	size = (size + 7) & ~(size_t)7;
	if (file->used + size > CP_PROFILE_CHUNK) {
		file->used = CP_PROFILE_CHUNK;
		write_chunk(file);
		memset(file->chunk, 0, CP_PROFILE_CHUNK);
		file->used = 0;
	}
	entry = (void *)(file->chunk + file->used);
	entry->kind = kind;
	entry->size = (uint32_t)size;
	file->used += size;
	return entry;
}

/* ---- modules ---- */

/* "from-to perms offset device inode   path" */
static void read_mapping(const char *line, const char *end, struct module *m)
{
	const char *at = line;

	m->start = cp_maps_number(&at);
	at += *at == '-';
	m->end = cp_maps_number(&at);
	m->reads = end - at > 6 && at[1] == 'r';
	m->executes = end - at > 6 && at[3] == 'x';
	at += end - at > 6 ? 6 : 0;
	m->offset = cp_maps_number(&at);
	while (at < end && *at != '/')
		at++;
	m->path = at;
	m->path_end = end;
}

static void find_modules(struct places_file *file)
{
	for (const char *line = file->maps, *end; (end = strchr(line, '\n'));
		line = end + 1) {
		struct module m;

		read_mapping(line, end, &m);
		if (m.executes)
			file->module[file->nmodules++] = m;
	}
}

/* The number of the one that has the address; 0: none. */
static uint32_t module_at(const struct places_file *file, uint64_t address)
{
	unsigned low = 0, high = file->nmodules;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (address >= file->module[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return low < file->nmodules && address >= file->module[low].start ? low + 1 : 0;
}

static bool is_of_file(const struct module *m, const struct module *of)
{
	size_t length = (size_t)(of->path_end - of->path);

	return length && (size_t)(m->path_end - m->path) == length &&
	       memcmp(m->path, of->path, length) == 0;
}

/* The mapping of a file's beginning, which has its headers. */
static bool find_headers(
	const struct places_file *file, const struct module *of, struct module *found)
{
	for (const char *line = file->maps, *end; (end = strchr(line, '\n'));
		line = end + 1) {
		read_mapping(line, end, found);
		if (found->reads && found->offset == 0 && is_of_file(found, of))
			return true;
	}
	return false;
}

static void add_module(struct places_file *file, const struct module *m, uint32_t number)
{
	size_t length = (size_t)(m->path_end - m->path);
	struct cp_profile_module *out =
		add_entry(file, CP_PROFILE_MODULE, sizeof(*out) + length + 1);
	struct module headers;

	out->id = number;
	out->start = m->start;
	out->end = m->end;
	out->offset = m->offset;
	memcpy(out->path, m->path, length);
	if (length && find_headers(file, m, &headers))
		out->build_id_size =
			cp_places_build_id(headers.start, headers.end, out->build_id);
}

/* They are numbered in their order. */
static void add_modules(struct places_file *file)
{
	file->is_cut = cp_maps_read(file->maps, sizeof(file->maps)) >= MAPS_SIZE - 1;
	find_modules(file);
	for (unsigned i = 0; i < file->nmodules; i++)
		add_module(file, &file->module[i], i + 1);
}

/* ---- what there is ---- */

static uint64_t entries_of(enum cp_level level)
{
	const struct cp_cache *c = &cp_plan.machine[0].level[level];

	return (uint64_t)c->sets * c->ways;
}

static void put_header(struct places_file *file)
{
	struct cp_profile_header *header = (void *)file->chunk;
	const struct cp_machine *m = &cp_plan.machine[0];

	file->used = sizeof(*header);
	memcpy(header->magic, CP_PROFILE_MAGIC, sizeof(header->magic));
	header->version = CP_PROFILE_VERSION;
	header->counters = CP_SIM_NCOUNTERS;
	header->pid = (int32_t)cp_runtime.pid;
	header->line = cp_machine_unit(m);
	header->page = m->page;
	header->tlb_entries =
		entries_of(CP_DTLB) + entries_of(CP_STLB) + entries_of(CP_DTLB2);
	header->l2_bytes = entries_of(CP_L2) * m->level[CP_L2].line;
	header->l1d_sets = m->level[CP_L1D].sets;
	header->l1d_ways = m->level[CP_L1D].ways;
	header->l1d_prefetches = m->level[CP_L1D].prefetch != CP_NO_PREFETCH;
}

static uint64_t rounded(double n)
{
	return (uint64_t)(n + 0.5);
}

static void add_thread(struct places_file *file)
{
	struct cp_profile_thread *out = add_entry(file, CP_PROFILE_THREAD, sizeof(*out));
	double instructions = 0;

	for (unsigned g = 0; file->places && g < CP_SIM_GROUPS; g++)
		instructions += file->places->count[CP_SIM_BURST_instructions][g];
	out->count[CP_SIM_instructions] = rounded(instructions);
}

static void add_site(struct places_file *file, const struct cp_place_sum *sum)
{
	static const unsigned counters[CP_SIM_NBURST] = {
#define X(name) CP_SIM_##name,
		CP_SIM_BURST_COUNTERS(X)
#undef X
	};
	struct cp_profile_site *out = add_entry(file, CP_PROFILE_SITE, sizeof(*out));

	out->module = module_at(file, sum->address);
	out->instruction = sum->address;
	out->part = sum->group + 1;
	for (unsigned i = 0; i < CP_SIM_NBURST; i++) {
		unsigned c = counters[i] - CP_PROFILE_FIRST;

		if (c >= CP_PROFILE_COUNTERS)
			continue;
		out->count[c] = rounded(sum->count[i]);
		file->sum[i][sum->group] += out->count[c];
	}
}

/* Of what places have, what they add up to. */
static void put_counts(
	const struct places_file *file, const struct cp_places *places, uint64_t *to)
{
	for (unsigned i = 0; i < CP_SIM_NBURST; i++)
		for (unsigned g = 0; g < CP_SIM_GROUPS; g++)
			to[i * CP_SIM_PARTS + g] =
				file->sum[i][g] + rounded(places->count[i][g]);
}

static void add_sample(struct places_file *file, double without_ns)
{
	struct cp_profile_sample *out = add_entry(file, CP_PROFILE_SAMPLE, sizeof(*out));
	const struct cp_places *places = file->places;

	out->of_windows = 1;
	out->unseen_ns = rounded(without_ns);
	if (!places)
		return;
	out->windows = places->windows;
	out->seen_ns = rounded(places->seen_ns);
	for (unsigned g = 0; g < CP_SIM_GROUPS; g++)
		out->stands_for_ns[g] = rounded(places->stands_for_ns[g]);
	for (unsigned i = 0; i < CP_SIM_NBURST; i++)
		out->unknown[i] = rounded(places->unknown[i]);
	put_counts(file, places, out->count);
}

static void fill_file(struct places_file *file, double without_ns)
{
	put_header(file);
	add_thread(file);
	add_modules(file);
	for (uint32_t i = 0; file->places && i < file->places->n; i++)
		add_site(file, &file->places->of[i]);
	add_sample(file, without_ns);
	write_chunk(file);
}

/* ---- when ---- */

static void say_cut(void)
{
	char line[160];

	cp_format(line, sizeof(line),
		"CACHEPEEK_PROFILE: process %d has more mappings than %zu MiB of text name: "
		"misses in the others are in [unknown]",
		(int)cp_runtime.pid, MAPS_SIZE >> 20);
	cp_keep_warning(line);
}

static void write_file(int *number, const struct cp_places *places, double without_ns)
{
	struct places_file *file = cp_map(sizeof(*file), -1, 0);
	int error = -ENOMEM;
	char line[160];

	if (file) {
		file->places = places;
		file->fd = open_file(number);
		error = file->fd;
		if (file->fd >= 0) {
			fill_file(file, without_ns);
			error = file->error;
			cp_syscall(SYS_close, file->fd);
		}
		if (file->is_cut)
			say_cut();
		munmap(file, sizeof(*file));
	}
	if (error >= 0)
		return;
	cp_format(line, sizeof(line),
		"CACHEPEEK_PROFILE: no file for the places of process %d (%s)",
		(int)cp_runtime.pid, cp_error_text(-error));
	cp_warn(line);
}

static void say_beyond(const struct cp_places *places)
{
	char line[160];

	if (!places->beyond)
		return;
	cp_format(line, sizeof(line),
		"CACHEPEEK_PROFILE: process %d: there was no room for %u instructions of "
		"windows: their misses are in [unknown]",
		(int)cp_runtime.pid, places->beyond);
	cp_keep_warning(line);
}

/* What windows do not stand for: see why_not() in values.c. */
void cp_places_write(struct cp_shadows *s)
{
	struct cp_places *places = s ? s->places : NULL;
	double cpu_ns = s ? (double)cp_controller_total(s) : (double)cp_process_cpu();
	struct cp_shadow_windows windows;
	double kept;
	int none = -1;

	if (!cp_places_wanted())
		return;
	if (!places || s->untimed || s->cut || !(places->windows + places->has_last)) {
		write_file(places ? &places->number : &none, NULL, cpu_ns);
		return;
	}
	windows =
		(struct cp_shadow_windows){s->log.window, s->log.nwindows, s->log.forks};
	cp_places_conclude(places, cpu_ns);
	kept = cp_shadow_kept(&windows, cpu_ns);
	cp_places_scale(places, kept);
	write_file(&places->number, places, 0);
	cp_places_scale(places, 1 / kept);
	say_beyond(places);
}
