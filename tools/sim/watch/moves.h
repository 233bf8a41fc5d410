/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Does an instruction that sets the stack pointer leave the stack?
 */
#ifndef CACHEPEEK_SIM_MOVES_H
#define CACHEPEEK_SIM_MOVES_H

#include "watch/stack_writes.h"
#include "watch/strands.h"

enum move_kind {
	MOVE_STAYS,  /* a return, a jump to an outer function, room for variables */
	MOVE_LEAVES, /* to another stack */
	MOVE_UNTOLD, /* what was taken for a jump was none: calls were ended that go on */
};

enum move_kind move_look(
	const struct strand *at, Addr from, Addr to, enum stack_source source);

#endif
