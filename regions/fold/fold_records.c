/* SPDX-License-Identifier: MIT
 *
 * Which records of a directory are folded, and into which.
 *
 * Whoever folds holds a lock (flock) on the directory, and whoever reads all of it for
 * a report holds the shared one.  A sum replaces the one before it by rename(2), and
 * names the records that it took last: if the process is killed before it has
 * removed them, they are known to be in it.
 */
#include "regions/fold/fold_records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/directory.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/space.h"
#include "base/syscall.h"
#include "base/text.h"
#include "regions/fold/fold_sum.h"
#include "regions/record_read.h"

#define NAME 40
#define MAX_NAMES 2048 /* that one pass looks at */
#define MAX_SUMS 48    /* kinds of process */

struct names {
	unsigned count;
	uint64_t bytes;
	char (*name)[NAME];
};

struct folding {
	struct cp_arena arena;
	int dir;
	struct names singles, sums;
	unsigned nkinds;
	struct kind {
		const char *file; /* the sum that is there already; NULL: none */
		struct cp_sum_of sum;
		unsigned ntaken;
		const char **taken;
	} kinds[MAX_SUMS];
};

static bool is_sum(const char *name)
{
	return cp_starts_with(name, "folded-") && cp_ends_with(name, ".rec");
}

/* PID-IMAGE.rec: those of MPI's jobs have more in their names, and stay. */
static bool is_single(const char *name)
{
	uint64_t number;

	return cp_parse_u64_prefix(name, &name, &number) == 0 && *name == '-' &&
	       cp_parse_u64_prefix(name + 1, &name, &number) == 0 &&
	       strcmp(name, ".rec") == 0;
}

