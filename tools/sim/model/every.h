/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Those who look at every reference, one by one and in the program's order: behind the
 * models, whose filters know nothing of them.
 */
#ifndef CACHEPEEK_SIM_EVERY_H
#define CACHEPEEK_SIM_EVERY_H

#include "model/batch.h"

#define EVERY_MOST 4

/* NULL: not interested.  A line is one of code, by its full number; kind: READ, WRITE,
 * MODIFY (both) or FLOAT (a READ). */
typedef void every_code(uint64_t line);
typedef void every_data(uint64_t addr, uint32_t size, enum batch_kind kind);

/* Before anything is instrumented. */
void every_add(every_code *code, every_data *data);

/* Is there anybody?  Then batches are run by a function that tells them after it has
 * called the models'; and so are references by themselves. */
extern struct every {
	uint32_t count;
	every_code *on_code[EVERY_MOST];
	every_data *on_data[EVERY_MOST];
	/* One function for each number of places, since no more arguments are given. */
	batch_function *model_of[BATCH_PLACES + 1][2];
} every;
batch_function *every_function_for(
	batch_function *model, uint32_t places, uint32_t lines);
void every_other(uint64_t addr, uint32_t size, enum batch_kind kind);
void every_direct(uint64_t addr, uint32_t size, enum access kind);

#endif
