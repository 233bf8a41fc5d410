/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "instrument/overwritten.h"
#include "block.h"
#include "sample/log.h"
#include "sample/sample.h"
#include "system/faults.h"

#include "pub_tool_guest.h"

/* For each byte of the guest's state: 1 if it is written before it is looked at. */
struct written {
	UChar byte[sizeof(VexGuestArchState)];
};

/* ---- bytes of the state ---- */

static Bool is_state(Int offset, Int size)
{
	return offset >= 0 && offset + size <= (Int)sizeof(VexGuestArchState);
}

static void set_bytes(struct written *w, Int offset, Int size, UChar to)
{
	for (Int i = 0; is_state(offset, size) && i < size; i++)
		w->byte[offset + i] = to;
}

static Bool are_written(const struct written *w, Int offset, Int size)
{
	for (Int i = 0; is_state(offset, size) && i < size; i++)
		if (!w->byte[offset + i])
			return False;
	return is_state(offset, size);
}

/* ---- who looks ---- */

static void look_at_all(struct written *w)
{
	VG_(memset)(w, 0, sizeof(*w));
}

/* A fault tells by this where the program is, and the core's stack grows by it.  A
 * sampled program without a handler dies of the fault, and is said to be where the
 * superblock begins. */
static void look_at_place(struct written *w, const VexGuestLayout *layout)
{
	set_bytes(w, layout->offset_SP, layout->sizeof_SP, 0);
	set_bytes(w, layout->offset_FP, layout->sizeof_FP, 0);
	if (!sample_wanted())
		set_bytes(w, layout->offset_IP, layout->sizeof_IP, 0);
#if !defined(VGA_amd64)
	set_bytes(w, __builtin_offsetof(VexGuestARM64State, guest_X30), sizeof(ULong), 0);
#endif
}

static void look_by_value(
	struct written *w, const IRExpr *e, const VexGuestLayout *layout)
{
	const IRRegArray *a = e->tag == Iex_GetI ? e->Iex.GetI.descr : NULL;

	if (e->tag == Iex_Get)
		set_bytes(w, e->Iex.Get.offset, sizeofIRType(e->Iex.Get.ty), 0);
	else if (a)
		set_bytes(w, a->base, a->nElems * sizeofIRType(a->elemTy), 0);
	else if (e->tag == Iex_Load && !sample_is_log(e->Iex.Load.addr))
		look_at_place(w, layout);
}

/* The jump itself writes where it goes to. */
static void look_at_exit(struct written *w, const IRStmt *s, const VexGuestLayout *layout)
{
	Bool jumps = s->Ist.Exit.offsIP == layout->offset_IP &&
		     are_written(w, layout->offset_IP, layout->sizeof_IP);

	look_at_all(w);
	if (jumps)
		set_bytes(w, layout->offset_IP, layout->sizeof_IP, 1);
}

static void look_by(struct written *w, const IRStmt *s, const VexGuestLayout *layout)
{
	switch (s->tag) {
	case Ist_NoOp:
	case Ist_IMark:
	case Ist_PutI:
		break;
	case Ist_WrTmp:
		look_by_value(w, s->Ist.WrTmp.data, layout);
		break;
	case Ist_Store:
		if (!sample_is_log(s->Ist.Store.addr))
			look_at_place(w, layout);
		break;
	case Ist_StoreG:
	case Ist_LoadG:
		look_at_place(w, layout);
		break;
	case Ist_Exit:
		look_at_exit(w, s, layout);
		break;
	case Ist_Dirty:
		if (!settle_is_call(s) && !sample_is_call(s))
			look_at_all(w);
		break;
	default:
		look_at_all(w);
		break;
	}
}

/* ---- the superblock, from its end ---- */

static Bool is_in_vain(struct written *w, const IRSB *out, const IRStmt *s)
{
	Int offset = s->Ist.Put.offset,
	    size = sizeofIRType(typeOfIRExpr(out->tyenv, s->Ist.Put.data));

	if (are_written(w, offset, size))
		return True;
	set_bytes(w, offset, size, 1);
	return False;
}

void overwritten_drop(IRSB *out, const VexGuestLayout *layout)
{
	struct written w;

	if (faults_are_handled())
		return;
	look_at_all(&w);
	set_bytes(&w, layout->offset_IP, layout->sizeof_IP, 1);
	for (Int i = out->stmts_used; i-- > 0;) {
		IRStmt *s = out->stmts[i];

		if (s->tag != Ist_Put)
			look_by(&w, s, layout);
		else if (is_in_vain(&w, out, s))
			out->stmts[i] = IRStmt_NoOp();
	}
}
