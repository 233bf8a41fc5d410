/* SPDX-License-Identifier: MIT
 *
 * The cost of a line by where it came from, in cycles, and whence that is known: the one
 * table that everything is weighed with (groups, profiles, compare).  The machine's file
 * says it; what that does not say, or calls assumed itself, is an assumption;
 * CACHEPEEK_LET is the user's.  Formulas of groups use the weights by their names.
 */
#ifndef CACHEPEEK_OUTPUT_METRICS_WEIGHTS_H
#define CACHEPEEK_OUTPUT_METRICS_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/out.h"
#include "output/metrics/value.h"

/* The hops and the caches of other cores are those of machines of several sockets. */
enum cp_weight_of {
	CP_OF_L1,
	CP_OF_L2,
	CP_OF_L3,
	CP_OF_MEMORY,
	CP_OF_ONE_HOP,
	CP_OF_TWO_HOPS,
	CP_OF_NEAR_CACHE,
	CP_OF_FAR_CACHE,
	CP_NWEIGHTS
};

enum cp_weight_from {
	CP_WEIGHT_NONE, /* there is no such level */
	CP_WEIGHT_MACHINE,
	CP_WEIGHT_ASSUMED,
	CP_WEIGHT_USER,
	CP_NWEIGHT_FROM
};

struct cp_weight {
	enum cp_weight_from from;
	double cycles;
};

struct cp_weights {
	struct cp_weight of[CP_NWEIGHTS];
};

/* The weights of a processor whose latencies nobody has said: all assumed, one socket. */
struct cp_weights cp_weights_assumed(void);

/* Sets what is said; said 0: assumes, at least what the level in front takes.
 * assumed: the machine's file says that it assumes it. */
void cp_weight_state(
	struct cp_weights *weights, enum cp_weight_of of, double said, bool assumed);

/* "MEMORY_CYCLES", or what groups called it before ("LAT_MEM"); CP_NWEIGHTS: no such
 * weight. */
enum cp_weight_of cp_weight_find(const char *name);
const char *cp_weight_name(enum cp_weight_of of);
const char *cp_weight_key(enum cp_weight_of of); /* in JSON */

/* For formulas: what the name weighs.  Of a level that is not there, what is behind it
 * does what it would have done.  False: the name is none of a weight. */
bool cp_weight_value(
	const struct cp_weights *weights, const char *name, struct cp_value *value);

/* As records and jobs keep them; it fits into CP_WEIGHTS_TEXT bytes.  What cannot be
 * read is assumed. */
#define CP_WEIGHTS_TEXT 400
void cp_weights_print(const struct cp_weights *weights, char *to, size_t size);
struct cp_weights cp_weights_read(const char *text);

/* "latencies: L2_CYCLES 14 (assumed), …", for people: of those (1u << of) that there are.
 * "": none is. */
const char *cp_weights_text(
	struct cp_arena *arena, const struct cp_weights *weights, unsigned which);

/* "latencies": {…}, "latencies_from": {…} */
void cp_weights_write_json(struct cp_out *out, const struct cp_weights *weights);

#endif
