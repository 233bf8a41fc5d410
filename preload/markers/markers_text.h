/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_PRELOAD_MARKERS_MARKERS_TEXT_H
#define CACHEPEEK_PRELOAD_MARKERS_MARKERS_TEXT_H

#include <stddef.h>
#include <wchar.h>

/* UTF-8 of a wide text, as much of it as fits; its length.  What is no
 * character becomes U+FFFD. */
size_t cp_utf8_of_wide(const wchar_t *text, char *to, size_t size);

#endif
