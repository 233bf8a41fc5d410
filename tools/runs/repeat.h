/* SPDX-License-Identifier: MIT
 *
 * cachepeek run --repeat: several runs of one program, and how far their values
 * are apart.
 */
#ifndef CACHEPEEK_TOOLS_RUNS_REPEAT_H
#define CACHEPEEK_TOOLS_RUNS_REPEAT_H

#include "base/text/table.h"
#include "tools/diff/values.h"

#define CP_MAX_REPEAT 1000

/*
 * Runs argv so many times, with the library preloaded and the environment as it
 * is.  outputs: a comma list, or NULL; one that ends in a slash is the directory
 * (else CACHEPEEK_DIR is) that keeps the runs' records.  Returns the exit status:
 * the first run's.
 */
int cp_repeat(unsigned count, const char *outputs, char **argv);

/* repeat_answer.c: what their values say first. */
void cp_repeat_answer(
	struct cp_arena *arena, const struct cp_values *values, struct cp_answer *answer);
/* Returns the value that varies most among the most telling; NULL: none varies. */
const struct cp_entry *cp_repeat_most(const struct cp_values *values);
/* "3.1 %": the standard deviation, of the mean; or "same". */
const char *cp_repeat_spread_text(struct cp_arena *arena, const struct cp_runs *runs);

#endif
