/* SPDX-License-Identifier: MIT
 *
 * Prints --help and `cachepeek help`: the texts of tools/help, a file for each command,
 * and the table of variables.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_HELP_H
#define CACHEPEEK_TOOLS_SHARED_HELP_H

/* Prints the help of a command, of `variables`, or of the whole ("cachepeek").
 * Returns the exit status; -1 if there is no such topic. */
int cp_help(const char *topic);

/* For a command that has found --help or --version (or -h, -V) among its options:
 * prints it and ends the process.  name: its argv[0]; any other than that of a command
 * is `run`, whose word may be omitted.  Returns if the word is neither. */
void cp_help_asked(const char *name, const char *word);

#endif
