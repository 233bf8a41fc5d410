/* SPDX-License-Identifier: MIT
 *
 * The commands of `cachepeek`.  Each gets its own name as argv[0] and its
 * arguments after it, and returns the exit status: 0, 1 (failed), 2 (misused).
 */
#ifndef CACHEPEEK_TOOLS_CMD_H
#define CACHEPEEK_TOOLS_CMD_H

int cp_cmd_run(int argc, char **argv);
int cp_cmd_report(int argc, char **argv);
/* The report of a run that has just ended, of which pid was the root, to the
 * sinks of outputs (NULL: stderr), as the library would have written it. */
void cp_report_run(const char *directory, int pid, const char *outputs);

int cp_cmd_compare(int argc, char **argv);
int cp_cmd_merge(int argc, char **argv);
int cp_cmd_profile(int argc, char **argv);
int cp_cmd_list(int argc, char **argv);
int cp_cmd_doctor(int argc, char **argv);

/* Says on stderr that word is no WHAT ("option"), with the nearest of known
 * (NULL-terminated) if there is one.  Returns 2. */
int cp_cmd_misspelt(const char *what, const char *word, const char *const *known);

#endif
