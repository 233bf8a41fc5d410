/* SPDX-License-Identifier: MIT */
#include "base/files/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/syscall.h"
#include "base/text.h"

#define MAX_LINKS 16
#define MAX_NAMES 100 /* left by processes of the same number that were killed */

/* ---- what is there ---- */

/* Length of the directory's part of path, with its last slash. */
static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool is_mine(const struct stat *file)
{
	return file->st_uid == geteuid() || file->st_uid == 0;
}

/* Is it the user's, or where nobody else could have put it? */
static bool may_use(const char *path, const struct stat *file)
{
	char parent[CP_NEW_FILE_PATH];
	struct stat directory;

	if (is_mine(file))
		return true;
	cp_format(parent, sizeof(parent), "%.*s.", (int)directory_length(path), path);
	return stat(parent, &directory) == 0 && is_mine(&directory) &&
	       !(directory.st_mode & (S_IWGRP | S_IWOTH));
}

/* Puts what the link at path says in its place. */
static const char *follow_link(char path[CP_NEW_FILE_PATH])
{
	char target[CP_NEW_FILE_PATH];
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	size_t kept;

	if (length < 0)
		return cp_error_text(errno);
	target[length] = '\0';
	kept = *target == '/' ? 0 : directory_length(path);
	if (kept + (size_t)length >= CP_NEW_FILE_PATH)
		return cp_error_text(ENAMETOOLONG);
	memcpy(path + kept, target, (size_t)length + 1);
	return NULL;
}

/* The number of a path that names a descriptor, as /dev/stdout does; -1: none. */
static int descriptor_named(const char *path)
{
	static const char *const before[] = {"/proc/self/fd/", "/dev/fd/"};
	uint64_t number;

	for (unsigned i = 0; i < 2; i++)
		if (cp_starts_with(path, before[i]) &&
			cp_parse_u64(path + strlen(before[i]), &number) == 0 &&
			number <= INT_MAX)
			return (int)number;
	return -1;
}

/* Sets file->path to what is behind all links, *there to what that is (no mode:
 * nothing).  Other links of /proc lead to what may have no name. */
static const char *resolve_links(struct cp_new_file *file, struct stat *there)
{
	for (int links = 0; links < MAX_LINKS; links++) {
		const char *why;

		there->st_mode = 0;
		if (descriptor_named(file->path) >= 0)
			return NULL;
		if (lstat(file->path, there) < 0)
			return errno == ENOENT ? NULL : cp_error_text(errno);
		if (!S_ISLNK(there->st_mode) || cp_starts_with(file->path, "/proc/"))
			return NULL;
		if (!may_use(file->path, there))
			return "it is a link of another user";
		why = follow_link(file->path);
		if (why)
			return why;
	}
	return cp_error_text(ELOOP);
}

/* ---- opening ---- */

/* With the offset of what is open already. */
static const char *open_descriptor(struct cp_new_file *file)
{
	file->fd = fcntl(descriptor_named(file->path), F_DUPFD_CLOEXEC, 0);
	return file->fd < 0 ? cp_error_text(errno) : NULL;
}

/* At the end: what has been written there stays. */
static const char *open_in_place(
	struct cp_new_file *file, const struct stat *there, bool wait)
{
	int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY;

	if (S_ISDIR(there->st_mode))
		return cp_error_text(EISDIR);
	if (!S_ISLNK(there->st_mode)) {
		flags |= O_NOFOLLOW;
		if (!S_ISCHR(there->st_mode) && !may_use(file->path, there))
			return "it belongs to another user";
	}
	file->fd = open(file->path, wait ? flags : flags | O_NONBLOCK);
	if (file->fd < 0)
		return errno == ENXIO ? "nothing reads from it" : cp_error_text(errno);
	cp_syscall(SYS_fcntl, file->fd, F_SETFL, O_WRONLY | O_APPEND);
	return NULL;
}

/* Where files can be written to, but none can be made. */
static const char *open_again(struct cp_new_file *file, const struct stat *there)
{
	int error = errno;
	struct stat opened;

	file->fresh[0] = '\0';
	if (!there->st_mode || there->st_uid != geteuid() || error == ENAMETOOLONG)
		return cp_error_text(error);
	file->fd = open(
		file->path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (file->fd < 0)
		return cp_error_text(errno);
	if (cp_fd_stat(file->fd, &opened) == 0 && opened.st_ino == there->st_ino &&
		opened.st_dev == there->st_dev && ftruncate(file->fd, 0) == 0)
		return NULL;
	cp_fd_close(file->fd);
	return cp_error_text(error);
}

/* Nobody else may write to it, whatever umask a daemon has. */
static int open_beside(struct cp_new_file *file)
{
	size_t directory = directory_length(file->path);

	for (int n = 0; n < MAX_NAMES; n++) {
		if (cp_format(file->fresh, sizeof(file->fresh), "%.*s.cachepeek-%d-%d",
			    (int)directory, file->path, (int)getpid(),
			    n) >= sizeof(file->fresh)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		file->fd = open(file->fresh,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (file->fd >= 0 || errno != EEXIST)
			return file->fd;
	}
	return -1;
}

static const char *open_fresh(struct cp_new_file *file, const struct stat *there)
{
	mode_t mode = there->st_mode & 0777;
	struct stat made;

	if (open_beside(file) < 0)
		return open_again(file, there);
	if (S_ISREG(there->st_mode) && there->st_uid == geteuid() &&
		cp_fd_stat(file->fd, &made) == 0 && (made.st_mode & 0777) != mode)
		fchmod(file->fd, mode);
	return NULL;
}

const char *cp_new_file_open(struct cp_new_file *file, const char *path, bool wait)
{
	struct stat there;
	const char *why;

	file->fd = -1;
	file->fresh[0] = '\0';
	if (cp_format(file->path, sizeof(file->path), "%s", path) >= sizeof(file->path))
		return cp_error_text(ENAMETOOLONG);
	why = resolve_links(file, &there);
	if (why)
		return why;
	if (descriptor_named(file->path) >= 0)
		return open_descriptor(file);
	if (there.st_mode && !S_ISREG(there.st_mode))
		return open_in_place(file, &there, wait);
	return open_fresh(file, &there);
}

/* ---- the end ---- */

int cp_new_file_finish(struct cp_new_file *file, int error)
{
	int closed = cp_fd_close(file->fd);

	file->fd = -1;
	if (!error)
		error = closed;
	if (!file->fresh[0])
		return error;
	if (!error && rename(file->fresh, file->path) < 0)
		error = -errno;
	if (error)
		unlink(file->fresh);
	return error;
}
