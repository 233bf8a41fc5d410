/* SPDX-License-Identifier: MIT */
#include "preload/program/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "base/fd_limit.h"
#include "base/format.h"
#include "base/syscall.h"
#include "base/text.h"

/* The core takes the program's last numbers where there are none above the soft limit,
 * which matters where it may have few.  Before it does, it opens some below. */
enum { CORE_TAKES = 12, CORE_OPENS = 8, MANY = 1024 };

/* How many numbers the kernel's table has, 0 without /proc. */
static uint64_t table_size(void)
{
	static const char field[] = "\nFDSize:\t";
	char text[4096];
	const char *at, *end;
	uint64_t size = 0;

	if (!cp_read_file("/proc/self/status", text, sizeof(text)))
		return 0;
	at = strstr(text, field);
	if (!at || cp_parse_u64_prefix(at + sizeof(field) - 1, &end, &size) < 0)
		return 0;
	return size;
}

/* Ours are not open any more when the simulator begins. */
static bool stays_open(uint64_t fd)
{
	long flags = cp_syscall(SYS_fcntl, fd, F_GETFD);

	return flags >= 0 && !(flags & FD_CLOEXEC);
}

/* Behind the last that is open, if that is above the soft limit; or else the limit. */
static rlim_t end_of_open(rlim_t soft)
{
	uint64_t end = table_size();

	while (end > soft && !stays_open(end - 1))
		end--;
	return end > soft ? end : soft;
}

rlim_t cp_numbers_to_raise(void)
{
	rlim_t soft = cp_fd_limits().rlim_cur, end = end_of_open(soft);

	return end > soft ? end : 0;
}

int cp_numbers_left(struct cp_why *why)
{
	struct rlimit limit = cp_fd_limits();
	rlim_t end = end_of_open(limit.rlim_cur);

	if (end == limit.rlim_cur ? limit.rlim_cur >= MANY ||
					    (limit.rlim_cur >= CORE_OPENS &&
						    limit.rlim_max - end >= CORE_TAKES)
				  : limit.rlim_max >= end + CORE_TAKES &&
					    limit.rlim_cur >= CORE_OPENS)
		return 0;
	cp_format(why->text, sizeof(why->text),
		"the simulated PMU needs %d file descriptors beside the program's, "
		"which may open %llu (hard limit %llu): raise both, `ulimit -n`",
		CORE_TAKES, (unsigned long long)limit.rlim_cur,
		(unsigned long long)limit.rlim_max);
	return -EMFILE;
}

static void set_soft(rlim_t soft)
{
	struct rlimit limit = {soft, cp_fd_limits().rlim_max};

	cp_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
}

rlim_t cp_numbers_raise(void)
{
	rlim_t before = cp_fd_limits().rlim_cur, soft = cp_numbers_to_raise();

	if (!soft)
		return 0;
	set_soft(soft);
	return before;
}

void cp_numbers_lower(rlim_t before)
{
	if (before)
		set_soft(before);
}
