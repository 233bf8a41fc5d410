/* SPDX-License-Identifier: MIT
 *
 * The descriptors that we keep open in a foreign program.  Each is registered
 * with the address of the int that holds it, so that it can be told from the
 * program's and moved out of its way.  Lock-free: the hooks of close(2) ask for
 * every descriptor, in vfork children and signal handlers, too.
 *
 * Everything here is plain system calls: libc's close is a cancellation point,
 * and close and fcntl may be the program's own, or our hooks.
 */
#ifndef CACHEPEEK_BASE_FD_H
#define CACHEPEEK_BASE_FD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fd_limit.h"

/*
 * Keeps *slot, an open descriptor: moves it to a number that the program would
 * not get, close-on-exec, and registers it.  That is above its limit where there are
 * such numbers (they stay valid), else in the upper half of what the program may use,
 * until it needs that half (cp_fd_yield).  If there is no such number any more, or
 * the program may have so few that each counts: -EMFILE, and *slot is as it was.
 */
int cp_fd_keep(int *slot);

/* Closes *slot if it is open, forgets it; *slot is -1 then. */
void cp_fd_drop(int *slot);

/* A duplicate of fd in *slot, kept; -errno, and *slot is -1. */
int cp_fd_keep_duplicate(int fd, int *slot);

/* close(2) for what was never kept; 0 or -errno. */
int cp_fd_close(int fd);

/* fstat(2), which the library overrides: 0 or -errno. */
struct stat;
int cp_fd_stat(int fd, struct stat *file);
/* The same of a directory's entry; no link is followed. */
int cp_fd_stat_in(int directory, const char *name, struct stat *file);

/* How many bytes may be written there: past RLIMIT_FSIZE the kernel would send
 * the program a SIGXFSZ that is meant for us. */
uint64_t cp_fd_room(int fd);

/* Numbers beyond today's hard limit are ours as well: the simulator has taken
 * them, and told the program of a limit below.  Once, before the first thread. */
void cp_fd_hide_beyond_limit(void);

/* Is it one that we keep? */
bool cp_fd_is_ours(int fd);

/* The table of them, for the simulator. */
void cp_fd_table(int ***all, int **first, int **last);

/* The first that we keep in [first, last]; -1: none. */
int cp_fd_next(unsigned first, unsigned last);

/*
 * The number fd, one of ours, is about to become the program's: what was there
 * moves elsewhere, or *slot becomes -1 (-errno).  The number itself stays open.
 */
int cp_fd_give_way(int fd);

/* The same where nothing can move: *slot becomes -1. */
void cp_fd_forget(int fd);

/*
 * The program has no number left: forgets *first_choice, if it is kept among those
 * that the program may use, or else another such.  The number, still open and to be
 * closed once nobody reads from it any more; -1: none is in the program's way.
 */
int cp_fd_yield(int *first_choice);

#endif
