/* SPDX-License-Identifier: MIT */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

int cp_fd_duplicate_high(int fd)
{
	struct rlimit limit, wide;
	int high;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	wide = limit;
	wide.rlim_cur = limit.rlim_max;
	/* The soft limit is ours only during the call. */
	if (limit.rlim_cur < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &wide) == 0) {
		high = fcntl(fd, F_DUPFD_CLOEXEC, (int)limit.rlim_cur);
		if (high < 0)
			high = -errno;
		setrlimit(RLIMIT_NOFILE, &limit);
	} else {
		high = fcntl(fd, F_DUPFD_CLOEXEC, (int)(limit.rlim_cur / 2));
		if (high < 0)
			high = -errno;
	}
	return high;
}

int cp_fd_move_high(int fd)
{
	int high = cp_fd_duplicate_high(fd);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}
