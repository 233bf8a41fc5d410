/* SPDX-License-Identifier: MIT
 *
 * Shows text that fills more than a screen page by page, at a terminal, as git does.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_PAGER_H
#define CACHEPEEK_TOOLS_SHARED_PAGER_H

#include <stdbool.h>

/* Lets a pager have standard output from now on, if that is a terminal: PAGER, else
 * less; none if that is empty or cat, or cannot be run.  It is waited for when the
 * command ends. */
void cp_pager_start(void);

/* Does a pager have it? */
bool cp_pager_on(void);

#endif
