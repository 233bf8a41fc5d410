/* SPDX-License-Identifier: MIT
 *
 * Space of a file that is about to be mapped.  A store into a mapping of a file
 * whose space is not there is a SIGBUS for the program, so every mapping that we
 * store into comes after cp_space_reserve().
 *
 * The simulated PMU includes this file, too: no libc here.
 */
#ifndef CACHEPEEK_BASE_SPACE_H
#define CACHEPEEK_BASE_SPACE_H

#include <stdint.h>

#include "base/syscall.h"

#define CP_SPACE_FSIZE 1 /* RLIMIT_FSIZE */

/* How large the process may make a file: past that the kernel would send the
 * program a SIGXFSZ that is meant for us. */
static inline uint64_t cp_space_limit(void)
{
	uint64_t limit[2] = {UINT64_MAX, UINT64_MAX};

	return cp_syscall(SYS_prlimit64, 0, CP_SPACE_FSIZE, 0, limit) == 0 ? limit[0]
									   : UINT64_MAX;
}

/* Where the file system knows no fallocate(2): NFS before 4.2, ext2, FUSE. */
static inline long cp_space_write_zeros(int fd, uint64_t from, uint64_t size)
{
	static const char zeros[4096];

	while (size) {
		uint64_t part = size < sizeof(zeros) ? size : sizeof(zeros);
		long n = cp_syscall(SYS_pwrite64, fd, zeros, part, from);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? n : -ENOSPC;
		from += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

/* Makes fd, which ends at `from`, longer by `size` bytes of zeros whose space is
 * taken.  0, or -errno, and what was taken is given back. */
static inline long cp_space_reserve(int fd, uint64_t from, uint64_t size)
{
	long result;

	if (from + size > cp_space_limit())
		return -EFBIG;
	do
		result = cp_syscall(SYS_fallocate, fd, 0, from, size);
	while (result == -EINTR);
	if (result == -EOPNOTSUPP || result == -ENOSYS)
		result = cp_space_write_zeros(fd, from, size);
	if (result < 0)
		cp_syscall(SYS_ftruncate, fd, from);
	return result;
}

#endif
