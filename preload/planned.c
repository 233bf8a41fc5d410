/* SPDX-License-Identifier: MIT */
#include "preload/planned.h"

struct cp_plan cp_plan;
struct cp_arena cp_decide_arena;

bool cp_decide_with_memory(void (*start)(char **argv), char **argv)
{
	struct cp_escape out_of_memory;
	volatile bool enough = false;

	cp_decide_arena.out_of_memory = &out_of_memory;
	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		start(argv);
		enough = true;
	}
	cp_decide_arena.out_of_memory = NULL;
	return enough;
}

void cp_decide_complain(const char *line)
{
	cp_plan_add_text(&cp_plan, &cp_decide_arena, CP_PLAN_SAID, line);
}
