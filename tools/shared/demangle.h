/* SPDX-License-Identifier: MIT
 *
 * The names of C++ and Rust functions as their programmers write them.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_DEMANGLE_H
#define CACHEPEEK_TOOLS_SHARED_DEMANGLE_H

#include <stddef.h>

/* The demangled name, for free(3); NULL if name is not mangled. */
char *cp_demangled(const char *name);

/* From here on reports of this process have such names.  NULL in a reporter that was
 * linked without libiberty. */
__attribute__((weak)) void cp_demangle_start(void);

#endif
