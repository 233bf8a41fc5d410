/* SPDX-License-Identifier: MIT
 *
 * cachepeek merge: one report of all ranks of a job, from their records.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "base/text.h"
#include "base/files/trusted.h"
#include "output/report/job.h"
#include "output/report/report_parts.h"
#include "tools/shared/cmd.h"
#include "tools/shared/show.h"

/* A record, and whose it is. */
struct found {
	char *path;
	int32_t rank, root_pid;
	uint64_t realtime_ns;
};

struct list {
	struct found *items;
	size_t count, room;
};

static void append_record(struct list *list, struct found found)
{
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		struct found *more = realloc(list->items, room * sizeof(*more));

		if (!more) {
			fprintf(stderr, "cachepeek: merge: out of memory\n");
			exit(1);
		}
		list->items = more;
		list->room = room;
	}
	list->items[list->count++] = found;
}

static bool read_header(const char *path, struct cp_record_header *header)
{
	char why[160];
	int fd = cp_trusted_open(AT_FDCWD, path, CP_NAMED, UINT64_MAX, why, sizeof(why));
	bool read = fd >= 0 && pread(fd, header, sizeof(*header), 0) == sizeof(*header) &&
		    memcmp(header->magic, CP_RECORD_MAGIC, sizeof(header->magic)) == 0;

	if (fd >= 0)
		close(fd);
	return read;
}

/* A file that is no record is left to the reader, which gives the reason. */
static void add_record(struct list *list, const char *path)
{
	struct cp_record_header header = {.rank = -1};
	struct found found = {strdup(path), -1, 0, 0};

	if (found.path && read_header(path, &header)) {
		found.rank = header.rank;
		found.root_pid = header.root_pid;
		found.realtime_ns = header.realtime_ns;
	}
	if (found.path)
		append_record(list, found);
}

/* A file that another user may have put there is named and left out. */
static void add_found(struct list *list, const char *path)
{
	char why[160];
	int fd = cp_trusted_open(AT_FDCWD, path, CP_FOUND, UINT64_MAX, why, sizeof(why));

	if (fd < 0) {
		fprintf(stderr, "cachepeek: merge: %s: %s\n", path, why);
		return;
	}
	close(fd);
	add_record(list, path);
}

/* Directories of ranks may be inside the job's. */
static void add_directory(struct list *list, const char *path, unsigned depth)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	char *inside;

	while (directory && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.' ||
			asprintf(&inside, "%s/%s", path, entry->d_name) < 0)
			continue;
		if (cp_ends_with(entry->d_name, ".rec"))
			add_found(list, inside);
		else if (depth > 0 && entry->d_type != DT_REG)
			add_directory(list, inside, depth - 1);
		free(inside);
	}
	if (directory)
		closedir(directory);
}

static int compare_records(const void *one, const void *other)
{
	const struct found *a = one, *b = other;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->rank < 0 && a->root_pid != b->root_pid)
		return a->root_pid < b->root_pid ? -1 : 1;
	if (a->realtime_ns != b->realtime_ns)
		return a->realtime_ns < b->realtime_ns ? -1 : 1;
	return strcmp(a->path, b->path);
}

static bool same_rank(const struct found *a, const struct found *b)
{
	return a->rank == b->rank && (a->rank >= 0 || a->root_pid == b->root_pid);
}

static void add_ranks(
	struct cp_job *job, const struct list *list, char *error, size_t error_size)
{
	const char **paths = calloc(list->count + 1, sizeof(*paths));

	for (size_t i = 0, n = 0; paths && i < list->count; i += n) {
		for (n = 0; i + n < list->count &&
			    same_rank(&list->items[i], &list->items[i + n]);
			n++)
			paths[n] = list->items[i + n].path;
		if (!cp_job_add(job, paths, n, error, error_size))
			cp_report_warn(&job->report, "%s", error);
	}
	free(paths);
}

static const struct cp_report *merge_records(
	struct cp_arena *arena, const struct list *list, char *error, size_t error_size)
{
	struct cp_escape *outer = arena->out_of_memory, out_of_memory;
	const struct cp_report *volatile report = NULL;

	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		struct cp_job *job;

		arena->out_of_memory = &out_of_memory;
		job = cp_job_new(arena);
		add_ranks(job, list, error, error_size);
		report = cp_job_finish(job);
	} else {
		cp_format(error, error_size, "out of memory for the report");
	}
	arena->out_of_memory = outer;
	return report;
}

static const struct cp_report *build_report(struct cp_arena *arena,
	const char *const *paths, size_t npaths, char *error, size_t error_size)
{
	struct list list = {0};
	const struct cp_report *report;
	struct stat status;

	for (size_t i = 0; i < npaths; i++) {
		if (stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode))
			add_directory(&list, paths[i], 1);
		else
			add_record(&list, paths[i]);
	}
	cp_format(error, error_size,
		"%s holds no run records (*.rec): name a directory that -d named",
		paths[0]);
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), compare_records);
	report = merge_records(arena, &list, error, error_size);
	for (size_t i = 0; i < list.count; i++)
		free(list.items[i].path);
	free(list.items);
	return report;
}

int cp_cmd_merge(int argc, char **argv)
{
	return cp_show(argv, argc, build_report, false);
}
