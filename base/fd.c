/* SPDX-License-Identifier: MIT */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/syscall.h"

/* Descriptors from here on are never kept. */
#define MAX_FD (1 << 17)
/* The kernel copies the table up to the highest open number in each fork: no
 * descriptor of ours goes further than it must. */
#define HIGHEST_START (1 << 14)

static int *slots[MAX_FD];                 /* atomic; untouched pages cost nothing */
static int lowest = INT_MAX, highest = -1; /* atomic; bounds, never narrowed */
static int hidden = INT_MAX;               /* and beyond; set once */

/* Innermost; the soft limit is raised while it is held. */
static struct cp_lock limit_lock;
CP_LOCK_LISTED(limit_lock);

int cp_fd_close(int fd)
{
	return (int)cp_syscall(SYS_close, fd);
}

/* libc's struct stat is the kernel's where there are 64 bits. */
int cp_fd_stat(int fd, struct stat *file)
{
	return (int)cp_syscall(SYS_fstat, fd, file);
}

static int *slot_of(int fd)
{
	if (fd < __atomic_load_n(&lowest, __ATOMIC_RELAXED) || fd >= MAX_FD)
		return NULL;
	return __atomic_load_n(&slots[fd], __ATOMIC_ACQUIRE);
}

void cp_fd_hide_beyond_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < INT_MAX)
		hidden = (int)limit.rlim_max;
}

bool cp_fd_is_ours(int fd)
{
	return slot_of(fd) != NULL || fd >= hidden;
}

int cp_fd_next(unsigned first, unsigned last)
{
	int end = __atomic_load_n(&highest, __ATOMIC_RELAXED), fd;
	int begin = __atomic_load_n(&lowest, __ATOMIC_RELAXED);

	if (last < (unsigned)end)
		end = (int)last;
	if (first > (unsigned)begin)
		begin = first > INT_MAX ? INT_MAX : (int)first;
	for (fd = begin; fd <= end; fd++)
		if (slot_of(fd))
			return fd;
	return -1;
}

static void widen(int fd)
{
	int seen = __atomic_load_n(&lowest, __ATOMIC_RELAXED);

	while (fd < seen && !__atomic_compare_exchange_n(&lowest, &seen, fd, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	seen = __atomic_load_n(&highest, __ATOMIC_RELAXED);
	while (fd > seen && !__atomic_compare_exchange_n(&highest, &seen, fd, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void enter(int fd, int *slot)
{
	widen(fd);
	__atomic_store_n(&slots[fd], slot, __ATOMIC_RELEASE);
	__atomic_store_n(slot, fd, __ATOMIC_RELEASE);
}

static int duplicate_from(int fd, rlim_t from)
{
	long high = cp_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from);

	if (high >= MAX_FD) {
		cp_fd_close((int)high);
		return -EMFILE;
	}
	return (int)high;
}

/* Soft limits of the program: while it is raised, and when this thread forked. */
static rlim_t program_limit; /* atomic */
static unsigned changes;     /* atomic; odd while the limit is raised */
static __thread rlim_t limit_at_fork __attribute__((tls_model("initial-exec")));

static void change(unsigned by)
{
	__atomic_add_fetch(&changes, by, __ATOMIC_SEQ_CST);
}

/* The soft limit is ours only during the call. */
static int duplicate_above(int fd, const struct rlimit *limit)
{
	struct rlimit wide = {limit->rlim_max, limit->rlim_max};
	int high;

	__atomic_store_n(&program_limit, limit->rlim_cur, __ATOMIC_RELAXED);
	change(1);
	high = setrlimit(RLIMIT_NOFILE, &wide) < 0 ? -errno
						   : duplicate_from(fd, limit->rlim_cur);
	setrlimit(RLIMIT_NOFILE, limit);
	change(1);
	return high;
}

void cp_fd_before_fork(void)
{
	struct rlimit limit;
	unsigned seen;

	do {
		seen = __atomic_load_n(&changes, __ATOMIC_SEQ_CST);
		if (seen & 1)
			limit.rlim_cur =
				__atomic_load_n(&program_limit, __ATOMIC_RELAXED);
		else if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
			limit.rlim_cur = RLIM_INFINITY;
	} while (seen != __atomic_load_n(&changes, __ATOMIC_SEQ_CST));
	limit_at_fork = limit.rlim_cur;
}

/* The kernel copies limits before it copies memory: `changes` may be even in a
 * child whose limit is the raised one. */
void cp_fd_after_fork(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == limit.rlim_max &&
		limit_at_fork < limit.rlim_cur) {
		limit.rlim_cur = limit_at_fork;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	__atomic_store_n(&changes, 0, __ATOMIC_RELAXED);
}

static int duplicate_high(int fd)
{
	struct rlimit limit;
	int high = -EMFILE;

	cp_lock(&limit_lock);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		high = -errno;
	else if (limit.rlim_cur < limit.rlim_max && limit.rlim_cur < MAX_FD / 2)
		high = duplicate_above(fd, &limit);
	else if (limit.rlim_cur / 2 < HIGHEST_START)
		high = duplicate_from(fd, limit.rlim_cur / 2);
	else
		high = duplicate_from(fd, HIGHEST_START);
	cp_unlock(&limit_lock);
	return high;
}

uint64_t cp_fd_room(int fd)
{
	struct rlimit limit;
	struct stat file;
	off_t at;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
		cp_fd_stat(fd, &file) < 0 || !S_ISREG(file.st_mode))
		return UINT64_MAX;
	at = lseek(fd, 0, SEEK_CUR);
	if (file.st_size > at) /* it may be opened for appending */
		at = file.st_size;
	return (rlim_t)at < limit.rlim_cur ? limit.rlim_cur - (rlim_t)at : 0;
}

bool cp_fd_scarce(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	       limit.rlim_cur >= limit.rlim_max && limit.rlim_cur < HIGHEST_START;
}

int cp_fd_keep(int *slot)
{
	int low = *slot, high = duplicate_high(low);

	if (high < 0)
		return high;
	enter(high, slot);
	cp_fd_close(low);
	return 0;
}

int cp_fd_keep_somewhere(int *slot)
{
	int result = cp_fd_keep(slot);

	if (result < 0 && *slot < MAX_FD)
		enter(*slot, slot);
	return result;
}

int cp_fd_keep_duplicate(int fd, int *slot)
{
	int high = duplicate_high(fd);

	*slot = -1;
	if (high < 0)
		return high;
	enter(high, slot);
	return 0;
}

void cp_fd_drop(int *slot)
{
	int fd = *slot;

	if (fd < 0)
		return;
	*slot = -1;
	/* Closed while it is still ours: the number is the program's only then. */
	cp_fd_close(fd);
	if (fd < MAX_FD)
		__atomic_compare_exchange_n(&slots[fd], &slot, NULL, false,
			__ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void cp_fd_forget(int fd)
{
	int *slot = slot_of(fd);

	if (!slot)
		return;
	__atomic_store_n(slot, -1, __ATOMIC_RELEASE);
	__atomic_store_n(&slots[fd], NULL, __ATOMIC_RELEASE);
}

int cp_fd_give_way(int fd)
{
	int *slot = slot_of(fd), high;

	if (!slot)
		return 0;
	high = duplicate_high(fd);
	if (high < 0) {
		cp_fd_forget(fd);
		return high;
	}
	enter(high, slot);
	__atomic_store_n(&slots[fd], NULL, __ATOMIC_RELEASE);
	return 0;
}
