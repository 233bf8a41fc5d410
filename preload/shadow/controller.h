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

/* A tick took so much CPU time, which was not the program's own. */
void cp_controller_add(struct cp_shadows *s, uint64_t ns);

/* May a window begin?  0: yes; else about so much CPU time has to pass before. */
uint64_t cp_controller_wait(struct cp_shadows *s);

/* CPU time of the process since it began; and how much is to pass until the time without
 * a shadow is as long as the last one took. */
uint64_t cp_controller_elapsed(const struct cp_shadows *s);
uint64_t cp_controller_rest(const struct cp_shadows *s);

/* A window of the whole run is over; end: enum cp_shadow_end.  Where many in a row met a
 * system call (as of a server, which is in the kernel again before the window ends) the
 * next one waits: 0, or about so much CPU time. */
void cp_controller_ended(struct cp_shadows *s, uint32_t end);
uint64_t cp_controller_in_vain(const struct cp_shadows *s);

/* Around the life of a shadow.  forked: in the program, which then measures how long a
 * page fault takes that a fork brings about. */
void cp_controller_forks(struct cp_shadows *s);
void cp_controller_forked(struct cp_shadows *s);
void cp_controller_reaped(struct cp_shadows *s);

/* What all of them have cost, of the CPU time of the process since it began: forks, ticks
 * and page faults, at most; not what shadows take of caches, and of a core that two CPUs
 * share. */
double cp_controller_percent(struct cp_shadows *s);

/* How long copies of pages took that are among so many faults of the thread that ticks,
 * since it was asked last, or forked. */
uint64_t cp_controller_copies(struct cp_shadows *s, uint64_t faults);

/* CPU time of the process since it began, without what shadows cost. */
uint64_t cp_controller_total(struct cp_shadows *s);

#endif
