/* SPDX-License-Identifier: MIT
 *
 * The names of C++ functions as their programmers write them.
 */
#ifndef CACHEPEEK_TOOLS_DEMANGLE_H
#define CACHEPEEK_TOOLS_DEMANGLE_H

#include <stddef.h>

/* From here on reports of this process have such names, if libstdc++ is installed. */
void cp_demangle_start(void);

#endif
