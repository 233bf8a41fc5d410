/* SPDX-License-Identifier: MIT
 *
 * CACHEPEEK_PROFILE under shadows: what each instruction missed in windows, as estimates
 * of the whole run, in PID-N.profile (tools/sim/profile_file.h).
 */
#ifndef CACHEPEEK_PRELOAD_SHADOW_PLACES_H
#define CACHEPEEK_PRELOAD_SHADOW_PLACES_H

#include <stdbool.h>

#include "preload/shadow/state.h"
#include "tools/sim/profile_file.h"

#define CP_PLACE_SUMS (1u << 16) /* an instruction has one in each group */

/* The places of all windows so far. */
struct cp_places {
	/* The last window that was counted: what it stands for is not known before the
	 * next one, or the end. */
	bool has_last;
	struct cp_shadow_window last;
	struct cp_shadow_misses last_misses;
	double weighed_ns; /* up to there, CPU time has been given to windows */
	unsigned windows, beyond;
	int number; /* of the file; < 0: there is none yet */
	double seen_ns, stands_for_ns[CP_SIM_GROUPS];
	double count[CP_SIM_NBURST][CP_SIM_GROUPS]; /* of no place */
	double unknown[CP_SIM_NBURST];
	uint64_t random;
	uint32_t n, slot[2 * CP_PLACE_SUMS]; /* by a hash: sums and 1; 0: free */
	struct cp_place_sum {
		uint64_t address;
		uint32_t group;
		double count[CP_SIM_NBURST];
	} of[CP_PLACE_SUMS];
};

/* Says, once, what of a profile's options shadows do not do. */
void cp_places_choose(void);
bool cp_places_wanted(void);

/* NULL: there is no memory. */
struct cp_places *cp_places_new(void);
void cp_places_give_back(struct cp_places *places); /* NULL is fine */

/* A window that is counted, and the last one so far. */
void cp_places_take(struct cp_places *places, const struct cp_shadow_window *window,
	const struct cp_shadow_misses *misses);
/* The last one stands for all until then. */
void cp_places_conclude(struct cp_places *places, double cpu_ns);
/* All that was added up, times that: to be written, and back, as more may come. */
void cp_places_scale(struct cp_places *places, double factor);

/* build_id.c: of the file whose beginning is mapped there, in to, which has room for
 * CP_BUILD_ID_MAX bytes; its size, 0: there is none. */
uint32_t cp_places_build_id(uint64_t start, uint64_t end, uint8_t *to);

/* Writes the process's file, or writes it anew; shadows may be NULL: there were none. */
void cp_places_write(struct cp_shadows *shadows);

#endif
