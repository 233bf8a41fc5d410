/* SPDX-License-Identifier: MIT
 *	taken_numbers FILE
 * Puts FILE on each number that it may have, by system calls of its own, and closes it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int file =
		open(argc > 1 ? argv[1] : "/dev/null", O_RDWR | O_CREAT | O_APPEND, 0600);
	struct rlimit limit;
	long taken = 0;

	getrlimit(RLIMIT_NOFILE, &limit);
	for (long fd = file + 1; fd < (long)limit.rlim_cur; fd++)
		taken += syscall(SYS_dup3, file, fd, O_CLOEXEC) == fd;
	for (long fd = file + 1; fd < (long)limit.rlim_cur; fd++)
		syscall(SYS_close, fd);
	printf("%ld of %ld\n", taken, (long)limit.rlim_cur - file - 1);
	return 0;
}
