/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_BASE_TEXT_UTF8_H
#define CACHEPEEK_BASE_TEXT_UTF8_H

#include <stddef.h>

/* Bytes (1 to 4) of the well-formed UTF-8 character that begins at text, which
 * holds length bytes; 0 if none does (RFC 3629: no surrogates, nothing above
 * U+10FFFF, nothing longer than it needs to be) or length is 0. */
size_t cp_utf8_length(const char *text, size_t length);

/* Columns that text takes on a terminal, one per character: names in scripts
 * of double width will be out of line. */
size_t cp_utf8_columns(const char *text, size_t length);

#endif
