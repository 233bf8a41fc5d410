/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * References that a mask, or a vector of indices, decides on: known when the instruction
 * is executed.
 */
#include "native/decode.h"
#include "native/native.h"
#include "native/state.h"
#include "settled.h"

struct sparse {
	const struct native_shape *shape;
	Addr pc;
	UInt mask, scale;
	Int index;
};

static void refer_to_memory(const struct sparse *s, Addr a, UWord size)
{
	if (s->shape->loads)
		settled_load(a, size, s->pc);
	if (s->shape->stores)
		settled_store(a, size, s->pc);
}

/* --- Gathers and scatters --- */

/* Bytes of a vector register; an upper half that does not count is 0. */
static const UChar *part_of(const guest_state *g, UInt reg, UInt at)
{
	static const UChar zeros[32];
	const struct side_state *side = side_of(g);

	if (reg >= 16)
		return (const UChar *)side->zmm[reg - 16] + at;
	if (at < 32)
		return (const UChar *)g + state_ymm(reg) + at;
	return side->live >> reg & 1 ? (const UChar *)&side->upper[reg] + (at - 32)
				     : zeros;
}

static Addr index_of(const guest_state *g, const struct sparse *s, UInt lane)
{
	const UChar *at = part_of(g, (UInt)s->index, lane * s->shape->index);
	Long index = s->shape->index == 4 ? *(const Int *)at : *(const Long *)at;

	return (Addr)index << s->scale;
}

static void on_lanes(const guest_state *g, Addr base, const struct sparse *s, ULong lanes)
{
	for (; lanes; lanes &= lanes - 1)
		refer_to_memory(s, base + index_of(g, s, (UInt)__builtin_ctzll(lanes)),
			s->shape->lane);
}

/* --- Masks --- */

static void on_masked(Addr a, const struct sparse *s, ULong lanes)
{
	UInt lane = s->shape->lane, first, last;

	if (!lanes)
		return;
	first = (UInt)__builtin_ctzll(lanes);
	last = 63 - (UInt)__builtin_clzll(lanes);
	if (s->shape->masking == MASKING_WHOLE)
		refer_to_memory(s, a, s->shape->size);
	else if (s->shape->masking == MASKING_PACKED)
		refer_to_memory(s, a, (UInt)__builtin_popcountll(lanes) * lane);
	else
		refer_to_memory(s, a + first * lane, (last - first + 1) * lane);
}

static ULong lanes_on(const guest_state *g, const struct sparse *s)
{
	UInt lanes = s->shape->lanes;
	ULong all = lanes >= 64 ? ~0ull : (1ull << lanes) - 1;

	return s->mask ? side_of(g)->mask[s->mask] & all : all;
}

static void on_sparse(const guest_state *g, Addr a, const struct sparse *s)
{
	ULong lanes = lanes_on(g, s);

	if (s->shape->index)
		on_lanes(g, a, s, lanes);
	else
		on_masked(a, s, lanes);
}

void native_refer_sparse(IRSB *out, const struct native_step *step)
{
	const struct native *n = step->instruction;
	struct sparse *s = VG_(malloc)("cachepeek.sparse", sizeof(*s));
	IRDirty *d;

	*s = (struct sparse){
		n->shape, n->pc, n->mask, n->address.scale, n->address.index};
	d = unsafeIRDirty_0_N(0, "sparse", VG_(fnptr_to_fnentry)((void *)on_sparse),
		mkIRExprVec_3(IRExpr_GSPTR(), step->address,
			IRExpr_Const(IRConst_U64((Addr)s))));
	d->nFxState = 1;
	VG_(memset)(&d->fxState[0], 0, sizeof(d->fxState[0]));
	d->fxState[0].fx = Ifx_Read;
	d->fxState[0].offset = (UShort)state_ymm(0);
	d->fxState[0].size = 16 * 32;
	addStmtToIRSB(out, IRStmt_Dirty(d));
}
