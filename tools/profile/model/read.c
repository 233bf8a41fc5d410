/* SPDX-License-Identifier: MIT
 *
 * The files of a run directory, checked: a profile may come from anywhere.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/files/trusted.h"
#include "base/text/table.h"
#include "tools/profile/model/from_records.h"
#include "tools/profile/model/profile.h"
#include "tools/profile/model/sampled_write.h"

#define MAX_WARNINGS 64
#define MAX_FILE ((uint64_t)4 << 30)

/* One file, and what its numbers refer to. */
struct file {
	struct cp_profile *profile;
	const char *name;
	const char *bytes;
	size_t size;
	int32_t pid;
	/* In the profile. */
	size_t first_thread, first_module, first_path, first_object, first_script;
	bool damaged;
};

void cp_profile_warn(struct cp_profile *profile, const char *format, ...)
{
	const char *line;
	va_list args;

	if (profile->nwarnings == MAX_WARNINGS)
		return;
	va_start(args, format);
	line = cp_text_vformat(profile->arena, format, args);
	va_end(args);
	for (size_t i = 0; i < profile->nwarnings; i++)
		if (strcmp(profile->warnings[i], line) == 0)
			return;
	profile->warnings[profile->nwarnings++] = line;
}

/* ---- entries ---- */

static size_t least_size(uint32_t kind)
{
	switch (kind) {
	case CP_PROFILE_THREAD:
		return sizeof(struct cp_profile_thread);
	case CP_PROFILE_MODULE:
		return sizeof(struct cp_profile_module) + 1;
	case CP_PROFILE_SITE:
		return sizeof(struct cp_profile_site);
	case CP_PROFILE_OBJECT:
		return sizeof(struct cp_profile_object);
	case CP_PROFILE_SHARER:
		return sizeof(struct cp_profile_sharer);
	case CP_PROFILE_SLICES:
		return sizeof(struct cp_profile_slices);
	case CP_PROFILE_PATH:
		return sizeof(struct cp_profile_path);
	case CP_PROFILE_USE:
		return sizeof(struct cp_profile_use);
	case CP_PROFILE_ACCESS:
		return sizeof(struct cp_profile_access);
	case CP_PROFILE_SCRIPT:
		return sizeof(struct cp_profile_script);
	case CP_PROFILE_SAMPLE:
		return sizeof(struct cp_profile_sample);
	default:
		return sizeof(struct cp_profile_entry);
	}
}

/*
 * Visits the entries of that kind, which have at least least_size() bytes: visit
 * reads no entry of another kind, which may be shorter.  Returns whether all
 * entries were as they should be.
 */
static bool each_entry(struct file *file, uint32_t kind,
	void (*visit)(struct file *file, const struct cp_profile_entry *entry))
{
	size_t at = sizeof(struct cp_profile_header);

	while (at + sizeof(struct cp_profile_entry) <= file->size) {
		const struct cp_profile_entry *entry = (const void *)(file->bytes + at);
		size_t room = CP_PROFILE_CHUNK - at % CP_PROFILE_CHUNK;

		if (entry->kind == CP_PROFILE_NOTHING) {
			at += room;
			continue;
		}
		if (entry->size > room || entry->size > file->size - at ||
			entry->size < least_size(entry->kind) || entry->size % 8)
			return false;
		if (entry->kind == kind)
			visit(file, entry);
		at += entry->size;
	}
	return true;
}

void *cp_profile_grow(struct cp_arena *arena, void *array, size_t n, size_t each)
{
	void *larger;

	if (n & (n - 1)) /* full at powers of two only */
		return array;
	larger = cp_arena_alloc(arena, (n ? 2 * n : 1) * each);
	if (n)
		memcpy(larger, array, n * each);
	return larger;
}

