/* SPDX-License-Identifier: MIT
 *
 * What must be set up for the symbols that the library overrides.
 */
#ifndef CACHEPEEK_PRELOAD_HOOKS_H
#define CACHEPEEK_PRELOAD_HOOKS_H

/* Registers fork handlers; entries[] ("NAME=value", NULL-terminated, living as
 * long as the process) go into the program's environment before its main. */
void cp_hooks_start(char *const entries[]);

#endif
