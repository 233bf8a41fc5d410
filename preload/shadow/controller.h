/* SPDX-License-Identifier: MIT
 *
 * What shadows cost the program, measured, and whether the next one may begin: all of
 * them together are to take at most CACHEPEEK_BUDGET percent of its CPU time.
 */
#ifndef CACHEPEEK_PRELOAD_SHADOW_CONTROLLER_H
#define CACHEPEEK_PRELOAD_SHADOW_CONTROLLER_H

#include <stdint.h>

struct cp_shadows;

void cp_controller_begins(struct cp_shadows *s);

/* So much CPU time was not the program's own. */
void cp_controller_add(struct cp_shadows *s, uint64_t ns);

/* May a window begin?  0: yes; else about so much CPU time has to pass before. */
uint64_t cp_controller_wait(struct cp_shadows *s);

/* Around the life of a shadow: page faults of the program beyond those that it has
 * without a shadow are pages that are copied because the shadow has them, too. */
void cp_controller_forks(struct cp_shadows *s);
/* The CPU time that such faults have taken since the fork, so far. */
uint64_t cp_controller_copied(const struct cp_shadows *s);
void cp_controller_reaped(struct cp_shadows *s);

#endif
