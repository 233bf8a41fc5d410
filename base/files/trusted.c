/* SPDX-License-Identifier: MIT */
#include "base/files/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/format.h"

#define MAX_PATH 4096

static bool is_mine(const struct stat *file)
{
	return file->st_uid == geteuid() || file->st_uid == 0;
}

/* Bits of others who can write to it. */
static mode_t bits_of_writers(const struct stat *file)
{
	mode_t bits = file->st_mode & (S_IWGRP | S_IWOTH);

	return file->st_gid == file->st_uid ? bits & ~(mode_t)S_IWGRP : bits;
}

/* The same of those who can reach what is in the directory. */
static mode_t bits_of_visitors(const struct stat *directory)
{
	return (directory->st_mode & S_IXGRP ? S_IWGRP : 0) |
	       (directory->st_mode & S_IXOTH ? S_IWOTH : 0);
}

/* The status of the directory that holds name. */
static int stat_parent(int directory, const char *name, struct stat *parent)
{
	const char *slash = strrchr(name, '/');
	char path[MAX_PATH];

	if (!slash)
		return directory == AT_FDCWD ? stat(".", parent)
					     : cp_fd_stat(directory, parent);
	if (cp_format(path, sizeof(path), "%.*s.", (int)(slash - name + 1), name) >=
		sizeof(path))
		return -ENAMETOOLONG;
	return stat(path, parent);
}

static int check_found(
	int directory, const char *name, const struct stat *file, char *why, size_t size)
{
	struct stat parent;

	if (stat_parent(directory, name, &parent) < 0) {
		cp_format(why, size, "its directory cannot be read");
		return -EACCES;
	}
	if (!is_mine(file) &&
		(file->st_uid != parent.st_uid || bits_of_writers(&parent))) {
		cp_format(why, size,
			"it belongs to another user (%u): left out; "
			"copy or chown it if you trust it",
			(unsigned)file->st_uid);
		return -EPERM;
	}
	if (bits_of_writers(file) & bits_of_visitors(&parent)) {
		cp_format(why, size,
			"other users may write to it: left out; "
			"chmod go-w it if you trust it");
		return -EPERM;
	}
	return 0;
}

/* Is it a regular file, and not too large? */
static int check_kind(const struct stat *file, uint64_t most, char *why, size_t size)
{
	if (!S_ISREG(file->st_mode)) {
		cp_format(why, size, "%s: name a regular file",
			S_ISDIR(file->st_mode)    ? "it is a directory"
			: S_ISFIFO(file->st_mode) ? "it is a FIFO"
						  : "it is a device or a socket");
		return S_ISDIR(file->st_mode) ? -EISDIR : -EINVAL;
	}
	if ((uint64_t)file->st_size > most) {
		cp_format(why, size,
			"it is larger than %lu KiB, more than such a file has: "
			"name another one",
			(unsigned long)(most >> 10));
		return -EFBIG;
	}
	return 0;
}

static int look_at(int fd, struct stat *file, uint64_t most, char *why, size_t size)
{
	int error = cp_fd_stat(fd, file);

	if (error) {
		cp_format(why, size, "%s", cp_error_text(error));
		return error;
	}
	return check_kind(file, most, why, size);
}

int cp_trusted_check_found(
	int fd, int directory, const char *name, char *why, size_t size)
{
	struct stat file;
	int error = look_at(fd, &file, UINT64_MAX, why, size);

	return error ? error : check_found(directory, name, &file, why, size);
}

static void explain_open(int error, enum cp_trust trust, char *why, size_t size)
{
	const char *text = cp_error_text(error), *cure = "";

	if (error == -ELOOP && trust == CP_FOUND)
		text = "it is a symbolic link: left out; name what it leads to";
	else if (error == -ENXIO)
		text = "it is a device or a socket: name a regular file";
	else if (error == -ENOENT || error == -ENOTDIR)
		cure = ": check the path";
	else if (error == -EACCES)
		cure = ": name one that you may read";
	cp_format(why, size, "%s%s", text, cure);
}

int cp_trusted_open(int directory, const char *name, enum cp_trust trust, uint64_t most,
	char *why, size_t size)
{
	int fd = openat(directory, name,
		    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
			    (trust == CP_FOUND ? O_NOFOLLOW : 0)),
	    error;
	struct stat file;

	if (fd < 0) {
		error = -errno;
		explain_open(error, trust, why, size);
		return error;
	}
	error = look_at(fd, &file, most, why, size);
	if (!error && trust == CP_FOUND)
		error = check_found(directory, name, &file, why, size);
	if (!error)
		return fd;
	cp_fd_close(fd);
	return error;
}

int cp_trusted_load(const char *path, enum cp_trust trust, char *to, size_t room,
	char *why, size_t size)
{
	int fd = cp_trusted_open(AT_FDCWD, path, trust, room - 1, why, size);
	size_t used = 0;
	ssize_t n = 1;

	if (fd < 0)
		return fd;
	while (n > 0 && used < room - 1) {
		n = read(fd, to + used, room - 1 - used);
		used += n > 0 ? (size_t)n : 0;
	}
	if (n < 0) {
		n = -errno;
		cp_format(why, size, "%s", cp_error_text(errno));
	}
	to[used] = '\0';
	cp_fd_close(fd);
	return n < 0 ? (int)n : 0;
}
