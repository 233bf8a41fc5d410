/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the markers; nobody else's business.
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_MARKERS_PARTS_H
#define CACHEPEEK_PRELOAD_MARKERS_MARKERS_PARTS_H

#include "preload/threads/threads.h"
#include "regions/names.h"

/* The calling thread, with nobody else inside its tree; NULL: do nothing. */
struct cp_live_thread *cp_marker_enter(void);
void cp_marker_leave(struct cp_live_thread *thread);

/* The counters alone; errno stays. */
int cp_marker_read(struct cp_live_thread *thread, bool own, struct cp_reading *reading);

/* cp_marker_begin without a look whether its cost is known: for who measures that. */
void cp_marker_begin_now(struct cp_name *name, uint64_t tag);

/* Takes the reading of a boundary, and its time; between pause and resume these are
 * the ones of the moment of the pause. */
void cp_marker_read_now(struct cp_live_thread *thread, bool own,
	struct cp_reading *reading, uint64_t *now_ns);

/* Chooses which of the groups of events that take turns counts the execution that
 * begins. */
void cp_marker_take_turn(struct cp_live_thread *thread);

/* Said once: a region is not counted, for want of memory. */
void cp_marker_note_not_opened(
	const struct cp_live_thread *thread, const struct cp_name *name);

/* A range in the calling thread, whose tid is told; its end, in that thread,
 * by anybody. */
bool cp_marker_range_begin(struct cp_name *name, uint64_t id, pid_t *tid);
void cp_marker_range_end(pid_t tid, uint64_t id);

/* The end of a range of that tag that is not open. */
void cp_marker_note_no_range(uint64_t tag);

#endif
