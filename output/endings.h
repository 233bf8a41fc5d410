/* SPDX-License-Identifier: MIT
 *
 * Which of the formats an output gets: the ending of its name picks it.  Each document (a
 * report, a profile, a comparison, …) has one table of its formats, whose rows begin with
 * an ending, as ".json", and have its writer behind that.
 */
#ifndef CACHEPEEK_OUTPUT_ENDINGS_H
#define CACHEPEEK_OUTPUT_ENDINGS_H

#include <stddef.h>

/* Such a table.  Its first row is the text, which standard streams and devices get. */
struct cp_endings {
	const void *rows;
	size_t n, size;
};
#define CP_ENDINGS(table)                                                                \
	(struct cp_endings)                                                              \
	{                                                                                \
		table, sizeof(table) / sizeof((table)[0]), sizeof((table)[0])            \
	}

/* The row of an output, or -1: its ending picks none of them.  Standard streams (NULL,
 * "stderr", "-") and devices have no endings. */
int cp_ending_row(const char *output, struct cp_endings of);

/* The ending that picked it, as ".json"; NULL: none did. */
const char *cp_ending_of(const char *output, struct cp_endings of);

/* Writes ".txt, .json or .html": what picks a row.  Returns its length. */
size_t cp_endings_write(char *text, size_t size, struct cp_endings of);

#endif
