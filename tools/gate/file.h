/* SPDX-License-Identifier: MIT
 *
 * The gate's files, read and written by the rules for files that users name
 * (base/files/trusted.h, base/files/new_file.h).
 */
#ifndef CACHEPEEK_TOOLS_GATE_FILE_H
#define CACHEPEEK_TOOLS_GATE_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* Writes the file anew, by calling write with a stream and this context.  false: it
 * cannot be written, which is said. */
bool cp_gate_write(const char *path, void (*write)(FILE *file, const void *context),
	const void *context);

/* To be read, and closed by the caller; NULL: it cannot be, or is not to be trusted. */
FILE *cp_gate_read(const char *path);

#endif
