/* SPDX-License-Identifier: MIT
 *
 * Which files of source a program has, before it is run.
 */
#ifndef CACHEPEEK_TOOLS_SOURCES_H
#define CACHEPEEK_TOOLS_SOURCES_H

#include <stdbool.h>

/*
 * May lines of this file run in the program?  Not, if there is no such file and the
 * debugging information of the program and of the libraries that it is linked with
 * names none: then this is said on stderr.  A program that has no such information
 * may start or load one that has.
 */
bool cp_source_is_possible(const char *source, char *const program[]);

#endif
