/* SPDX-License-Identifier: MIT */
#include "regions/job_records.h"

#include <string.h>

#include "base/files/directory.h"
#include "base/format.h"
#include "base/sort.h"
#include "base/text.h"

/* A record, by its name. */
struct file {
	struct cp_job_id id; /* number 0: of no job */
	int rank;
	const char *path;
};

struct files {
	struct cp_arena *arena;
	const char *directory;
	bool (*wants)(const struct files *files, const struct file *file);
	struct cp_job_id id;
	int rank;
	struct file *items;
	size_t count, room;
};

static void append_file(struct files *files, struct file file)
{
	if (files->count == files->room) {
		size_t room = files->room ? 2 * files->room : 64;
		struct file *more = cp_arena_alloc(files->arena, room * sizeof(*more));

		if (files->count)
			memcpy(more, files->items, files->count * sizeof(*more));
		files->items = more;
		files->room = room;
	}
	files->items[files->count++] = file;
}

static const char *path_of(struct files *files, const char *name)
{
	size_t size = strlen(files->directory) + strlen(name) + 2;
	char *path = cp_arena_alloc(files->arena, size);

	cp_format(path, size, "%s/%s", files->directory, name);
	return path;
}

static bool add_name(void *context, int dir, const char *name)
{
	struct files *files = context;
	struct file file = {{0, 0}, -1, NULL};

	(void)dir;
	if (!cp_job_parse(name, &file.id, &file.rank))
		file = (struct file){{0, 0}, -1, NULL};
	if (!files->wants(files, &file))
		return false;
	file.path = path_of(files, name);
	append_file(files, file);
	return false;
}

static int compare_files(const void *one, const void *other)
{
	const struct file *a = one, *b = other;

	if (a->id.scope != b->id.scope)
		return a->id.scope < b->id.scope ? -1 : 1;
	if (a->id.number != b->id.number)
		return a->id.number < b->id.number ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(a->path, b->path);
}

static void read_names(struct files *files)
{
	cp_directory_each(files->directory, ".rec", add_name, files);
	cp_sort_by(files->items, files->count, sizeof(*files->items), compare_files);
}

/* ---- which there are ---- */

static bool is_of_scope(const struct files *files, const struct file *file)
{
	return file->id.number && (!files->id.scope || file->id.scope == files->id.scope);
}

static bool is_of_job(const struct files *files, const struct file *file)
{
	return file->id.number == files->id.number &&
	       (!file->id.number || file->id.scope == files->id.scope) &&
	       (files->rank < 0 || file->rank == files->rank);
}

static bool same_job(struct cp_job_id a, struct cp_job_id b)
{
	return a.scope == b.scope && a.number == b.number;
}

size_t cp_jobs_in(struct cp_arena *arena, const char *directory, uint64_t scope,
	struct cp_job_id **ids)
{
	struct files files = {arena, directory, is_of_scope, {scope, 0}, -1, NULL, 0, 0};
	size_t count = 0;

	read_names(&files);
	*ids = cp_arena_alloc(arena, (files.count + 1) * sizeof(**ids));
	for (size_t i = 0; i < files.count; i++)
		if (!count || !same_job((*ids)[count - 1], files.items[i].id))
			(*ids)[count++] = files.items[i].id;
	return count;
}

static size_t paths_of(const struct files *files, const char *const **paths)
{
	const char **list =
		cp_arena_alloc(files->arena, (files->count + 1) * sizeof(*list));

	for (size_t i = 0; i < files->count; i++)
		list[i] = files->items[i].path;
	*paths = list;
	return files->count;
}

size_t cp_jobs_paths(struct cp_arena *arena, const char *directory, struct cp_job_id id,
	int rank, const char *const **paths)
{
	struct files files = {arena, directory, is_of_job, id, rank, NULL, 0, 0};

	read_names(&files);
	return paths_of(&files, paths);
}

size_t cp_jobs_rest(
	struct cp_arena *arena, const char *directory, const char *const **paths)
{
	const struct cp_job_id none = {0, 0};
	struct cp_job_id *jobs;
	const char **whole;

	if (cp_jobs_in(arena, directory, 0, &jobs))
		return cp_jobs_paths(arena, directory, none, -1, paths);
	whole = cp_arena_alloc(arena, sizeof(*whole));
	whole[0] = directory;
	*paths = whole;
	return 1;
}

int cp_jobs_rank(const char *path)
{
	struct cp_job_id id;
	int rank;

	return cp_job_parse(cp_base_name(path), &id, &rank) ? rank : -1;
}
