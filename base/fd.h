/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_BASE_FD_H
#define CACHEPEEK_BASE_FD_H

/*
 * Moves fd to a number that the program would not get, close-on-exec: above
 * its soft limit where the hard limit leaves room (numbers above the soft limit
 * stay valid), else to the upper half of what it may use.  fd is closed; if it
 * cannot be moved it is returned as it is.
 */
int cp_fd_move_high(int fd);

/* The same for a duplicate; fd stays open.  -errno. */
int cp_fd_duplicate_high(int fd);

#endif
