/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The model and the plain reference side by side, given the same random references.
 */
#ifndef CACHEPEEK_TESTS_SIM_DUEL_H
#define CACHEPEEK_TESTS_SIM_DUEL_H

#include "model_machines.h"
#include "reference.h"

struct duel {
	struct ref_system ref;
	struct uncore uncore;
	struct core *core[REF_CORES];
	uint64_t count[REF_CORES][CP_SIM_NCOUNTERS];
	int ncores, turn, any_sets, has_front;
	uint64_t walk, pc, streamed;
	uint64_t strides[64]; /* where those that go by steps are */
	/* The cores of another machine behind the same front; the one whose reference it
	 * is. */
	struct uncore guest_uncore;
	struct core *guest[REF_CORES];
	int is_guest, has_floats;
};

void duel_start(struct duel *d, const struct machine *m, int ncores, int with_huge);

/* Puts the couple's second machine behind the front of the first; is_guest: it is the one
 * that is compared. */
void duel_join(struct duel *d, const struct model_couple *c, int is_guest);

/* A few references, all by one core. */
void duel_step(struct duel *d);

/* How many counters differ.  Prints each. */
int duel_differences(struct duel *d);

uint64_t duel_references(const struct duel *d);
void duel_end(struct duel *d);

#endif
