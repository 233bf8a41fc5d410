/* SPDX-License-Identifier: MIT
 *
 * The parts of the library that have state, and what becomes of it when the process
 * begins, is forked, executes another program, is confined, or ends.  The table is in
 * parts.c: whoever adds a static variable adds its file to a row there, or a row
 * (tests/hook/parts.t compares the table with the debugging information).
 */
#ifndef CACHEPEEK_PRELOAD_LIFE_H
#define CACHEPEEK_PRELOAD_LIFE_H

#include <stddef.h>

/* Each step may be NULL: there is nothing to do. */
struct cp_life {
	const char *name;
	const char *files; /* that have the state */
	const char *kept;  /* why a fork child may keep what after_fork does not reset */

	/* Once, in the constructor: hooks are put in; nothing is recorded yet. */
	void (*begin)(void);

	/* The process, or the fork child, has a record, and no thread is counted yet;
	 * and: its first thread is counted. */
	void (*prepare)(void);
	void (*start)(void);

	/* Once, at the end of the constructor: the program's own code is next. */
	void (*begun)(void);

	/* In every fork child that does not go back into our code, counted or not: all
	 * locks are free. */
	void (*in_child)(void);

	/* In one whose parent was counted: what was the parent's is forgotten.  The child
	 * need not be counted. */
	void (*after_fork)(void);

	/* In a fork child that goes back to what a signal handler has interrupted. */
	void (*forked_inside)(void);

	/* The record is brought up to date; and: the exec has failed. */
	void (*before_exec)(void);
	void (*exec_failed)(void);

	/* The program is about to forbid itself system calls; and: those that we need
	 * are forbidden from here on. */
	void (*before_confined)(void);
	void (*confined)(void);

	/* Last readings and rows; nobody begins anything any more. */
	void (*finish)(void);
};

/* parts.c: the table. */
extern const struct cp_life cp_parts[];
extern const size_t cp_nparts;

/* One step of all parts, in their order. */
#define cp_life(step) cp_life_do(offsetof(struct cp_life, step))
void cp_life_do(size_t step);

#endif
