/* SPDX-License-Identifier: MIT
 *
 * Shared by the two ways to watch OpenMP: the functions that compilers make of the bodies
 * of parallel regions, and their names.
 */
#ifndef CACHEPEEK_PRELOAD_PARALLEL_OPENMP_H
#define CACHEPEEK_PRELOAD_PARALLEL_OPENMP_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/markers/forward.h"
#include "regions/names.h"

/* A place in the program that calls an OpenMP runtime. */
struct cp_omp_site {
	const void *function; /* the body; written last */
	const char *entry;    /* which function of the runtime is called */
	void *real;           /* that function: there may be several runtimes */
	struct cp_name *name; /* of the region; NULL: not counted */
	bool told;            /* by the runtime itself: nothing else to do */
};

/* The runtime's function behind our hook.  Never NULL: where there is no runtime, the
 * calling thread runs the body alone (openmp_alone.h). */
void *cp_omp_real(struct cp_forward *forward, const struct cp_caller *caller);

/*
 * The site of that body and entry (one and the same pointer for each name), which
 * calls `real`; source is what the compiler says of it, NULL for nothing, "" if it needs
 * no name.  Never NULL.
 */
const struct cp_omp_site *cp_omp_site(
	const void *function, const char *entry, const char *source, void *real);

/* A runtime tells what it does (hooks_ompt.c). */
void cp_omp_note_told(void);

#endif
