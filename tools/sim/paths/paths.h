/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Counts by call path (--call-paths=DIRECTORY): a tree of calling contexts in the
 * profile's file, and a shadow stack for each thread that says where in it the thread is.
 *
 * Nobody is told of misses: what the counters have grown by when a thread goes to
 * another path belongs to the path where it was.  So the sum over the tree is what the
 * process has counted, of every counter, whatever the shadow stack believes.
 */
#ifndef CACHEPEEK_SIM_PATHS_H
#define CACHEPEEK_SIM_PATHS_H

#include "tool.h"
#include "tools/sim/profile_file.h"

struct front;

/* ---- stack.c: where each thread is ---- */

/* front: the one that counts. */
void paths_start(const struct front *front);
/* thread: the profile's number. */
void paths_thread_begin(ThreadId tid, UInt thread);
/* From here on that thread's path has what the core counts; VG_INVALID_THREADID: nobody
 * moves. */
void paths_use(ThreadId tid, const struct core *core);
/* The stack is the parent's, with nothing counted. */
void paths_fork_child(ThreadId tid, UInt thread);
/* Around a signal's handler: before its frame is made, and after that has gone. */
void paths_signal_begins(ThreadId tid, Bool on_another_stack);
void paths_signal_is_over(ThreadId tid);
/* Other code may be mapped there next.  had_functions: some of the tree may have been
 * there. */
void paths_unmapped(Addr a, SizeT len, Bool had_functions);

/* Around core_collect of a thread's core, after which its counters are set to 0. */
void paths_before_collect(ThreadId tid, const struct core *core);
void paths_after_collect(ThreadId tid, const struct core *core);

/* Before a superblock that begins there; after one, which ends there. */
void paths_watch_begin(IRSB *out, const VexGuestLayout *layout, Addr a);
void paths_watch_end(IRSB *out, const VexGuestLayout *layout, Addr end, Bool counted);

/* ---- code.c ---- */

/* Does a function begin there, by the symbols of its file? */
Bool code_begins_at(Addr a);
Bool code_is_stub(Addr a); /* of the PLT */
void code_unmapped(Addr a, SizeT len);

#endif
