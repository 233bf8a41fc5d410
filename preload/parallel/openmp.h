/* SPDX-License-Identifier: MIT
 *
 * What the two ways to watch OpenMP share: the functions that compilers make of
 * the bodies of parallel regions, and their names.
 */
#ifndef CACHEPEEK_PRELOAD_PARALLEL_OPENMP_H
#define CACHEPEEK_PRELOAD_PARALLEL_OPENMP_H

#include <stdbool.h>
#include <stdint.h>

#include "regions/names.h"

/* A place in the program that calls an OpenMP runtime. */
struct cp_omp_site {
	const void *function; /* the body; written last */
	const char *entry;    /* which function of the runtime is called */
	void *real;           /* that function: there may be several runtimes */
	struct cp_name *name; /* of the region; NULL: not counted */
	bool told;            /* by the runtime itself: nothing else to do */
};

/*
 * The site of that body and entry (one and the same pointer for each name), which
 * is called from `caller`; source is what the compiler says of it, NULL for
 * nothing, "" if it needs no name.
 * Never NULL, and real never is: where there is none, the program ends.
 */
const struct cp_omp_site *cp_omp_site(
	const void *function, const char *entry, const char *source, const void *caller);

/* A runtime tells what it does (hooks_ompt.c). */
void cp_omp_note_told(void);

#endif
