/* SPDX-License-Identifier: MIT
 *
 * Names of two builds are the same without the name of the program's file, which often is
 * not.
 */
#ifndef CACHEPEEK_TOOLS_DIFF_PROGRAM_H
#define CACHEPEEK_TOOLS_DIFF_PROGRAM_H

#include <stdbool.h>

/* Is that module's path the program of the command ("./app arguments")? */
bool cp_is_program(const char *module, const char *command);

/* The names of data without "app::" and "app: "; to be freed; NULL: no memory. */
char *cp_without_program(const char *names, const char *command);

/* A block of another size, and the stack of another thread, are the same data: cuts what
 * the name ends with if that is a number between the two texts. */
bool cp_cut_number(char *name, const char *before, const char *after);

#endif
