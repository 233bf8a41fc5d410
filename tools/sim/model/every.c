/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/every.h"

struct every every;
struct every_now every_now;
struct every_parts every_parts = {.left = INT64_MAX,
	.from = INT64_MAX,
	.of = {{.left = INT64_MAX}, {.left = INT64_MAX}}};

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

/* ---- parts ---- */

static void see_part(uint32_t parts, uint64_t addr, uint32_t size, enum batch_kind kind)
{
	for (uint32_t i = 0; i < EVERY_PARTS; i++)
		if (parts >> i & 1)
			every_parts.of[i].see(addr, size, kind);
}

static void run_part(uint32_t parts, const struct batch *b, const uint64_t *at)
{
	const struct batch_item *i = b->item, *end = i + b->items;

	for (; i < end; i++)
		if (i->kind != BATCH_CODE)
			see_part(parts, at[i->place] + (uint64_t)(int64_t)i->offset,
				i->size, (enum batch_kind)i->kind);
}

static void take_off(void)
{
	for (uint32_t i = 0; i < EVERY_PARTS; i++)
		every_parts.of[i].left -= every_parts.from - every_parts.left;
	every_parts.from = every_parts.left;
}

static void await_first(void)
{
	int64_t left = INT64_MAX;

	for (uint32_t i = 0; i < EVERY_PARTS; i++)
		if (every_parts.of[i].left < left)
			left = every_parts.of[i].left;
	every_parts.left = every_parts.from = left < 0 ? 0 : left;
}

void every_part_await(enum every_part part, int64_t references)
{
	take_off();
	every_parts.of[part].left = references;
	await_first();
}

static __attribute__((noinline)) uint32_t ask_parts(uint32_t references)
{
	uint32_t wanting = 0;

	take_off();
	for (uint32_t i = 0; i < EVERY_PARTS; i++)
		if (every_parts.of[i].left < 0 && every_parts.of[i].wants(references))
			wanting |= 1u << i;
	await_first();
	return wanting;
}

/* Which want what was just made, so many references: as bits. */
static inline uint32_t wanting_parts(uint32_t references)
{
	every_parts.left -= references;
	return __builtin_expect(every_parts.left < 0, 0) ? ask_parts(references) : 0;
}

void every_other(uint64_t addr, uint32_t size, enum batch_kind kind)
{
	uint32_t parts;

	tell_data(addr, size, kind);
	parts = wanting_parts(1);
	if (parts)
		see_part(parts, addr, size, kind);
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
		uint32_t parts;                                                          \
                                                                                         \
		every.model_of[places][lines - 1](b, line, at[0], at[1], at[2], at[3]);  \
		if (every.count)                                                         \
			run_batch(b, line, at);                                          \
		parts = wanting_parts(b->items);                                         \
		if (parts)                                                               \
			run_part(parts, b, at);                                          \
	}

BATCH_RUNS(run, 0)

batch_function *every_function_for(batch_function *model, uint32_t places, uint32_t lines)
{
	static batch_function *const function[2][BATCH_PLACES + 1] = BATCH_NAMES(run);

	every.model_of[places][lines - 1] = model;
	return function[lines - 1][places];
}
