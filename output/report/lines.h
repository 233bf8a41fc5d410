/* SPDX-License-Identifier: MIT
 *
 * Lines of source behind addresses, from the line tables (DWARF 2 to 5) of a
 * file's own debugging information, or of /usr/lib/debug/.build-id.
 */
#ifndef CACHEPEEK_OUTPUT_REPORT_LINES_H
#define CACHEPEEK_OUTPUT_REPORT_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct cp_lines;

/*
 * The tables of the file at path, whose build ID (hexadecimal, "-" for none) must
 * be that one.  NULL: there are none that could be read.  Everything lives in
 * arena, whose out_of_memory must be set; the file stays mapped.
 */
const struct cp_lines *cp_lines_open(
	struct cp_arena *arena, const char *path, const char *build_id);

/* The source (without its directory) and line of an offset as the file's own
 * headers count.  false: not known. */
bool cp_lines_find(const struct cp_lines *lines, uint64_t offset, const char **source,
	unsigned *line);

#endif
