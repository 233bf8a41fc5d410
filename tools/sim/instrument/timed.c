/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Finds in the program's code what the timing model (timing.h) needs: who uses what a
 * load brought.
 */
#include "pub_tool_guest.h"
#include "model/timing.h"
#include "tool.h"

#if defined(VGA_amd64)
#define FLAGS_FROM offsetof(VexGuestAMD64State, guest_CC_OP)
#define FLAGS_TO offsetof(VexGuestAMD64State, guest_DFLAG)
#elif defined(VGA_arm64)
#define FLAGS_FROM offsetof(VexGuestARM64State, guest_CC_OP)
#define FLAGS_TO (offsetof(VexGuestARM64State, guest_CC_NDEP) + 8)
#endif

/* The temporaries that hold what was loaded. */
#define MAX_COPIES 8
struct loaded {
	IRTemp temp[MAX_COPIES];
	UInt count;
};

static Bool holds_value(const struct loaded *l, const IRExpr *e)
{
	if (!e || e->tag != Iex_RdTmp)
		return False;
	for (UInt i = 0; i < l->count; i++)
		if (l->temp[i] == e->Iex.RdTmp.tmp)
			return True;
	return False;
}

static Bool any_holds(const struct loaded *l, IRExpr *const *args)
{
	for (; *args; args++)
		if (!is_IRExpr_VECRET_or_GSPTR(*args) && holds_value(l, *args))
			return True;
	return False;
}

static Bool computes_with(const struct loaded *l, const IRExpr *e)
{
	switch (e->tag) {
	case Iex_RdTmp:
		return holds_value(l, e);
	case Iex_Unop:
		return holds_value(l, e->Iex.Unop.arg);
	case Iex_Binop:
		return holds_value(l, e->Iex.Binop.arg1) ||
		       holds_value(l, e->Iex.Binop.arg2);
	case Iex_Triop:
		return holds_value(l, e->Iex.Triop.details->arg1) ||
		       holds_value(l, e->Iex.Triop.details->arg2) ||
		       holds_value(l, e->Iex.Triop.details->arg3);
	case Iex_Qop:
		return holds_value(l, e->Iex.Qop.details->arg1) ||
		       holds_value(l, e->Iex.Qop.details->arg2) ||
		       holds_value(l, e->Iex.Qop.details->arg3) ||
		       holds_value(l, e->Iex.Qop.details->arg4);
	case Iex_Load:
		return holds_value(l, e->Iex.Load.addr);
	case Iex_GetI:
		return holds_value(l, e->Iex.GetI.ix);
	case Iex_ITE:
		return holds_value(l, e->Iex.ITE.cond) ||
		       holds_value(l, e->Iex.ITE.iftrue) ||
		       holds_value(l, e->Iex.ITE.iffalse);
	case Iex_CCall:
		return any_holds(l, e->Iex.CCall.args);
	default:
		return False;
	}
}

static Bool dirty_uses(const struct loaded *l, const IRDirty *d)
{
	return holds_value(l, d->guard) || holds_value(l, d->mAddr) ||
	       any_holds(l, d->args);
}

static Bool swap_uses(const struct loaded *l, const IRCAS *c)
{
	return holds_value(l, c->addr) || holds_value(l, c->expdHi) ||
	       holds_value(l, c->expdLo) || holds_value(l, c->dataHi) ||
	       holds_value(l, c->dataLo);
}

static Bool uses_value(const struct loaded *l, const IRStmt *s)
{
	switch (s->tag) {
	case Ist_Put:
		return holds_value(l, s->Ist.Put.data);
	case Ist_PutI:
		return holds_value(l, s->Ist.PutI.details->ix) ||
		       holds_value(l, s->Ist.PutI.details->data);
	case Ist_WrTmp:
		return computes_with(l, s->Ist.WrTmp.data);
	case Ist_Store:
		return holds_value(l, s->Ist.Store.addr) ||
		       holds_value(l, s->Ist.Store.data);
	case Ist_StoreG:
		return holds_value(l, s->Ist.StoreG.details->addr) ||
		       holds_value(l, s->Ist.StoreG.details->data) ||
		       holds_value(l, s->Ist.StoreG.details->guard);
	case Ist_LoadG:
		return holds_value(l, s->Ist.LoadG.details->addr) ||
		       holds_value(l, s->Ist.LoadG.details->alt) ||
		       holds_value(l, s->Ist.LoadG.details->guard);
	case Ist_CAS:
		return swap_uses(l, s->Ist.CAS.details);
	case Ist_LLSC:
		return holds_value(l, s->Ist.LLSC.addr) ||
		       holds_value(l, s->Ist.LLSC.storedata);
	case Ist_Dirty:
		return dirty_uses(l, s->Ist.Dirty.details);
	case Ist_Exit:
		return holds_value(l, s->Ist.Exit.guard);
	default:
		return False;
	}
}

/* Does the load's own instruction no more than bring the value to a register? */
static Bool moves_value(struct loaded *l, const IRStmt *s)
{
	Int to;

	if (s->tag == Ist_Put) {
		to = s->Ist.Put.offset;
		return to < (Int)FLAGS_FROM || to >= (Int)FLAGS_TO;
	}
	if (s->tag != Ist_WrTmp || l->count == MAX_COPIES ||
		(s->Ist.WrTmp.data->tag != Iex_Unop &&
			s->Ist.WrTmp.data->tag != Iex_RdTmp))
		return False;
	l->temp[l->count++] = s->Ist.WrTmp.tmp;
	return True;
}

/* A loop's branch, where VEX has put several of its rounds into one superblock: the
 * instruction behind it is another stretch's. */
static Bool is_branch(const IRStmt *s)
{
	return s->tag == Ist_Exit && s->Ist.Exit.jk == Ijk_Boring;
}

UInt timed_use(const IRSB *in, Int at)
{
	struct loaded l = {{in->stmts[at]->Ist.WrTmp.tmp}, 1};
	Bool branched = False;
	UInt later = 0;

	for (Int i = at + 1; i < in->stmts_used; i++) {
		const IRStmt *s = in->stmts[i];

		branched |= is_branch(s);
		if (s->tag == Ist_IMark && branched)
			return later + 1;
		if (s->tag == Ist_IMark)
			later++;
		else if (uses_value(&l, s) && (later || !moves_value(&l, s)))
			return later;
	}
	return holds_value(&l, in->next) ? later : later + 1;
}

/* ---- whoever looks at references ---- */

static batch_observe *next_observer;

static void observe_batch(struct core *core, const struct batch_origin *origin)
{
	timing_observe(core, origin);
	next_observer(core, origin);
}

/* Time comes first: a profile sees what it has counted. */
void timed_start(void)
{
	if (!tool_options.timing)
		return;
	next_observer = batch_told.observe;
	batch_told.observe = next_observer ? observe_batch : timing_observe;
	batch_told.is_for_time = !next_observer;
}
