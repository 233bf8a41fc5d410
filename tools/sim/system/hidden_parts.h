/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where a program names a descriptor: in arguments, in memory, in paths.
 */
#ifndef CACHEPEEK_SIM_HIDDEN_PARTS_H
#define CACHEPEEK_SIM_HIDDEN_PARTS_H

#include "system/hidden.h"

enum { FIRST = 1, SECOND = 2, THIRD = 4, FOURTH = 8, FIFTH = 16 };

/* The headers may be older. */
enum {
	PIDFD_SEND_SIGNAL = 424,
	IO_URING_SETUP = 425,
	IO_URING_ENTER = 426,
	IO_URING_REGISTER = 427,
	OPEN_TREE = 428,
	MOVE_MOUNT = 429,
	FSCONFIG = 431,
	FSMOUNT = 432,
	FSPICK = 433,
	CLOSE_RANGE = 436,
	OPENAT2 = 437,
	PIDFD_GETFD = 438,
	FACCESSAT2 = 439,
	PROCESS_MADVISE = 440,
	EPOLL_PWAIT2 = 441,
	MOUNT_SETATTR = 442,
	QUOTACTL_FD = 443,
	LANDLOCK_ADD_RULE = 445,
	LANDLOCK_RESTRICT_SELF = 446,
	PROCESS_MRELEASE = 448,
	CACHESTAT = 451,
	FCHMODAT2 = 452,
	STATMOUNT = 457,
	LISTMOUNT = 458,
	SETXATTRAT = 463,
	GETXATTRAT = 464,
	LISTXATTRAT = 465,
	REMOVEXATTRAT = 466,
	OPEN_TREE_ATTR = 467,
	FILE_GETATTR = 468,
	FILE_SETATTR = 469,
};

UWord hidden_argument(ThreadId tid, UInt i);

/* Changes what the call finds there, until it is over. */
void hidden_change(ThreadId tid, UInt i, UWord value, struct hidden_call *call);

/* Is it the core's, or the library's? */
Bool hidden_has(UWord fd);

/* The first from there on. */
UInt hidden_next(UInt from);

/* Which arguments are descriptors, a bit each; which are paths. */
UInt hidden_takes(ThreadId tid, Int number);
UInt hidden_paths_of(Int number);

/* Hides what is in memory: the call finds a number there that cannot be open. */
void hidden_word(Int *at, struct hidden_call *call);
void hidden_in_memory(ThreadId tid, Int number, struct hidden_call *call);
void hidden_in_ring(ThreadId tid, struct hidden_call *call);
void hidden_ring_after(UInt number, const UWord *args, SysRes result);

/* select and pselect: is one in the sets? */
Bool hidden_in_sets(ThreadId tid);

/* Is there one that a path goes through? */
Bool hidden_in_paths(ThreadId tid, Int number);

/* Paths of programs.  What of the path is known, from / on where it ends so. */
enum { HIDDEN_LONGEST = 128, HIDDEN_HERE = -100 /* AT_FDCWD */ };
void hidden_path(Int dir, UWord path, const HChar *end, HChar to[HIDDEN_LONGEST]);

/* Leaves them out of what was read of a directory of /proc. */
void hidden_list_after(ThreadId tid, Int number, const struct hidden_call *call);

/* Is it a descriptor of a process, and of this one? */
Bool hidden_is_this_process(Int pidfd);

#endif
