/* SPDX-License-Identifier: MIT
 *
 * Heapsort, because qsort(3) may use malloc.
 */
#ifndef CACHEPEEK_BASE_SORT_H
#define CACHEPEEK_BASE_SORT_H

#include <stddef.h>

enum { CP_SORT_MOST = 64 }; /* bytes of an item */

/* Below 0: a is before b; above: behind. */
typedef int cp_compare(const void *a, const void *b);

/* Items that are equal may change places. */
void cp_sort_by(void *items, size_t count, size_t size, cp_compare *compare);

/* Sorts items of `size` bytes, each of which begins with its key, a uint64_t. */
void cp_sort(void *items, size_t count, size_t size);

#endif
