/* SPDX-License-Identifier: MIT
 *
 * The formats that the library and the command write, and the endings of files that pick
 * them.
 */
#ifndef CACHEPEEK_OUTPUT_ENDINGS_H
#define CACHEPEEK_OUTPUT_ENDINGS_H

#include <stddef.h>

enum cp_format {
	CP_FORMAT_TEXT,
	CP_FORMAT_JSON,
	CP_FORMAT_CSV,
	CP_FORMAT_HTML,
	CP_FORMAT_OPENMETRICS,
	CP_FORMAT_TRACE,
	CP_FORMAT_CALLGRIND,
	CP_FORMAT_FOLDED,
	CP_FORMAT_SPEEDSCOPE,
	CP_FORMAT_PPROF,
	CP_FORMAT_MARKDOWN,
	CP_FORMAT_JUNIT,
	CP_FORMAT_SARIF,
	CP_FORMATS,
};

/* A set of formats is a sum of these. */
#define CP_TAKES(name) (1u << CP_FORMAT_##name)

/* The format of an output, one of takes, or -1: its ending picks none of them.  Standard
 * streams (NULL, "stderr", "-") and devices have no endings, and get text. */
int cp_format_of(const char *output, unsigned takes);

/* The ending that picked it, as ".json"; NULL: none did. */
const char *cp_format_ending(const char *output, unsigned takes);

/* Writes ".txt, .json or .html": what picks one of takes.  Returns its length. */
size_t cp_format_endings(char *text, size_t size, unsigned takes);

#endif
