/* SPDX-License-Identifier: MIT
 *
 * The parts of the library that have state, and what becomes of it when the process
 * begins, is forked, executes another program, or ends.
 */
#ifndef CACHEPEEK_PRELOAD_LIFE_H
#define CACHEPEEK_PRELOAD_LIFE_H

#include <stddef.h>

/* Each step may be NULL: there is nothing to do. */
struct cp_life {
	const char *name;

	/* In a fork child, where all locks are free: what was the parent's is forgotten.
	 * The child need not be counted. */
	void (*after_fork)(void);

	/* The process, or the fork child, has a record, and no thread is counted yet;
	 * and: its first thread is counted. */
	void (*prepare)(void);
	void (*start)(void);

	/* In a fork child that goes back to what a signal handler has interrupted. */
	void (*forked_inside)(void);

	/* The record is brought up to date; the exec may fail. */
	void (*before_exec)(void);

	/* Last readings and rows; nobody begins anything any more. */
	void (*finish)(void);
};

/* One step of all parts, in their order. */
#define cp_life(step) cp_life_do(offsetof(struct cp_life, step))
void cp_life_do(size_t step);

#endif
