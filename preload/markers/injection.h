/* SPDX-License-Identifier: MIT
 *
 * Being the library that other tools' environment variables name.
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_INJECTION_H
#define CACHEPEEK_PRELOAD_MARKERS_INJECTION_H

#include <stdbool.h>

/* Once, in the constructor. */
void cp_injection_start(void);

/* The user's value of the variable; NULL: it is not set. */
const char *cp_injection_of_user(const char *name);

/* false: the user's collector of ITT is one that we cannot be in front of. */
bool cp_itt_stands_in(void);

#endif
