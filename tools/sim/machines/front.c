/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machines/front_parts.h"

struct front *front;

#define EPOCH (1ull << 40)

/* ---- facts that leave the filter ---- */

/* 0: everyone has heard of it. */
static uint64_t news_of(
	const struct front *f, const struct front_entry *e, uint32_t known)
{
	return e->stamp == known ? 0 : front_stamp(f, e->stamp);
}

void front_tell_data(struct front *f, const struct front_entry *e, uint32_t known)
{
	uint64_t unit;

	if (e->line == NO_LINE)
		return;
	unit = unit_of(f, e->line);
	for (uint32_t i = 0; i < f->nmembers; i++)
		flex_learn_data(f->member[i], unit, news_of(f, e, known));
}

void front_tell_code(struct front *f, const struct front_entry *e, uint32_t known)
{
	uint64_t unit;

	if (e->line == NO_LINE)
		return;
	unit = unit_of(f, e->line);
	for (uint32_t i = 0; i < f->nmembers; i++)
		if (!(f->code_aware >> i & 1))
			flex_learn_code(f->member[i], unit, news_of(f, e, known));
}

static void forget_all(struct front *f)
{
	for (uint32_t i = 0; i < DATA_FILTER; i++) {
		front_tell_data(f, &f->data[i], f->data_known[i]);
		f->data[i].line = NO_LINE;
	}
	for (uint32_t i = 0; i < CODE_FILTER; i++) {
		front_tell_code(f, &f->code[i], f->code_known[i]);
		f->code[i].line = NO_LINE;
	}
}

/* ---- what the members say and ask ---- */

static void need_units(struct front_entry *filter, uint32_t mask, uint32_t bit,
	uint64_t first, uint64_t count)
{
	uint64_t entries = count < mask ? count : mask + 1;

	if (count == 1 && first < FAR_LINES_FROM) {
		if (filter[first & mask].line == first)
			front_lost_slot(filter, (uint32_t)(first & mask) + 1, bit);
		return;
	}
	for (uint64_t i = first; i < first + entries; i++) {
		struct front_entry *e = &filter[i & mask];

		if (e->line != NO_LINE && unit_of(front, e->line) - first < count) {
			e->need[0] |= (uint16_t)bit;
			e->need[1] |= (uint16_t)bit;
		}
	}
}

void front_lost_data(struct core *core, uint64_t first, uint64_t count)
{
	uint32_t bit = core->flex->bit;

	if (bit)
		need_units(front->data, DATA_FILTER - 1, bit, first, count);
}

void front_lost_code(struct core *core, uint64_t first, uint64_t count)
{
	uint32_t bit = core->flex->bit;

	if (bit)
		need_units(front->code, CODE_FILTER - 1, bit, first, count);
}

/* The newest stamp of units next to each other, no more than the filter has room for. */
LANES_INLINE uint32_t newest_stamp(struct front *f, const struct front_entry *filter,
	uint32_t mask, uint64_t first, uint64_t count, uint64_t entries)
{
	uint32_t stamp = 0;

	for (uint64_t i = first; i < first + entries; i++) {
		const struct front_entry *e = &filter[i & mask];

		if (e->stamp > stamp && e->line != NO_LINE &&
			unit_of(f, e->line) - first < count)
			stamp = e->stamp;
	}
	return stamp;
}

uint64_t front_newest(const struct core *core, int code, uint64_t first, uint64_t count)
{
	const struct front_entry *filter = code ? front->code : front->data;
	uint32_t mask = (code ? CODE_FILTER : DATA_FILTER) - 1, stamp;

	if (!core->flex->bit)
		return 0;
	if (count == 1)
		stamp = newest_stamp(front, filter, mask, first, 1, 1);
	else
		stamp = newest_stamp(front, filter, mask, first, count,
			count < mask ? count : mask + 1);
	return stamp ? front_stamp(front, stamp) : 0;
}

/* ---- its life ---- */

void front_init(struct front *f, const struct machine *machines, uint32_t nmachines)
{
	uint32_t sets = ~0u;

	for (uint32_t i = 0; i < nmachines; i++)
		if (machine_fewest_sets(&machines[i]) < sets)
			sets = machine_fewest_sets(&machines[i]);
	for (uint32_t i = 0; i < nmachines; i++)
		f->asks_who |= (uint32_t)machine_asks_who(&machines[i]);
	far_lines_init(&f->far_lines, sets);
	f->line_shift = log2_of(machines[0].line);
	f->clock = f->clock_seen = 1;
	f->last_line = NO_LINE;
	for (uint32_t i = 0; i < DATA_FILTER; i++)
		f->data[i].line = NO_LINE;
	for (uint32_t i = 0; i < CODE_FILTER; i++)
		f->code[i].line = NO_LINE;
}

static int same_members(
	const struct front *f, struct core *const *members, uint32_t nmembers)
{
	for (uint32_t i = 0; i < nmembers; i++)
		if (f->member[i] != members[i])
			return 0;
	return f->nmembers == nmembers;
}

static void leave_filter(struct front *f)
{
	front_collect(f);
	forget_all(f);
	for (uint32_t i = 0; i < f->nmembers; i++) {
		f->member[i]->last_line = f->last_line;
		f->member[i]->flex->bit = 0;
	}
}

void front_use(struct front *f, struct core *const *members, uint32_t nmembers)
{
	if (same_members(f, members, nmembers))
		return;
	leave_filter(f);
	f->nmembers = nmembers;
	f->all = (1u << nmembers) - 1;
	f->code_aware = f->resuming = 0;
	f->last_line = nmembers ? members[0]->last_line : NO_LINE;
	for (uint32_t i = 0; i < nmembers; i++) {
		f->member[i] = members[i];
		members[i]->flex->bit = 1u << members[i]->flex->number;
		f->code_aware |= (uint32_t)flex_is_code_aware(members[i]) << i;
		f->resuming |= members[i]->last_line != f->last_line;
	}
	if (f->resuming)
		f->last_line = NO_LINE;
}

static void add_to(struct front *f, uint32_t i, uint64_t lines)
{
	uint64_t *count = f->member[i]->count;

	count[CP_SIM_instructions] += f->clock >> 32;
	count[CP_SIM_l1d_loads] += f->loads;
	count[CP_SIM_l1d_stores] += f->stores;
	count[CP_SIM_l1d_rmw] += f->rmw;
	f->member[i]->ported += f->ports;
	if (!(f->code_aware >> i & 1)) /* which counts by itself */
		count[CP_SIM_l1i_accesses] += lines;
}

void front_collect(struct front *f)
{
	uint32_t ticks = (uint32_t)f->clock - (uint32_t)f->clock_seen;
	uint64_t lines = ticks - f->idle_ticks - 2 * ((uint64_t)f->loads + f->stores);

	for (uint32_t i = 0; i < f->nmembers; i++)
		add_to(f, i, lines);
	f->clock = (uint32_t)f->clock;
	f->loads = f->stores = f->rmw = f->ports = f->idle_ticks = 0;
	if (f->clock > CLOCK_LIMIT) {
		forget_all(f);
		f->epoch += EPOCH;
		f->clock = 1;
	}
	f->clock_seen = f->clock;
}
