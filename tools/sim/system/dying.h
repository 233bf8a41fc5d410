/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A process that dies of a signal.
 */
#ifndef CACHEPEEK_SIM_DYING_H
#define CACHEPEEK_SIM_DYING_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"

enum { DYING_STACK_FAULT = 16 /* SIGSTKFLT */ };

/* The number by which the core is told of a signal that has come. */
Int dying_of(Int number, vki_siginfo_t *info);

#endif
