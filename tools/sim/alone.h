/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A program into which nothing is preloaded: what the library takes from the others'
 * sight nobody would take from its own.
 */
#ifndef CACHEPEEK_SIM_ALONE_H
#define CACHEPEEK_SIM_ALONE_H

#include "pub_tool_basics.h"

/* Before it begins: takes what the core has added out of its environment, and gives it
 * the name that the kernel would have given it; path: its own. */
void alone_start(const HChar *path);

#endif
