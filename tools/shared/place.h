/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_SHARED_PLACE_H
#define CACHEPEEK_TOOLS_SHARED_PLACE_H

#include <stddef.h>

/* The library that belongs to this command: beside it in a build tree, in
 * ../lib of an installation.  0, or -ENOENT. */
int cp_library_path(char *to, size_t size);

/* Sets up the environment for a program with the library preloaded: added[]
 * ("NAME=value", NULL-terminated) and LD_PRELOAD.  -ENOENT after saying why. */
int cp_prepare_preload(char *const added[]);

/* Preloads NAME as well, if it is installed beside the library. */
void cp_preload_companion(const char *name);

/* Runs argv like that.  Returns only if that fails: -errno. */
int cp_exec_preloaded(char *const argv[], char *const added[]);

#endif
