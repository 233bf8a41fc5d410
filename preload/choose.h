/* SPDX-License-Identifier: MIT
 *
 * Which engine: one decision per process tree, taken in its root.
 */
#ifndef CACHEPEEK_PRELOAD_CHOOSE_H
#define CACHEPEEK_PRELOAD_CHOOSE_H

#include "base/engine/engine.h"

struct cp_choice {
	const struct cp_engine *engine;
	char why[2 * CP_WHY_SIZE]; /* for the report */
	char cause[CP_WHY_SIZE];   /* of simulating unasked: that without its cure */
	bool tell;                 /* … and for stderr: it is not what one expects */
};

/* By cp_options, and what is asked for by name.  Opens nothing for good. */
void cp_choose_engine(struct cp_choice *choice);

#endif
