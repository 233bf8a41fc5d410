/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The strands that were left, by where that was.
 */
#include "watch/stack_writes.h"
#include "watch/strands.h"
#include "bounds.h"

#include "pub_tool_oset.h"

#define NEAR (64 << 10) /* so far apart it is one stack */
/* A program that switches stacks comes back so far above where it left, at most: without
 * its return address and the registers that it keeps on the stack. */
#define WINDOW (128 + STACK_DELAY)
#define MANY 100000 /* those without calls are forgotten */

#define MADE 4096 /* the last of them */

static OSet *left;
static struct made {
	Addr low, end; /* the first stack pointer is the end */
} made[MADE];
static UInt next_made;

void strands_start(void)
{
	left = VG_(OSetGen_Create)(__builtin_offsetof(struct strand, order), NULL,
		VG_(malloc), "cachepeek.strands", VG_(free));
}

void stack_made(Addr low, Addr end)
{
	UInt i;

	for (i = 0; i < MADE && made[i].end; i++)
		if (low < made[i].end && end > made[i].low)
			break;
	if (i == MADE)
		i = next_made++ % MADE;
	made[i] = (struct made){low, end};
}

static const struct made *made_at(Addr a)
{
	for (UInt i = 0; i < MADE && made[i].end; i++)
		if (a >= made[i].low && a <= made[i].end)
			return &made[i];
	return NULL;
}

Bool stack_has_both(Addr a, Addr b)
{
	return bounds_same(a, b) && made_at(a) == made_at(b);
}

Bool same_stack(Addr a, Addr b)
{
	return ((a < b ? b - a : a - b) < NEAR && made_at(a) == made_at(b)) ||
	       stack_has_both(a, b);
}

struct strand *strand_new(Addr base)
{
	struct strand *s = VG_(OSetGen_AllocNode)(left, sizeof(*s));

	VG_(memset)(s, 0, sizeof(*s));
	s->base = base;
	return s;
}

static void forget(struct strand *s)
{
	if (s->left)
		VG_(OSetGen_Remove)(left, &s->order);
	s->left = 0;
}

/* With what it called. */
static void drop_strand(struct strand *s)
{
	while (s) {
		struct strand *callee = s->callee;

		if (s->caller)
			s->caller->callee = NULL;
		forget(s);
		VG_(free)(s->calls);
		VG_(free)(s->barriers);
		VG_(OSetGen_FreeNode)(left, s);
		s = callee;
	}
}

void strand_drop_thread(struct strand *own, struct strand *at)
{
	struct strand *outer = at;

	while (outer->caller)
		outer = outer->caller;
	drop_strand(outer);
	if (own != outer)
		drop_strand(own);
}

void strands_unmapped(Addr a, SizeT size)
{
	struct strand *s;
	UWord order = ~(a + size - 1);

	for (;;) {
		if (!left)
			return;
		VG_(OSetGen_ResetIterAt)(left, &order);
		s = VG_(OSetGen_Next)(left);
		if (!s || s->left < a)
			return;
		if (s->base == ~0ul || s->callee)
			forget(s);
		else
			drop_strand(s);
	}
}

/* Another one that was left there is no more: its stack was used again. */
void strand_leave(struct strand *s, Addr sp)
{
	struct strand *old;

	s->order = ~sp;
	old = VG_(OSetGen_Lookup)(left, &s->order);
	if (old && (old->base == ~0ul || old->callee))
		forget(old);
	else if (old)
		drop_strand(old);
	s->left = sp;
	VG_(OSetGen_Insert)(left, s);
	if (!strand_all(s) && s->base != ~0ul && !s->callee &&
		VG_(OSetGen_Size)(left) > MANY)
		drop_strand(s);
}

void strand_take(struct strand *s)
{
	forget(s);
	if (s->callee)
		drop_strand(s->callee);
}

static struct strand *strand_below(Addr sp)
{
	UWord order = ~sp;

	VG_(OSetGen_ResetIterAt)(left, &order);
	return VG_(OSetGen_Next)(left);
}

struct strand *strand_at(Addr sp)
{
	struct strand *s = strand_below(sp);

	return s && sp - s->left <= WINDOW ? s : NULL;
}

struct strand *strand_find(Addr sp)
{
	struct strand *s = strand_at(sp), *below = s ? s : strand_below(sp);

	return below && (s || (sp <= below->base && stack_has_both(below->left, sp)))
		       ? below
		       : NULL;
}

void strand_push(struct strand *s, struct call call)
{
	if (s->depth == s->room) {
		s->room = s->room ? 2 * s->room : 16;
		s->calls = VG_(realloc)(
			"cachepeek.calls", s->calls, s->room * sizeof(*s->calls));
	}
	if (call.sp > s->base)
		s->base = call.sp;
	s->calls[s->depth++] = call;
}

void strand_add_barrier(struct strand *s, Addr sp)
{
	if (!s->barriers)
		s->barriers = VG_(calloc)(
			"cachepeek.barriers", MAX_SIGNALS, sizeof(*s->barriers));
	if (s->nbarriers < MAX_SIGNALS)
		s->barriers[s->nbarriers++] = (struct barrier){s->depth, sp};
}

UInt strand_all(const struct strand *s)
{
	UInt all = 0;

	for (; s; s = s->caller)
		all += s->depth;
	return all;
}

struct call *strand_nth(struct strand *s, UInt n)
{
	UInt all = strand_all(s);

	for (; s; s = s->caller) {
		all -= s->depth;
		if (n >= all)
			return &s->calls[n - all];
	}
	return NULL;
}
