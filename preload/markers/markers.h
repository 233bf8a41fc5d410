/* SPDX-License-Identifier: MIT
 *
 * Boundaries of regions, for the hooks of every kind of marker.  All of these
 * keep errno, call no malloc, and do nothing where nothing is counted, in a
 * thread that is not counted, or called from within one another.
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_MARKERS_H
#define CACHEPEEK_PRELOAD_MARKERS_MARKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "regions/names.h"
#include "regions/tree.h"

/* The kinds of regions: an end meets only begins of its own kind. */
enum {
	CP_MARKER_API, /* ours */
	CP_MARKER_MPI,
	CP_MARKER_FUNCTION, /* nobody writes the ends of these two */
	CP_MARKER_OPENMP,
	CP_MARKER_TOOLS, /* from here on each is another tool's */
};

/* Another tool, as messages name its markers: " of TAU".  The linker puts all of them
 * into one list, where its place is its kind. */
struct cp_marker_tool {
	const char *of;
};
#define CP_MARKER_TOOL(tool, of)                                                         \
	const struct cp_marker_tool tool                                                 \
		__attribute__((used, section("cp_marker_tools"))) = {of}
extern const struct cp_marker_tool __start_cp_marker_tools[]
	__attribute__((visibility("hidden")));

/* A kind, and which of its stacks (a domain, a type of events); not 0. */
static inline uint64_t cp_marker_tag_of(uint64_t kind, uint64_t stack)
{
	bool unwritten = kind == CP_MARKER_FUNCTION || kind == CP_MARKER_OPENMP;

	return kind | stack << 8 | (unwritten ? CP_TAG_UNWRITTEN : 0);
}

static inline uint64_t cp_marker_tag(const struct cp_marker_tool *tool, uint64_t stack)
{
	return cp_marker_tag_of(
		CP_MARKER_TOOLS + (uint64_t)(tool - __start_cp_marker_tools), stack);
}

/* For work on a table, in which the calling thread is not interrupted by its own
 * markers, nor counted by the simulated PMU; false: do nothing. */
struct cp_lock;
bool cp_marker_lock(struct cp_lock *lock);
void cp_marker_unlock(struct cp_lock *lock);

/* The handle of a name, NULL if there is nothing to count or no memory.
 * text may be NULL: no handle. */
struct cp_name *cp_marker_name(const char *text);
struct cp_name *cp_marker_name_of(const char *text, size_t length);

/* name may be NULL: nothing happens. */
void cp_marker_begin(struct cp_name *name, uint64_t tag);

/* How an end treats regions that are still open inside. */
enum cp_marker_end {
	CP_END_OWN,     /* closes those of the same tag, leaves others open */
	CP_END_ALONE,   /* leaves all of them open */
	CP_END_IF_OPEN, /* the same, and that none is open is no mistake */
};

/* name NULL: the innermost of the tag. */
void cp_marker_end(struct cp_name *name, uint64_t tag, enum cp_marker_end how);

/* Closes the innermost of that tag, which goes on when it is begun again: that is no new
 * execution. */
void cp_marker_suspend(uint64_t tag);
void cp_marker_begin_again(struct cp_name *name, uint64_t tag);

void cp_marker_pause(void);
void cp_marker_resume(void);

/* Brings the record up to date for all threads. */
void cp_marker_flush(void);

/* The key of a range, in the words of the tool that has it. */
struct cp_range_key {
	uint64_t tag, id[4];
};

/* A range counts in the thread that starts it, until any thread ends it. */
void cp_range_begin(struct cp_name *name, const struct cp_range_key *key);
void cp_range_end(const struct cp_range_key *key);

void cp_ranges_after_fork(void);

#endif
