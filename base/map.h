/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_BASE_MAP_H
#define CACHEPEEK_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * mmap() of readable and writable memory for ourselves, out of the way of the
 * program's own mappings: on the simulated PMU, where cp_map_from() is called,
 * in a part of the address space that nobody else uses, so that the program's
 * addresses, and with them its conflicts in the caches, are those that it has
 * without us.  Elsewhere the kernel chooses, at random as for anybody.
 * fd -1: anonymous and private, else shared.  NULL and errno if it fails.
 */
void *cp_map(size_t size, int fd, off_t offset);

/* A file's bytes, to be read, in that same place; NULL and errno if it fails. */
const void *cp_map_file(size_t size, int fd);

/*
 * In a fork child: zeros where the kernel did not copy a mapping of its own (perf's
 * pages).  Where something else is by now, that stays.
 */
void cp_map_zeros(void *at, size_t size);

/* There is no memory from here on: whoever asks for it is killed. */
void cp_map_stop(void);

/* Our part of the address space from here on. */
void cp_map_from(uintptr_t address);

#endif
