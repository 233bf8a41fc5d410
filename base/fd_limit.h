/* SPDX-License-Identifier: MIT
 *
 * Where there are descriptor numbers that the program cannot get: above its limit.
 */
#ifndef CACHEPEEK_BASE_FD_LIMIT_H
#define CACHEPEEK_BASE_FD_LIMIT_H

#include <stdbool.h>
#include <sys/resource.h>

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

/* Are there no numbers but those that the program may use, too?  And so few of
 * them that none is ours to keep? */
bool cp_fd_scarce(void);
bool cp_fd_few(void);

/* The program's limits of them. */
struct rlimit cp_fd_limits(void);

/* From now on they are neither asked for nor changed: a filter may forbid that. */
void cp_fd_limits_stop(void);

/* The constructor and the report open several at a time, however few the soft limit
 * allows: while no child and no other image of the program can begin. */
void cp_fd_widen(rlim_t few);
void cp_fd_narrow(void);

/* In the thread that forks, and then in the child: the limits are as they were,
 * whatever another thread, which is not there, had made of them. */
void cp_fd_before_fork(void);
void cp_fd_after_fork(void);

#endif
