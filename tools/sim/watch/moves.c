/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A stack pointer that is set to a higher value, within a stack, is that of an outer
 * function; nothing sets it to a lower one but what changes stacks.  Stacks inside of
 * another one, and those that share one whose contents are copied, look alike until the
 * program comes back to where it jumped from: then nothing can be told any more.
 */
#include "watch/moves.h"

#define MAX_JUMPS 64
#define COMES_BACK (128 + STACK_DELAY) /* so far above where it left, at most */
#define PROBED 4096 /* compilers touch each page of what they make room for */

/* Where such jumps were that ended calls, the last of them. */
static Addr jumped[MAX_JUMPS];
static UInt njumped;

static Bool was_jumped(Addr sp, Addr within)
{
	for (UInt i = 0; i < MAX_JUMPS; i++)
		if (jumped[i] && sp >= jumped[i] && sp - jumped[i] <= within)
			return True;
	return False;
}

static void note_jump(
	const struct strand *s, Addr from, Addr to, enum stack_source source)
{
	if (source != STACK_FROM_SUM)
		from -= STACK_DELAY;
	if (s->depth && s->calls[s->depth - 1].sp < to && !was_jumped(from, 0))
		jumped[njumped++ % MAX_JUMPS] = from;
}

/* Out of a signal's handler on a stack of its own, by a jump. */
static Bool leaves_handler(const struct strand *s, Addr to)
{
	for (UInt i = 0; i < s->nbarriers; i++)
		if (to > s->barriers[i].sp && same_stack(to, s->barriers[i].sp))
			return True;
	return False;
}

static enum move_kind look_up(
	const struct strand *s, Addr from, Addr to, enum stack_source source)
{
	if (to > s->base || !stack_has_both(from, to))
		return MOVE_LEAVES;
	note_jump(s, from, to, source);
	return MOVE_STAYS;
}

/* Room for variables is subtracted. */
static enum move_kind look_at_sum(Addr from, Addr to)
{
	if (was_jumped(to, 0))
		return MOVE_UNTOLD;
	return stack_has_both(from, to) ? MOVE_STAYS : MOVE_LEAVES;
}

/* Nothing begins anew below a thread's own stack pointer. */
static enum move_kind look_down(const struct strand *s, Addr from, Addr to)
{
	if (was_jumped(to, COMES_BACK))
		return MOVE_UNTOLD;
	if (!stack_has_both(from, to) || strand_find(to))
		return MOVE_LEAVES;
	if (from - to < PROBED)
		return MOVE_STAYS;
	return s->base == ~0ul ? MOVE_UNTOLD : MOVE_LEAVES;
}

enum move_kind move_look(
	const struct strand *at, Addr from, Addr to, enum stack_source source)
{
	if (leaves_handler(at, to))
		return MOVE_STAYS;
	if (source != STACK_FROM_SUM && strand_at(to))
		return MOVE_LEAVES;
	if (to > from)
		return look_up(at, from, to, source);
	return source == STACK_FROM_SUM ? look_at_sum(from, to) : look_down(at, from, to);
}