#define ADD(profile, array)                                                              \
	(profile->array = cp_profile_grow(profile->arena, profile->array,                \
		 profile->n##array, sizeof(*profile->array)),                            \
		&profile->array[profile->n##array++])

struct cp_profiled_thread *cp_profile_new_thread(struct cp_profile *profile)
{
	return ADD(profile, threads);
}

struct cp_profiled_module *cp_profile_new_module(struct cp_profile *profile)
{
	return ADD(profile, modules);
}

struct cp_profiled_site *cp_profile_new_site(struct cp_profile *profile)
{
	return ADD(profile, sites);
}

struct cp_profiled_object *cp_profile_new_object(struct cp_profile *profile)
{
	return ADD(profile, objects);
}

static const char *module_name(const char *path)
{
	return !*path ? "[no file]" : cp_base_name(path);
}

static void add_thread(struct file *file, const struct cp_profile_entry *entry)
{
	const struct cp_profile_thread *in = (const void *)entry;
	struct cp_profiled_thread *thread;

	thread = ADD(file->profile, threads);
	thread->pid = file->pid;
	thread->tid = in->tid;
	thread->name = "";
	memcpy(thread->count, in->count, sizeof(thread->count));
}

static void add_module(struct file *file, const struct cp_profile_entry *entry)
{
	const struct cp_profile_module *in = (const void *)entry;
	size_t room = entry->size - sizeof(*in), length = strnlen(in->path, room);
	struct cp_profiled_module *module;

	module = ADD(file->profile, modules);
	module->pid = file->pid;
	module->start = in->start;
	module->end = in->end;
	module->offset = in->offset;
	module->path = cp_arena_copy(file->profile->arena, in->path, length);
	module->name = module_name(module->path);
	module->build_id_size =
		in->build_id_size <= sizeof(in->build_id) ? in->build_id_size : 0;
	module->build_id = in->build_id;
}

/* By its number in the file. */
static struct cp_profiled_module *module_of(const struct file *file, uint32_t number)
{
	static struct cp_profiled_module nowhere = {
		.end = UINT64_MAX, .path = "", .name = "[unknown]"};
	size_t module = file->first_module + number - 1;

	return number && module < file->profile->nmodules
		       ? &file->profile->modules[module]
		       : &nowhere;
}

/* The line that at least half of its misses are for. */
static size_t script_number(const struct file *file, const struct cp_profile_site *in)
{
	size_t number = file->first_script + in->script;

	return in->script && number <= file->profile->nown && in->asked &&
			       2 * in->scripted >= in->asked
		       ? number
		       : 0;
}

/* After all threads and modules, which then stay where they are. */
static void add_site(struct file *file, const struct cp_profile_entry *entry)
{
	const struct cp_profile_site *in = (const void *)entry;
	struct cp_profile *profile = file->profile;
	size_t thread = file->first_thread + in->thread;
	struct cp_profiled_site *site;

	if (thread >= profile->nthreads)
		return;
	if (in->part > CP_SIM_UNSURE || !in->part != !profile->bursts)
		return;
	site = ADD(profile, sites);
	site->thread = &profile->threads[thread];
	site->count = in->count;
	site->part = (unsigned)in->part;
	site->stride = in->stride;
	site->strided = in->strided;
	site->asked = in->asked;
	site->misses = in->misses;
	site->spared = in->spared;
	site->last = in->last;
	site->steps = in;
	site->script = script_number(file, in);
	site->at = (struct cp_place_in_code){
		.module = module_of(file, in->module),
		.address = in->instruction,
		.function = "",
		.file = "",
	};
}

/* The name that begins there, of at most so many bytes with what ends it. */
static const char *take_name(struct file *file, const char **at, size_t *room)
{
	struct cp_arena *arena = file->profile->arena;
	size_t length = strnlen(*at, *room);
	const char *name =
		cp_text_safe(arena, cp_slice_of(cp_arena_copy(arena, *at, length)));

	*at += length < *room ? length + 1 : length;
	*room -= length < *room ? length + 1 : length;
	return name;
}

/* Where it is follows in names. */
static struct cp_profiled_site script_of(struct file *file,
	const struct cp_profile_script *in, uint32_t line, const char **names,
	size_t *room)
{
	struct cp_profile *profile = file->profile;
	struct cp_profiled_module *module =
		cp_arena_alloc(profile->arena, sizeof(*module));
	struct cp_profiled_site script = {
		.thread = &profile->threads[file->first_thread + in->thread],
		.count = in->count,
		.spared = in->spared,
		.at = {.module = module, .line = line},
	};

	script.at.function = take_name(file, names, room);
	script.at.file = take_name(file, names, room);
	module->path = script.at.file;
	module->name = module_name(module->path);
	return script;
}

/* They are numbered in their order. */
static void add_script(struct file *file, const struct cp_profile_entry *entry)
{
	const struct cp_profile_script *in = (const void *)entry;
	struct cp_profile *profile = file->profile;
	size_t room = entry->size - sizeof(*in);
	const char *names = in->names;

	file->damaged |= file->first_thread + in->thread >= profile->nthreads ||
			 in->id != profile->nown - file->first_script + 1;
	if (file->damaged)
		return;
	*ADD(profile, scripts) = script_of(file, in, in->line, &names, &room);
	*ADD(profile, own) = script_of(file, in, in->own_line, &names, &room);
}

static void add_object(struct file *file, const struct cp_profile_entry *entry)
{
	const struct cp_profile_object *in = (const void *)entry;
	struct cp_profile *profile = file->profile;
	size_t thread = file->first_thread + in->thread,
	       module = file->first_module + in->module - 1;
	struct cp_profiled_object *object;

	if (thread >= profile->nthreads || in->data >= CP_DATA_KINDS)
		return;
	object = ADD(profile, objects);
	*object = (struct cp_profiled_object){
		.data = (enum cp_profile_data)in->data,
		.thread = &profile->threads[thread],
		.module = in->module && module < profile->nmodules
				  ? &profile->modules[module]
				  : NULL,
		.address = in->address,
		.size = in->size,
		.blocks = in->blocks,
		.name = "",
		.file = "",
		.count = in->count,
		.spared = in->spared,
		.parts = profile->bursts ? cp_arena_alloc(profile->arena,
						   sizeof(struct cp_burst_parts))
					 : NULL,
		.source = file->first_thread,
		.id = in->id,
	};
}

/* Objects of a file are nearly in the order of their numbers. */
static struct cp_profiled_object *object_of(const struct file *file, uint32_t id)
{
	const struct cp_profile *profile = file->profile;
	size_t guess = file->first_object + id - 1;

	if (guess < profile->nobjects && profile->objects[guess].id == id)
		return &profile->objects[guess];
	for (size_t i = file->first_object; i < profile->nobjects; i++)
		if (profile->objects[i].id == id)
			return &profile->objects[i];
	return NULL;
}

static void add_line_use(struct file *file, const struct cp_profile_entry *entry)
{
	const struct cp_profile_use *in = (const void *)entry;
	struct cp_profiled_object *object =
		in->object ? object_of(file, in->object) : NULL;
	struct cp_profiled_use *use;

	file->profile->has_line_use = true;
	file->profile->has_all_line_use |= !in->seen;
	file->profile->lines_looked_at += in->seen;
	if (!object || !in->line)
		return;
	use = cp_arena_alloc(file->profile->arena, sizeof(*use));
	use->in = in;
	use->next = object->use;
	object->use = use;
}

static void add_access(struct file *file, const struct cp_profile_entry *entry)
{
	static const unsigned kept[] = {CP_PROFILE_ACCESS_COUNTERS};
	const struct cp_profile_access *in = (const void *)entry;
	struct cp_profile *profile = file->profile;
	struct cp_profiled_object *object =
		in->object ? object_of(file, in->object) : NULL;
	size_t thread = file->first_thread + in->thread;
	struct cp_profiled_access *access;
	uint64_t *count;

	if (thread >= profile->nthreads || !object || in->part > CP_SIM_UNSURE ||
		!in->part != !profile->bursts)
		return;
	count = cp_arena_alloc(profile->arena, CP_PROFILE_COUNTERS * sizeof(*count));
	for (unsigned i = 0; i < CP_PROFILE_ACCESSED; i++)
		count[kept[i]] = in->count[i];
	if (in->part)
		cp_burst_parts_add(object->parts, in->part, count);
	access = ADD(profile, accesses);
	access->next = object->access;
	object->access = profile->naccesses - 1;
	object->naccesses++;
	access->site.thread = &profile->threads[thread];
	access->site.count = count;
	access->site.part = in->part;
	access->site.at = (struct cp_place_in_code){
		.module = module_of(file, in->module),
		.address = in->instruction,
		.function = "",
		.file = "",
	};
}

/* They are numbered in their order. */
static void add_path(struct file *file, const struct cp_profile_entry *entry)
{
	const struct cp_profile_path *in = (const void *)entry;
	struct cp_profile *profile = file->profile;
	size_t thread = file->first_thread + in->thread, at = profile->npaths;

	file->damaged |= thread >= profile->nthreads || in->parent >= in->id ||
			 in->id != at - file->first_path + 1;
	if (file->damaged)
		return;
	*ADD(profile, paths) = (struct cp_profiled_path){
		.thread = &profile->threads[thread],
		.parent = in->parent ? file->first_path + in->parent - 1 : at,
		.at = {.module = module_of(file, in->module),
			.address = in->function,
			.function = "",
			.file = ""},
		.in = in,
	};
}

static struct cp_profiled_place place_of(
	const struct file *file, const struct cp_profile_place *in)
{
	uint64_t module = in->how >> CP_PLACE_TIMES_BITS & CP_PLACE_MODULES;

	return (struct cp_profiled_place){
		.at = {module_of(file, (uint32_t)module), in->instruction, "", 0, "", 0},
		.references = in->how & CP_PLACE_TIMES,
		.writes = in->how & CP_PLACE_WRITES,
	};
}

static void add_sharer(struct file *file, const struct cp_profile_entry *entry)
{
	const struct cp_profile_sharer *in = (const void *)entry;
	struct cp_profile *profile = file->profile;
	size_t thread = file->first_thread + in->thread;
	struct cp_profiled_sharer *sharer;

	if (thread >= profile->nthreads)
		return;
	sharer = ADD(profile, sharers);
	*sharer = (struct cp_profiled_sharer){.thread = &profile->threads[thread],
		.source = file->first_thread,
		.in = in,
		.places = cp_arena_alloc(
			profile->arena, CP_PROFILE_PLACES * sizeof(*sharer->places))};
	for (; sharer->nplaces < CP_PROFILE_PLACES &&
		in->place[sharer->nplaces].instruction;
		sharer->nplaces++)
		sharer->places[sharer->nplaces] =
			place_of(file, &in->place[sharer->nplaces]);
}

static void add_sample(struct file *file, const struct cp_profile_entry *entry)
{
	struct cp_profile *profile = file->profile;

	profile->bursts =
		cp_bursts_add(profile->arena, profile->bursts, (const void *)entry);
}

static void keep_slices(struct file *file, const struct cp_profile_entry *entry)
{
	file->profile->slices = (const void *)entry;
}

/* ---- files ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t cp_profile_names(
	struct cp_arena *arena, int dir, const char *ending, const char ***names)
{
	DIR *entries = fdopendir(dup(dir));
	struct dirent *entry;
	size_t n = 0;

	*names = NULL;
	if (entries)
		rewinddir(entries);
	while (entries && (entry = readdir(entries))) {
		if (!cp_ends_with(entry->d_name, ending))
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

char *cp_profile_file(struct cp_profile *profile, int dir, const char *name, size_t *size)
{
	char why[160];
	int fd = cp_trusted_open(dir, name, CP_FOUND, MAX_FILE, why, sizeof(why));
	struct stat status;
	char *bytes = NULL;
	size_t got = 0;
	ssize_t n = 1;

	if (fd < 0)
		cp_profile_warn(profile, "%s: %s", name, why);
	if (fd >= 0 && fstat(fd, &status) == 0) {
		bytes = cp_arena_alloc(profile->arena, (size_t)status.st_size + 8);
		while (n > 0 && got < (size_t)status.st_size) {
			n = read(fd, bytes + got, (size_t)status.st_size - got);
			got += n > 0 ? (size_t)n : 0;
		}
	}
	if (fd >= 0)
		close(fd);
	*size = got;
	return bytes;
}

static bool is_profile(const struct file *file)
{
	const struct cp_profile_header *header = (const void *)file->bytes;

	return file->size >= sizeof(*header) &&
	       memcmp(header->magic, CP_PROFILE_MAGIC, sizeof(header->magic)) == 0 &&
	       header->version == CP_PROFILE_VERSION &&
	       header->counters == CP_SIM_NCOUNTERS;
}

static void warn_of_damage(struct file *file)
{
	cp_profile_warn(
		file->profile, "%s is damaged: what can be read is used", file->name);
}

static void note_lost(struct file *file, const struct cp_profile_header *header)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < CP_PROFILE_COUNTERS; i++)
		lost += header->lost.count[i];
	if (!lost)
		return;
	file->profile->inexact = true;
	cp_profile_warn(file->profile,
		"process %d: there was no room on the disk for "
		"the instructions of %lu misses of some level: "
		"they are in no place",
		(int)file->pid, (unsigned long)lost);
}

static void note_python(struct file *file, const struct cp_profile_header *header)
{
	const char *why = file->profile->bursts ? "a sample has none"
						: "those of 3.11, 3.12 and 3.13 are";

	if (!header->python || header->has_scripts || header->without_sites)
		return;
	if (header->python == 1)
		cp_profile_warn(file->profile,
			"functions and lines of Python before 3.11 are not known: %s",
			why);
	else
		cp_profile_warn(file->profile,
			"functions and lines of Python %u.%u are not known: %s",
			header->python >> 8, header->python & 0xff, why);
}

static void add_file(struct file *file)
{
	const struct cp_profile_header *header = (const void *)file->bytes;
	bool whole;

	if (!file->bytes)
		return;
	if (!is_profile(file)) {
		cp_profile_warn(file->profile,
			"%s is not a profile of this version of cachepeek: left out",
			file->name);
		return;
	}
	file->pid = header->pid;
	file->profile->line = header->line;
	file->profile->page = header->page;
	file->profile->tlb_entries = header->tlb_entries;
	file->profile->l2_bytes = header->l2_bytes;
	file->profile->l1d_sets = header->l1d_sets;
	file->profile->l1d_ways = header->l1d_ways;
	file->profile->dtlb_entries = header->dtlb_entries;
	file->profile->prefetches = header->prefetches;
	file->profile->followed_pages = header->followed_pages;
	file->profile->followed_bytes = header->followed_bytes;
	file->profile->nprocesses++;
	whole = each_entry(file, CP_PROFILE_THREAD, add_thread) &&
		each_entry(file, CP_PROFILE_MODULE, add_module) &&
		each_entry(file, CP_PROFILE_SAMPLE, add_sample);
	if (!whole)
		warn_of_damage(file);
	file->profile->without_sites |= header->without_sites != 0;
	note_lost(file, header);
	note_python(file, header);
}

/* Files whose sites are still to be added. */
struct files {
	struct file *file;
	size_t n;
};

static struct files find_files(struct cp_profile *profile, int dir)
{
	const char **names;
	struct files files = {
		.n = cp_profile_names(profile->arena, dir, ".profile", &names)};

	files.file = cp_arena_alloc(profile->arena, (files.n + 1) * sizeof(*files.file));
	for (size_t i = 0; i < files.n; i++)
		files.file[i] = (struct file){.profile = profile, .name = names[i]};
	return files;
}

/* Adds the items that refer to threads and modules, after all of those. */
static void add_uses(struct file *file)
{
	file->first_script = file->profile->nown;
	each_entry(file, CP_PROFILE_SCRIPT, add_script);
	each_entry(file, CP_PROFILE_SITE, add_site);
	file->first_object = file->profile->nobjects;
	each_entry(file, CP_PROFILE_OBJECT, add_object);
	each_entry(file, CP_PROFILE_USE, add_line_use);
	each_entry(file, CP_PROFILE_ACCESS, add_access);
	each_entry(file, CP_PROFILE_SHARER, add_sharer);
	file->first_path = file->profile->npaths;
	each_entry(file, CP_PROFILE_PATH, add_path);
	if (file->damaged)
		warn_of_damage(file);
	each_entry(file, CP_PROFILE_SLICES, keep_slices);
}

static void read_files(struct cp_profile *profile, int dir, const struct files *files)
{
	double instructions = 0;

	for (size_t i = 0; i < files->n; i++) {
		struct file *file = &files->file[i];

		file->first_thread = profile->nthreads;
		file->first_module = profile->nmodules;
		file->bytes = cp_profile_file(profile, dir, file->name, &file->size);
		add_file(file);
	}
	for (size_t i = 0; i < profile->nthreads; i++)
		instructions += (double)profile->threads[i].count[CP_SIM_instructions];
	if (profile->bursts)
		cp_bursts_conclude(profile->bursts, instructions);
	for (size_t i = 0; i < files->n; i++)
		if (files->file[i].bytes && is_profile(&files->file[i]))
			add_uses(&files->file[i]);
}

struct cp_profile *cp_profile_new(struct cp_arena *arena)
{
	struct cp_profile *profile = cp_arena_alloc(arena, sizeof(*profile));

	profile->arena = arena;
	profile->command = profile->machine = "";
	profile->weights = cp_weights_assumed();
	profile->warnings = cp_arena_alloc(arena, MAX_WARNINGS * sizeof(char *));
	return profile;
}

struct cp_profile *cp_profile_read(
	struct cp_arena *arena, const char *directory, char *error, size_t error_size)
{
	struct cp_profile *profile = cp_profile_new(arena);
	int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct files files;

	if (dir < 0) {
		snprintf(error, error_size,
			"%s: %s: name the directory that -d named when the program ran "
			"(JSON is for cachepeek explain, diff and annotate -i)",
			directory, strerror(errno));
		return NULL;
	}
	files = find_files(profile, dir);
	read_files(profile, dir, &files);
	profile->sampled = !files.n && cp_sampled_read(profile, dir);
	cp_profile_find_weights(profile, dir);
	close(dir);
	if (!profile->nthreads) {
		snprintf(error, error_size,
			"%s has no profile: `cachepeek dcache PROGRAM` (dtlb, icache, "
			"sharing) makes and shows one; or it takes "
			"CACHEPEEK_PROFILE=dcache while the program runs",
			directory);
		return NULL;
	}
	cp_profile_use_report(profile, directory);
	if (profile->sampled)
		cp_sampled_warn(profile);
	else
		cp_profile_check_sums(profile);
	cp_profile_check_path_sums(profile);
	return profile;
}
