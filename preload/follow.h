/* SPDX-License-Identifier: MIT
 *
 * The programs that this process starts: do they bring us along, and what
 * becomes of them if not.  (CACHEPEEK_CHILDREN.)
 */
#ifndef CACHEPEEK_PRELOAD_FOLLOW_H
#define CACHEPEEK_PRELOAD_FOLLOW_H

#include <stddef.h>
#include <stdbool.h>
#include <sys/types.h>

/* Once.  Returns the settings among what this image was given. */
char *const *cp_follow_start(void);

/* The variables that tell children of the run; before main. */
void cp_follow_run(char *const run_entries[]);

/* In a fork child. */
void cp_follow_after_fork(void);

/* Is this a fork child, before that?  libc calls functions in it, and what we have is
 * still its parent's. */
bool cp_follow_is_copy(void);

/*
 * The environment for the next program is envp: unless CACHEPEEK_CHILDREN is
 * force, and envp does not bring us along.  Then it is made in room, for which
 * cp_follow_room() says how many pointers are needed (>= 1).  Allocates
 * nothing, as vfork children must not.
 */
size_t cp_follow_room(char *const envp[]);
char *const *cp_follow_environment(char **room, char *const envp[]);

/*
 * The process pid becomes, or is, the program at path: whether it was counted
 * is seen when the report is made.  Returns something for cp_follow_undo() if
 * the exec failed.  Nothing for children that do not share our memory.
 */
void *cp_follow_note(pid_t pid, const char *path, char *const envp[]);
void cp_follow_undo(void *note);

#endif
