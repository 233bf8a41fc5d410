/* SPDX-License-Identifier: MIT
 *
 * Heapsort, because qsort(3) may use malloc.
 */
#ifndef CACHEPEEK_BASE_SORT_H
#define CACHEPEEK_BASE_SORT_H

#include <stddef.h>

enum { CP_SORT_MOST = 64 }; /* bytes of an item */

/* Sorts items of `size` bytes, each of which begins with its key, a uint64_t. */
void cp_sort(void *items, size_t count, size_t size);

#endif
