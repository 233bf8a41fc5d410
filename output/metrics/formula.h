/* SPDX-License-Identifier: MIT
 *
 * The formulas of metrics: numbers, names, + - * /, unary minus, parentheses,
 * min(a, b), max(a, b), abs(a), clamp(a, low, high), estimate(a).  A name is what the
 * caller's lookup knows: a quantity (l1d_misses, perf::cycles; in 'quotes' where it holds
 * a character that a formula would take for an operator, as 'perf::PAGE-FAULTS') or one
 * of the parameters LINE, N, SECONDS, TSC, CLOCK.
 *
 * clamp() is for what cannot lie outside its bounds but comes from counts that do
 * not fit together: the result is then estimated, and its flag says what it was.
 * estimate() is for what rests on an assumption.
 *
 * A formula never yields NaN, an infinity or a substitute: without one of its
 * inputs, or divided by zero, it is unavailable and says why.
 */
#ifndef CACHEPEEK_OUTPUT_METRICS_FORMULA_H
#define CACHEPEEK_OUTPUT_METRICS_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "output/metrics/value.h"
#include "base/text/words.h"

struct cp_formula; /* lives in the arena that it was parsed into */

/* Returns NULL on a syntax error, with one phrase in error (what and where).
 * The text must live as long as the formula.  Nesting is limited to 64. */
const struct cp_formula *cp_formula_parse(
	struct cp_arena *arena, struct cp_slice text, char *error, size_t error_size);

/* The value of a name; unavailable, with a reason, for what is not there. */
typedef struct cp_value cp_formula_lookup(void *context, const char *name);

/* The reason of an unavailable result names the input and is in arena. */
struct cp_value cp_formula_evaluate(struct cp_arena *arena,
	const struct cp_formula *formula, cp_formula_lookup *lookup, void *context);

/* A formula without names: "3e6", "4 * 64".  False: it is none, or not above 0. */
bool cp_formula_number(struct cp_arena *arena, struct cp_slice text, double *number);

/* Calls visit for each name, in order, repeats included, until it returns
 * false; returns whether it never did. */
bool cp_formula_names(const struct cp_formula *formula,
	bool (*visit)(void *context, const char *name), void *context);

#endif
