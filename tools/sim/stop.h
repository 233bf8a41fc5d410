/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The simulator cannot go on: one line says why, before the core ends the process.
 */
#ifndef CACHEPEEK_SIM_STOP_H
#define CACHEPEEK_SIM_STOP_H

#include "pub_tool_basics.h"

/* The first of several reasons is said. */
void stop_because(const HChar *why);

/* Ends the process now, for that reason. */
void stop(Int status, const HChar *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* Where something may be wrong without the process having to end: called first, and does
 * not come back.  NULL: nothing is. */
void stop_spares(void (*way_out)(void));

/* From here on the process ends because the program does. */
void stop_finished(void);

#endif
