/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/every.h"

struct every every;
struct every_now every_now;
struct every_part every_part = {.left = INT64_MAX};

void every_add(every_code *code, every_data *data)
{
	every.on_code[every.count] = code;
	every.on_data[every.count++] = data;
}

static void tell_code(uint64_t line)
{
	for (uint32_t n = 0; n < every.count; n++)
		if (every.on_code[n])
			every.on_code[n](line);
}

static void tell_data(uint64_t addr, uint32_t size, enum batch_kind kind)
{
	for (uint32_t n = 0; n < every.count; n++)
		if (every.on_data[n])
			every.on_data[n](addr, size, kind);
}

static void run_batch(const struct batch *b, uint64_t line, const uint64_t *at)
{
	const struct batch_item *i = b->item, *end = i + b->items;

	const struct batch_note *note = batch_notes(b);

	every_now.line = line;
	for (; i < end; i++, note++) {
		uint64_t offset = (uint64_t)(int64_t)i->offset;

		if (i->kind == BATCH_CODE) {
			tell_code(line + offset);
			continue;
		}
		every_now.note = note;
		tell_data(at[i->place] + offset, i->size, (enum batch_kind)i->kind);
	}
}

static void run_part(const struct batch *b, const uint64_t *at)
{
	const struct batch_item *i = b->item, *end = i + b->items;

	for (; i < end; i++)
		if (i->kind != BATCH_CODE)
			every_part.see(at[i->place] + (uint64_t)(int64_t)i->offset,
				i->size, (enum batch_kind)i->kind);
}

/* Behind so many references. */
static inline int part_is_wanted(uint32_t references)
{
	every_part.left -= references;
	return __builtin_expect(every_part.left < 0, 0) && every_part.wants(references);
}

void every_other(uint64_t addr, uint32_t size, enum batch_kind kind)
{
	tell_data(addr, size, kind);
	if (part_is_wanted(1))
		every_part.see(addr, size, kind);
}

void every_direct(uint64_t addr, uint32_t size, enum access kind)
{
	every_other(addr, size, kind == STORE ? BATCH_WRITE : BATCH_READ);
}

#define RUN(name, places, lines, shift)                                                  \
	static void name(const struct batch *b, uint64_t line, uint64_t a0, uint64_t a1, \
		uint64_t a2, uint64_t a3)                                                \
	{                                                                                \
		const uint64_t at[] = {places > 0 ? a0 : 0, places > 1 ? a1 : 0,         \
			places > 2 ? a2 : 0, places > 3 ? a3 : 0};                       \
                                                                                         \
		every.model_of[places][lines - 1](b, line, at[0], at[1], at[2], at[3]);  \
		if (every.count)                                                         \
			run_batch(b, line, at);                                          \
		if (part_is_wanted(b->items))                                            \
			run_part(b, at);                                                 \
	}

BATCH_RUNS(run, 0)

batch_function *every_function_for(batch_function *model, uint32_t places, uint32_t lines)
{
	static batch_function *const function[2][BATCH_PLACES + 1] = BATCH_NAMES(run);

	every.model_of[places][lines - 1] = model;
	return function[lines - 1][places];
}
