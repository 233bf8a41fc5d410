/* SPDX-License-Identifier: MIT
 *
 * Which function of a name the dynamic linker would have given to somebody without us.
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_SCOPES_H
#define CACHEPEEK_PRELOAD_MARKERS_SCOPES_H

#include <stdbool.h>
#include <stddef.h>

#define CP_SCOPES_MOST 16 /* functions of one name in a process */

/* How long an answer is true: it is in one of the libraries behind ours that were there
 * first; it is what the loaded objects tell; or it is chosen by what MPI does now. */
enum cp_answer { CP_ANSWER_STAYS, CP_ANSWER_UNTIL_LOADED, CP_ANSWER_NOW };

/* Behind ours, if it was there first, else in the scope of the object that `place` is
 * in.  NULL: neither. */
void *cp_scope_find(const char *name, const void *place);

/* A caller of our hook, as far as it is known; NULL where nothing is. */
struct cp_caller {
	const void *returns_to; /* in its caller, where that jumped to us */
	const void *inside;     /* in the caller's object for sure */
	const void *near;       /* in that object, where nothing else is known */
};

/* The one that was called.  NULL: there is no such function in the process, or the call
 * was by a weak reference that we have filled. */
void *cp_scope_called(
	const char *name, const struct cp_caller *caller, enum cp_answer *answer);

/* All functions of that name that are loaded, but ours. */
struct cp_found {
	void *functions[CP_SCOPES_MOST];
	unsigned n;
};

void cp_scope_all(const char *name, struct cp_found *all);

/* The MPI that the object at `place` is linked with is initialised, and not finalized. */
bool cp_scope_has_open_mpi(const void *place);

#endif
