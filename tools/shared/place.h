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

/* Preloads what watches malloc (heap.so) as well, if it is installed beside the library:
 * before other allocators, which would not call it, but behind a sanitizer. */
void cp_preload_allocator_watch(void);

/* Runs argv like that.  Returns only if that fails: -errno. */
int cp_exec_preloaded(char *const argv[], char *const added[]);

#endif
