/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_BASE_FILES_DIRECTORY_H
#define CACHEPEEK_BASE_FILES_DIRECTORY_H

#include <stdbool.h>

/* True: no more of them. */
typedef bool cp_name_visitor(void *context, int dir, const char *name);

/*
 * What lies in an open directory, but for names that begin with a dot; without
 * malloc, which readdir(3) calls, and on little of the stack.  1 if visit returned
 * true, else 0 or -errno.
 */
int cp_directory_any(int dir, cp_name_visitor *visit, void *context);

#endif