static bool note_name(void *context, int dir, const char *name)
{
	struct folding *folding = context;
	struct names *names = is_sum(name) ? &folding->sums : &folding->singles;
	struct stat status;

	if (fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		folding->singles.bytes += (uint64_t)status.st_blocks * 512;
	if (!(is_sum(name) || is_single(name)) || strlen(name) >= NAME ||
		names->count == MAX_NAMES)
		return false;
	cp_format(names->name[names->count++], NAME, "%s", name);
	return false;
}

static void list_records(struct folding *folding)
{
	size_t size = sizeof(char[NAME]);

	folding->singles.name = cp_arena_alloc(&folding->arena, MAX_NAMES * size);
	folding->sums.name = cp_arena_alloc(&folding->arena, MAX_NAMES * size);
	cp_directory_any(folding->dir, note_name, folding);
}

/* ---- what may be folded ---- */

/* Has its writer gone?  Until then it has the lock. */
static bool is_free(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool is = fd >= 0 && cp_syscall(SYS_flock, fd, LOCK_EX | LOCK_NB) == 0;

	if (fd >= 0)
		cp_fd_close(fd);
	return is;
}

static bool has_lost_threads(const struct cp_record *record)
{
	for (size_t i = 0; i < record->nthreads; i++)
		if (record->threads[i]->state & CP_THREAD_LOST)
			return true;
	return false;
}

/* The lock tells more, but a program may have taken its descriptor. */
static bool has_gone(const struct cp_record_header *header)
{
	return header->how != CP_HOW_RUNNING || !cp_process_exists(header->pid);
}

static bool may_fold(const struct cp_record *record)
{
	const struct cp_record_header *header = record->header;

	return header->flags & CP_RECORD_HELD && has_gone(header) &&
	       !(header->flags & (CP_RECORD_ROOT | CP_RECORD_JUMPED)) &&
	       !record->damaged && !record->series && !has_lost_threads(record);
}

/* Notes of programs that were followed are of no more use. */
static bool is_followed(
	const struct folding *folding, const char *note, int32_t writer, uint32_t image)
{
	char start[24];
	const char *end;
	uint64_t pid;

	if (cp_parse_u64_prefix(note, &end, &pid) < 0)
		return true;
	cp_format(start, sizeof(start), "%llu-", (unsigned long long)pid);
	for (unsigned i = 0; i < folding->singles.count; i++) {
		const char *name = folding->singles.name[i];
		uint64_t number;

		if (cp_starts_with(name, start) &&
			cp_parse_u64_prefix(name + strlen(start), &end, &number) == 0 &&
			((int32_t)pid != writer || number > image))
			return true;
	}
	return false;
}

/* Is it a note that each process has for itself? */
static bool is_own(const struct cp_meta_item *meta)
{
	return cp_meta_is(meta, "warning") || cp_meta_is(meta, "object") ||
	       cp_meta_is(meta, "line_seen") || cp_meta_is(meta, "no_line") ||
	       cp_meta_is(meta, "function_seen") || cp_meta_is(meta, "no_function") ||
	       cp_meta_is(meta, "case_seen") || cp_meta_is(meta, "no_case") ||
	       cp_meta_is(meta, "functions_untold") || cp_meta_is(meta, "function_note");
}

static void keep_notes(
	struct folding *folding, struct cp_sum_of *sum, const struct cp_record *record)
{
	for (size_t i = 0; i < record->nmetas; i++) {
		const struct cp_meta_item *meta = record->metas[i];

		if (cp_meta_is(meta, "program")
				? !is_followed(folding, cp_meta_value(meta),
					  record->header->pid, record->header->image)
				: is_own(meta))
			cp_sum_note(sum, meta);
	}
}

/* ---- one after the other ---- */

static void read_sums(struct folding *folding)
{
	for (unsigned i = 0; i < folding->sums.count && folding->nkinds < MAX_SUMS; i++) {
		struct kind *kind = &folding->kinds[folding->nkinds];
		struct cp_record record;
		char error[200];

		if (cp_record_read(&folding->arena, folding->dir, folding->sums.name[i],
			    &record, error, sizeof(error)) < 0 ||
			!record.header->folded)
			continue;
		kind->file = folding->sums.name[i];
		cp_sum_start(&kind->sum, &folding->arena, &record);
		folding->nkinds++;
	}
}

/* Has another process folded it, and been unable to remove it? */
static bool was_taken(
	struct folding *folding, const char *name, const struct cp_record *record)
{
	for (unsigned i = 0; i < folding->nkinds; i++)
		if (folding->kinds[i].file &&
			cp_record_has_folded(&folding->kinds[i].sum.first, name, record))
			return true;
	return false;
}

static struct kind *kind_of(struct folding *folding, const struct cp_record *record)
{
	struct kind *kind = folding->kinds;

	for (; kind < folding->kinds + folding->nkinds; kind++)
		if (cp_sum_is_like(&kind->sum, record))
			return kind;
	if (folding->nkinds == MAX_SUMS)
		return NULL;
	folding->nkinds++;
	cp_sum_start(&kind->sum, &folding->arena, record);
	return kind;
}

static void take_record(struct folding *folding, const char *name)
{
	struct cp_record record;
	struct kind *kind;
	char error[200];

	if (!is_free(folding->dir, name) ||
		cp_record_read(&folding->arena, folding->dir, name, &record, error,
			sizeof(error)) < 0 ||
		!may_fold(&record))
		return;
	if (was_taken(folding, name, &record)) {
		unlinkat(folding->dir, name, 0);
		return;
	}
	kind = kind_of(folding, &record);
	if (!kind)
		return;
	if (!kind->taken)
		kind->taken = cp_arena_alloc(
			&folding->arena, folding->singles.count * sizeof(char *));
	keep_notes(folding, &kind->sum, &record);
	cp_sum_add(&kind->sum, &record, name);
	kind->taken[kind->ntaken++] = name;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
	if (size > cp_space_limit())
		return false;
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static bool replace_file(struct folding *folding, struct kind *kind)
{
	static const char fresh[] = "folding.tmp.log";
	char name[NAME];
	size_t size;
	const char *bytes = cp_sum_bytes(&kind->sum, &size);
	int fd;
	bool done;

	if (kind->file)
		cp_format(name, sizeof(name), "%s", kind->file);
	else
		cp_format(name, sizeof(name), "folded-%d-%u.rec", (int)getpid(),
			(unsigned)(kind - folding->kinds));
	unlinkat(folding->dir, fresh, 0);
	fd = openat(folding->dir, fresh,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	done = write_all(fd, bytes, size);
	cp_fd_close(fd);
	done = done && renameat(folding->dir, fresh, folding->dir, name) == 0;
	if (!done)
		unlinkat(folding->dir, fresh, 0);
	return done;
}

/* The simulator's messages go with the record, where there are none. */
static void remove_single(int dir, const char *name)
{
	char log[NAME + 16];
	struct stat status;

	unlinkat(dir, name, 0);
	cp_format(log, sizeof(log), "%.*s-simulator.log", (int)strcspn(name, "-"), name);
	if (fstatat(dir, log, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_size == 0)
		unlinkat(dir, log, 0);
}

/* Folding a single record saves nothing. */
static void finish_kind(struct folding *folding, struct kind *kind)
{
	if (kind->ntaken + (kind->file != NULL) < 2 || !replace_file(folding, kind))
		return;
	for (unsigned i = 0; i < kind->ntaken; i++)
		remove_single(folding->dir, kind->taken[i]);
}

static void fold_all(struct folding *folding)
{
	read_sums(folding);
	for (unsigned i = 0; i < folding->singles.count; i++)
		take_record(folding, folding->singles.name[i]);
	for (unsigned i = 0; i < folding->nkinds; i++)
		finish_kind(folding, &folding->kinds[i]);
}

static void look_for_records(struct folding *folding)
{
	list_records(folding);
	if (folding->singles.count <= CP_FOLD_FROM ||
		cp_syscall(SYS_flock, folding->dir, LOCK_EX | LOCK_NB) < 0)
		return;
	fold_all(folding);
	cp_syscall(SYS_flock, folding->dir, LOCK_UN);
}

int64_t cp_records_fold(const char *directory)
{
	static struct folding folding; /* one thread, at the start of a process */
	struct cp_escape out_of_memory;
	int64_t bytes;

	memset(&folding, 0, sizeof(folding));
	folding.dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folding.dir < 0)
		return -errno;
	folding.arena.out_of_memory = &out_of_memory;
	if (CP_ESCAPE_SET(out_of_memory) == 0)
		look_for_records(&folding);
	bytes = (int64_t)folding.singles.bytes;
	cp_syscall(SYS_flock, folding.dir, LOCK_UN);
	cp_fd_close(folding.dir);
	cp_arena_free(&folding.arena);
	return bytes;
}

void cp_records_refuse(const char *directory)
{
	char path[600];
	int fd;

	if (cp_format(path, sizeof(path), "%s/%s", directory, CP_RECORDS_REFUSED) >=
		sizeof(path))
		return;
	fd = open(path,
		O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		0600);
	if (fd < 0)
		return;
	if (cp_space_limit() > 1u << 30 && write(fd, "+", 1) < 0)
		errno = 0; /* there is nowhere to say so */
	cp_fd_close(fd);
}
