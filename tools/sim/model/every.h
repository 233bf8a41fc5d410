/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The observers of every reference, one by one and in the program's order: behind the
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

/* The observers of a part of the data references.  Each reference takes one off `left` (a
 * batch does so at once, of code, too); below 0, they are asked whether they want those
 * that were just made, so many.  wants NULL: there is nobody. */
enum every_part { EVERY_TRANSFERS, EVERY_LINE_USE, EVERY_PARTS };
extern struct every_parts {
	int64_t left, from; /* of the first one that is asked; and when that was set */
	struct {
		int64_t left; /* when `left` was `from` */
		int (*wants)(uint32_t references);
		every_data *see;
	} of[EVERY_PARTS];
} every_parts;
/* The part is asked behind so many references. */
void every_part_await(enum every_part part, int64_t references);

/* Is there anybody?  Then batches are run by a function that tells them after it has
 * called the models'; and so are references by themselves. */
extern struct every {
	uint32_t count;
	every_code *on_code[EVERY_MOST];
	every_data *on_data[EVERY_MOST];
	/* One function for each number of places, since no more arguments are given. */
	batch_function *model_of[BATCH_PLACES + 1][2];
} every;
static inline int every_has_any(void)
{
	return every.count || every_parts.of[EVERY_TRANSFERS].wants ||
	       every_parts.of[EVERY_LINE_USE].wants;
}

/* The reference that on_data is told of: that of the note, in a batch that begins in that
 * line, if batches have notes; or (NULL) one by itself. */
extern struct every_now {
	const struct batch_note *note;
	uint64_t line, instruction;
} every_now;

/* References by themselves are this instruction's from here on. */
static inline void every_by(uint64_t instruction)
{
	every_now.note = 0;
	every_now.instruction = instruction;
}

/* The address of that instruction. */
static inline uint64_t every_instruction(uint32_t line_shift)
{
	const struct batch_note *note = every_now.note;

	return note ? (every_now.line << line_shift) + (uint64_t)(int64_t)note->offset
		    : every_now.instruction;
}

batch_function *every_function_for(
	batch_function *model, uint32_t places, uint32_t lines);
void every_other(uint64_t addr, uint32_t size, enum batch_kind kind);
void every_direct(uint64_t addr, uint32_t size, enum access kind);

#endif
