/* SPDX-License-Identifier: MIT */
#include "regions/jobdir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/format.h"
#include "base/text.h"

#define MAX_PATH 640
#define MAX_JOBS 100000
#define LOCK_TRIES 5000 /* of 2 ms */

/* ---- names ---- */

void cp_job_ending(struct cp_job_id id, int rank, char to[CP_JOB_ENDING])
{
	cp_format(to, CP_JOB_ENDING, "%016llx-%u.r%d.rec", (unsigned long long)id.scope,
		id.number, rank);
}

static bool parse_hex(const char **at, uint64_t *value)
{
	*value = 0;
	for (int i = 0; i < 16; i++, ++*at) {
		char c = **at;

		if (c >= '0' && c <= '9')
			*value = *value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*value = *value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return false;
	}
	return true;
}

static bool parse_number(const char **at, const char *before, uint64_t *value)
{
	size_t length = strlen(before);

	if (strncmp(*at, before, length) != 0)
		return false;
	*at += length;
	return **at >= '0' && **at <= '9' && cp_parse_u64_prefix(*at, at, value) == 0 &&
	       *value <= INT32_MAX;
}

bool cp_job_parse(const char *name, struct cp_job_id *id, int *rank)
{
	const char *at = strchr(name, '.');
	uint64_t number, its_rank;

	if (!at++ || !parse_hex(&at, &id->scope) || !parse_number(&at, "-", &number) ||
		!parse_number(&at, ".r", &its_rank) || strcmp(at, ".rec") != 0 ||
		number == 0)
		return false;
	id->number = (unsigned)number;
	*rank = (int)its_rank;
	return true;
}

/* ---- numbers ---- */

/* 1: it is the job's, 0: another's, or -errno. */
static int claim_directory(const char *path, const char *key)
{
	char found[32];
	ssize_t length;

	if (symlink(key, path) == 0)
		return 1;
	if (errno != EEXIST)
		return -errno;
	length = readlink(path, found, sizeof(found) - 1);
	if (length < 0)
		return -errno;
	found[length] = '\0';
	return strcmp(found, key) == 0;
}

unsigned cp_job_claim(const char *directory, uint64_t scope, unsigned pass, uint64_t key)
{
	char path[MAX_PATH], text[20];

	cp_format(text, sizeof(text), "%016llx", (unsigned long long)key);
	for (unsigned number = 1; number < MAX_JOBS; number++) {
		int result;

		if (cp_format(path, sizeof(path), "%s/%016llx-p%u-%u.job", directory,
			    (unsigned long long)scope, pass, number) >= sizeof(path))
			return 0;
		result = claim_directory(path, text);
		if (result)
			return result > 0 ? number : 0;
	}
	return 0;
}

uint64_t cp_job_spawned(const char *directory, uint64_t key, int rank)
{
	char path[MAX_PATH];

	for (unsigned number = 0; number < MAX_JOBS; number++) {
		if (cp_format(path, sizeof(path), "%s/%016llx-r%d-%u.job", directory,
			    (unsigned long long)key, rank, number) >= sizeof(path))
			break;
		if (symlink("-", path) == 0)
			return key + number;
		if (errno != EEXIST)
			break;
	}
	return key;
}

/* ---- notes ---- */

static bool above_path(
	char path[MAX_PATH], const char *directory, uint64_t scope, pid_t pid)
{
	return cp_format(path, MAX_PATH, "%s/%d-%016llx.above", directory, (int)pid,
		       (unsigned long long)scope) < MAX_PATH;
}

void cp_job_set_above(const char *directory, uint64_t scope, pid_t pid)
{
	char path[MAX_PATH];

	if (above_path(path, directory, scope, pid) && symlink("-", path) < 0)
		return; /* it is there already, or the run has no place for it */
}

static bool path_exists(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool cp_job_is_above(const char *directory, uint64_t scope, pid_t pid)
{
	char path[MAX_PATH];

	return above_path(path, directory, scope, pid) && path_exists(path);
}

static bool path_of(char path[MAX_PATH], const char *directory, struct cp_job_id id,
	const char *ending)
{
	return cp_format(path, MAX_PATH, "%s/%016llx-%u%s", directory,
		       (unsigned long long)id.scope, id.number, ending) < MAX_PATH;
}

static const char *const lines[] = {"-failed.told", "-number.told"};

bool cp_job_tells(const char *directory, struct cp_job_id id, enum cp_job_line line)
{
	char path[MAX_PATH];

	return path_of(path, directory, id, lines[line]) && symlink("-", path) == 0;
}

bool cp_job_is_told(const char *directory, struct cp_job_id id, enum cp_job_line line)
{
	char path[MAX_PATH];

	return path_of(path, directory, id, lines[line]) && path_exists(path);
}

/* ---- one writer ---- */

int cp_job_lock(const char *directory, struct cp_job_id id)
{
	const struct timespec pause = {0, 2000000};
	char path[MAX_PATH];
	int lock;

	if (!path_of(path, directory, id, ".lock"))
		return -1;
	lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	for (unsigned tries = 0; lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0;
		tries++) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || tries == LOCK_TRIES) {
			cp_fd_close(lock);
			return -1;
		}
		nanosleep(&pause, NULL);
	}
	return lock;
}

void cp_job_unlock(int lock)
{
	if (lock >= 0)
		cp_fd_close(lock);
}
