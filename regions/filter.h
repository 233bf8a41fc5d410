/* SPDX-License-Identifier: MIT
 *
 * Which regions are counted: the patterns of CACHEPEEK_REGIONS.
 */
#ifndef CACHEPEEK_REGIONS_FILTER_H
#define CACHEPEEK_REGIONS_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * patterns are separated by commas; * stands for any bytes, ? for one, and a
 * leading ! turns a pattern into an exception.  A name is counted if it matches
 * a pattern, or there are none but exceptions, and if it matches no exception.
 * patterns NULL: all names are.
 */
bool cp_filter_allows(const char *patterns, const char *name, size_t length);

#endif
