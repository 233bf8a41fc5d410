/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_SOURCE_H
#define CACHEPEEK_TOOLS_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"

/* Line number (from 1) of a source file, safe for a terminal; NULL: there is no
 * such file or line. */
const char *cp_source_text(struct cp_arena *arena, const char *path, unsigned number);
/* The same without the blanks in front. */
const char *cp_source_line(struct cp_arena *arena, const char *path, unsigned number);

/* A file that debugging information names, which may be anything.  NULL with the reason
 * why it is not read. */
FILE *cp_source_open(const char *path, const char **reason);

/* Was the file written after the program? */
bool cp_source_changed(const char *path, const char *program);

/* Is what is there now (perhaps) not what was there then (CLOCK_REALTIME; 0: not
 * known)?  Who is replaced with an older file is changed as well. */
bool cp_file_changed_since(const char *path, uint64_t ns);

/* Before the arena of what was read is freed. */
void cp_source_forget(void);

#endif
