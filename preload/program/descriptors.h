/* SPDX-License-Identifier: MIT
 *
 * Hides our descriptors from the program: it finds none of them, and no number less.
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_DESCRIPTORS_H
#define CACHEPEEK_PRELOAD_PROGRAM_DESCRIPTORS_H

#include <errno.h>
#include <stdbool.h>

/* Is it one of ours, seen by the program itself (and not by a vfork child)? */
bool cp_is_own_descriptor(int fd);

/* EBADF; -1. */
int cp_not_open(void);

/*
 * The program has no number left (errno is EMFILE, and stays so): one of ours becomes
 * free, at the cost of what it was for.  False: none was in its way.
 */
bool cp_descriptors_yield(void);

/* Calls again for as long as that helps, and returns. */
#define CP_RETURN_OPENED(type, failed, call)                                             \
	do {                                                                             \
		type opened;                                                             \
                                                                                         \
		do                                                                       \
			opened = (call);                                                 \
		while (__builtin_expect(opened == (failed), 0) && errno == EMFILE &&     \
			cp_descriptors_yield());                                         \
		return opened;                                                           \
	} while (0)

/* The real functions behind those of hooks_open.c, in the constructor. */
void cp_opens_fill(void);

#endif
