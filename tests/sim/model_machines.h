/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The machines on which model_test.c compares the model with the reference.
 */
#ifndef CACHEPEEK_SIM_MODEL_MACHINES_H
#define CACHEPEEK_SIM_MODEL_MACHINES_H

#include "model/huge.h"
#include "model/model.h"

struct model_case {
	const char *name;
	struct machine m;
};
extern const struct model_case model_cases[];
extern const int model_ncases;

/* Machines behind one front; which of them is compared does not matter to it. */
struct model_couple {
	const char *name;
	struct machine m[2];
};
extern const struct model_couple model_couples[];
extern const int model_ncouples;

/* model_pick.c: one that nobody thought of, by random_below(). */
struct machine pick_machine(void);

/* The seed of all that is random; not 0. */
extern uint64_t random_seed;
uint64_t random_below(uint64_t n);

#endif
