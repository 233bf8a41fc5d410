/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The model once more, as plainly as possible: what model_test compares with.
 */
#ifndef SIM_REFERENCE_H
#define SIM_REFERENCE_H

#include "model.h"

#define REF_CORES 3

struct ref_way {
	uint64_t key, used;
	int valid, dirty, owned;
};

struct ref_cache {
	uint32_t sets, ways;
	struct ref_way *way;
};

struct ref_core {
	struct ref_cache l1i, l1d, l2, itlb, dtlb, stlb;
	uint64_t last_line, count[CP_SIM_NCOUNTERS];
};

struct ref_system {
	struct machine m;
	struct ref_cache llc;
	struct ref_core core[REF_CORES];
	int ncores;
	uint64_t now;
};

void ref_init(struct ref_system *s, const struct machine *m, int ncores);
void ref_free(struct ref_system *s);
void ref_data(
	struct ref_system *s, int core, uint64_t addr, uint32_t size, enum access kind);
void ref_code(struct ref_system *s, int core, uint64_t line);

#endif
