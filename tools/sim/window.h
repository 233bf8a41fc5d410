/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Working sets (--window=N): the lines and pages that a thread touches in N
 * instructions, each once.  A window also ends where the library reads the thread's
 * counters, at the boundaries of regions: so what was touched belongs to them, and the
 * sums over windows are counters as others are (CP_SIM_WINDOWS).
 */
#ifndef CACHEPEEK_SIM_WINDOW_H
#define CACHEPEEK_SIM_WINDOW_H

#include "tool.h"

struct window;

void window_start(void);
/* The window of a thread that begins; was: that of one that has ended, or NULL. */
struct window *window_begin(struct window *was);
/* The references that come are this thread's, on that core; it has executed so many
 * instructions.  NULL: nobody's. */
void window_use(struct window *w, struct core *core, ULong instructions);
/* The next reference begins another one. */
void window_end(struct window *w);

#endif
