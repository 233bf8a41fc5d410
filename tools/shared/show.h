/* SPDX-License-Identifier: MIT
 *
 * Shared by `cachepeek report` and `cachepeek merge`.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_SHOW_H
#define CACHEPEEK_TOOLS_SHARED_SHOW_H

#include <stdbool.h>

#include "output/report/report.h"

/* As cp_report_build. */
typedef const struct cp_report *cp_report_builder(struct cp_arena *arena,
	const char *const *paths, size_t npaths, char *error, size_t error_size);

/* Builds the report of the paths among the arguments (last: of the last run if
 * there are none) and writes it where they say.  Returns the exit status. */
int cp_show(char **argv, int argc, cp_report_builder *build, bool last);

#endif
