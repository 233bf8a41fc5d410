/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_RUNS_RUN_PATHS_H
#define CACHEPEEK_TOOLS_RUNS_RUN_PATHS_H

/* Shows the call paths of a run behind its report, on those of the outputs (NULL:
 * standard error) that are streams of text.  Nothing where the run has none. */
void cp_run_show_paths(const char *directory, const char *outputs);

#endif
