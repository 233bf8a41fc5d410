/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Keeps delays where misses are not followed: full buffers, and levels and memory that
 * are asked for more than they give, are as far behind where misses are followed again.
 * They would else be empty at the beginning of each unit, and take it longer to fill than
 * it warms up.  A part of ahead.c, behind ahead_parts.h.
 */
#ifndef CACHEPEEK_SIM_BACKLOG_H
#define CACHEPEEK_SIM_BACKLOG_H

/* Stores that miss. */
static inline void pass_entries(struct ahead *a, uint64_t cycles)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		a->left[i] += cycles;
	a->drained += cycles;
}

static inline void pass_levels(struct ahead *a, uint64_t cycles)
{
	room_pass(&a->fills, cycles);
	room_pass(&a->l2_fills, cycles);
	room_pass(&a->walkers, cycles);
	room_pass(&a->memory_lines, cycles);
	room_pass(&a->store_lines, cycles);
	for (uint32_t i = 0; i < HALVES; i++)
		room_pass(&a->l2_lines[i], cycles);
	for (uint32_t i = 0; i < a->of.banks; i++)
		room_pass(&a->l2_banks[i], cycles);
}

/* Cycles that are not followed have gone by. */
static void backlog_pass(struct ahead *a, uint64_t cycles)
{
	pass_entries(a, cycles);
	pass_levels(a, cycles);
	a->load_ports += cycles * AHEAD_TICKS;
	a->divided += cycles * AHEAD_TICKS;
}

#endif
