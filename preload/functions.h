/* SPDX-License-Identifier: MIT
 *
 * Programs built with -finstrument-functions.
 */
#ifndef CACHEPEEK_PRELOAD_FUNCTIONS_H
#define CACHEPEEK_PRELOAD_FUNCTIONS_H

/* Once, in the constructor. */
void cp_functions_start(void);

void cp_functions_after_fork(void);

#endif
