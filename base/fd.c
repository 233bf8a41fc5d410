/* SPDX-License-Identifier: MIT */
#include "base/fd.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/syscall.h"

static int *slots[CP_FD_MAX];              /* atomic; untouched pages cost nothing */
static int lowest = INT_MAX, highest = -1; /* atomic; bounds, never narrowed */
static int hidden = INT_MAX;               /* and beyond; set once */

int cp_fd_close(int fd)
{
	return (int)cp_syscall(SYS_close, fd);
}

/* libc's struct stat is the kernel's where there are 64 bits. */
int cp_fd_stat(int fd, struct stat *file)
{
	return (int)cp_syscall(SYS_fstat, fd, file);
}

int cp_fd_stat_in(int directory, const char *name, struct stat *file)
{
	return (int)cp_syscall(
		SYS_newfstatat, directory, name, file, AT_SYMLINK_NOFOLLOW);
}

static int *slot_of(int fd)
{
	if (fd < __atomic_load_n(&lowest, __ATOMIC_RELAXED) || fd >= CP_FD_MAX)
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

void cp_fd_table(int ***all, int **first, int **last)
{
	*all = slots;
	*first = &lowest;
	*last = &highest;
}

int cp_fd_next(unsigned first, unsigned last)
{
	int end = __atomic_load_n(&highest, __ATOMIC_RELAXED), fd;
	int begin = __atomic_load_n(&lowest, __ATOMIC_RELAXED);

	if (end < 0)
		return -1;
	if (last < (unsigned)end)
		end = (int)last;
	if (first > (unsigned)begin)
		begin = first > INT_MAX ? INT_MAX : (int)first;
	for (fd = begin; fd <= end; fd++)
		if (slot_of(fd))
			return fd;
	return -1;
}

static void widen_bounds(int fd)
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

static void enter_slot(int fd, int *slot)
{
	widen_bounds(fd);
	__atomic_store_n(&slots[fd], slot, __ATOMIC_RELEASE);
	__atomic_store_n(slot, fd, __ATOMIC_RELEASE);
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

int cp_fd_keep(int *slot)
{
	int low = *slot, high = cp_fd_duplicate_high(low);

	if (high < 0)
		return high;
	enter_slot(high, slot);
	cp_fd_close(low);
	return 0;
}

int cp_fd_keep_duplicate(int fd, int *slot)
{
	int high = cp_fd_duplicate_high(fd);

	*slot = -1;
	if (high < 0)
		return high;
	enter_slot(high, slot);
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
	if (fd < CP_FD_MAX)
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

/* From the top: what came last goes first. */
int cp_fd_yield(int *first_choice)
{
	int end = __atomic_load_n(&highest, __ATOMIC_RELAXED), fd = *first_choice;
	rlim_t limit = cp_fd_limits().rlim_cur;

	if (end >= 0 && (rlim_t)end >= limit)
		end = (int)limit - 1;
	if (fd < 0 || fd > end || !slot_of(fd))
		for (fd = end; fd >= 0 && !slot_of(fd); fd--)
			if (fd < __atomic_load_n(&lowest, __ATOMIC_RELAXED))
				return -1;
	if (fd >= 0)
		cp_fd_forget(fd);
	return fd;
}

int cp_fd_give_way(int fd)
{
	int *slot = slot_of(fd), high;

	if (!slot)
		return 0;
	high = cp_fd_duplicate_high(fd);
	if (high < 0) {
		cp_fd_forget(fd);
		return high;
	}
	enter_slot(high, slot);
	__atomic_store_n(&slots[fd], NULL, __ATOMIC_RELEASE);
	return 0;
}
