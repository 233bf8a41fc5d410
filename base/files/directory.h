/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_BASE_FILES_DIRECTORY_H
#define CACHEPEEK_BASE_FILES_DIRECTORY_H

#include <stdbool.h>

/* True: no more of them. */
typedef bool cp_name_visitor(void *context, int dir, const char *name);

/*
 * Visits the entries of an open directory, except those that begin with a dot.  It needs
 * no malloc, which readdir(3) calls, and little of the stack.  Returns 1 if visit
 * returned true, else 0 or -errno.
 */
int cp_directory_any(int dir, cp_name_visitor *visit, void *context);

/* The same of those entries of the directory at path that end so, as a run's records do:
 * ".rec". */
int cp_directory_each(
	const char *path, const char *ending, cp_name_visitor *visit, void *context);

/* Is there any? */
bool cp_directory_has(const char *path, const char *ending);

#endif
