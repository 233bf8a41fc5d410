/* SPDX-License-Identifier: MIT
 *
 * Can the library be loaded into a program?  Without an interpreter there is no
 * dynamic linker, which would do it; musl's would stop at symbols that only glibc
 * has, and the program would not run.
 */
#ifndef CACHEPEEK_TOOLS_RUNS_PRELOADING_H
#define CACHEPEEK_TOOLS_RUNS_PRELOADING_H

#include <stdbool.h>
#include <stddef.h>

enum cp_preloading { CP_CAN_PRELOAD, CP_CANNOT_PRELOAD, CP_STATIC };

/* Says why on stderr where it is CP_CANNOT_PRELOAD.  What cannot be opened, and
 * scripts, can: exec will tell. */
enum cp_preloading cp_can_be_preloaded(const char *program);

/* The program as exec would find it; a descriptor, or -1. */
int cp_program_open(const char *program);

/* Reads the path of the ELF executable's interpreter, "" if it has none.
 * Returns whether it is a 64-bit ELF executable at all. */
bool cp_program_interpreter(int fd, char *to, size_t size);

#endif
