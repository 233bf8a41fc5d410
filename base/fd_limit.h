/* SPDX-License-Identifier: MIT
 *
 * Where there are descriptor numbers that the program cannot get: above its limit.
 */
#ifndef CACHEPEEK_BASE_FD_LIMIT_H
#define CACHEPEEK_BASE_FD_LIMIT_H

/* Descriptors from here on are never kept. */
#define CP_FD_MAX (1 << 17)

/*
 * A duplicate of fd, close-on-exec, with the best number that there is: above the
 * soft limit where the hard limit or the process's rights leave room, else in the
 * upper half of what the program may use.  A program that may have no more than
 * CP_FD_FEW has each of them: -EMFILE.
 */
#define CP_FD_FEW 64
int cp_fd_duplicate_high(int fd);

#endif
