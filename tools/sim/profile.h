/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which instruction had which misses (--profile=DIRECTORY).
 *
 * The model is not asked: after each reference that its filters did not admit,
 * the counters of the core are compared with what they were after the last one,
 * and what they have grown by belongs to this one's instruction.  Hence the sum
 * over the instructions of a thread is the thread's counts, whatever the model
 * counts and why.
 */
#ifndef CACHEPEEK_SIM_PROFILE_H
#define CACHEPEEK_SIM_PROFILE_H

#include "tool.h"
#include "tools/sim/profile_file.h"

/* The run directory; NULL: no profile. */
extern const HChar *profile_directory;

struct profile_thread;

/* profile.c */
void profile_start(void);
/* Called by a thread for itself. */
struct profile_thread *profile_thread_begin(void);
/* Where misses are accounted for from here on; NULL: nowhere. */
void profile_thread_use(struct profile_thread *t);
/* The core's counters, which are set to 0 after this. */
void profile_collect(struct profile_thread *t, const uint64_t *more);
/* What comes there may be other code. */
void profile_unmapped(Addr a, SizeT len);
void profile_fork_child(void);

/* profile_file.c: size bytes of the file, zeroed; NULL: there is no room. */
void *profile_allocate(UInt size);
void profile_publish(void *entry, enum cp_profile_kind kind);
/* The site of those without room: in the header of the file, if there is one. */
struct cp_profile_site *profile_nowhere(void);
void profile_file_fork_child(void);

/* profile_module.c: 0: not known. */
UInt profile_module_at(Addr a);
/* Returns whether a module had something there, which is known no more. */
Bool profile_module_unmapped(Addr a, SizeT len);
void profile_module_fork_child(void);

#endif
