/* SPDX-License-Identifier: MIT
 *
 * Makes tables fit a terminal.
 */
#ifndef CACHEPEEK_TOOLS_FIT_H
#define CACHEPEEK_TOOLS_FIT_H

#include "base/out.h"
#include "base/text/table.h"

/* The width of the terminal in columns; 0: it is no terminal, and lines have any length.
 */
size_t cp_fit_terminal(int fd);

/* A number with four digits and a unit (12.35M) if it is longer; else the cell. */
const char *cp_fit_number(struct cp_arena *arena, const char *cell);

/* The text in lines of its own: behind blanks, and broken where names can be. */
void cp_fit_text(struct cp_out *out, const char *text, size_t indent, size_t width);

#endif
