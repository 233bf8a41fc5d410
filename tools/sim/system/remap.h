/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * mremap, of which the core refuses much, or dies.
 */
#ifndef CACHEPEEK_SIM_REMAP_H
#define CACHEPEEK_SIM_REMAP_H

#include "pub_tool_basics.h"

/* Is it this call?  Then it has been made. */
Bool remap_answers(ThreadId tid, Int number);

#endif
