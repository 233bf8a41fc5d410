/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How values flow through the superblock that is being instrumented (model/flow.h), for
 * machines that execute out of order.
 */
#ifndef CACHEPEEK_SIM_FLOWS_H
#define CACHEPEEK_SIM_FLOWS_H

#include "tool.h"

void flows_begin(void);

/* All of it, before its statements. */
void flows_look(const IRSB *in);

/* An instruction begins, and its statements, in their order. */
void flows_instruction(void);
void flows_statement(const IRSB *in, Int at);

/* The load that statement `at` made, in the superblock; -1: it is not followed. */
Int flows_load(const IRSB *in, Int at);

/* The batch so far ends in a branch that hangs on that; it jumps: anywhere, not one of
 * two ways. */
void flows_branch(const IRExpr *on, Bool jumps);

/* A branch behind the instructions so far is taken. */
void flows_taken(void);

/* The flow since the last time, for so many instructions, loads and stores: as struct
 * batch has it. */
struct flowed {
	const struct flow *flow;
	Bool branches, jumps, repeats; /* it goes on where it begins */
	UInt ports, if_taken, if_left;
	UChar chain_of, chain_cycles;
	UInt chain_reach, resolves;
	UInt divides; /* cycles of the divider */
	ULong anew, chain_loads;
};
struct flowed flows_take(UInt instructions, UInt loads, UInt stores);

#endif
