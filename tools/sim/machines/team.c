/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machines/team.h"
#include "machines/front.h"

struct team team;

#define RUN(name, places, lines, shift)                                                  \
	static void name(const struct batch *b, uint64_t line, uint64_t a0, uint64_t a1, \
		uint64_t a2, uint64_t a3)                                                \
	{                                                                                \
		for (uint32_t i = 0; i < team.size; i++) {                               \
			running = team.member[i];                                        \
			team.of_core[lines - 1][places](b, line, a0, a1, a2, a3);        \
		}                                                                        \
		if (front->nmembers)                                                     \
			team.of_front[lines - 1][places](b, line, a0, a1, a2, a3);       \
	}

BATCH_RUNS(run, 0)

batch_function *team_function_for(uint32_t line_shift, uint32_t places, uint32_t lines)
{
	static batch_function *const run[2][BATCH_PLACES + 1] = BATCH_NAMES(run);

	team.of_core[lines - 1][places] = batch_function_for(line_shift, places, lines);
	team.of_front[lines - 1][places] = front_function_for(line_shift, places, lines);
	return run[lines - 1][places];
}

void team_direct(uint64_t addr, uint32_t size, enum access kind)
{
	for (uint32_t i = 0; i < team.size; i++) {
		running = team.member[i];
		batch_direct(addr, size, kind);
	}
	front_direct(addr, size, kind);
}

void team_order(uint64_t addr, enum cache_order order)
{
	for (uint32_t i = 0; i < team.size; i++)
		core_order(team.member[i], addr, order);
	front_order(addr, order);
}

void team_stream(uint64_t addr, uint32_t size, int is_masked)
{
	for (uint32_t i = 0; i < team.size; i++) {
		running = team.member[i];
		if (!core_stream(running, addr, size, is_masked))
			batch_direct(addr, size, STORE);
	}
	front_stream(addr, size, is_masked);
}

void team_modify(void)
{
	for (uint32_t i = 0; i < team.size; i++)
		team.member[i]->rmw++;
	front_modify();
}
