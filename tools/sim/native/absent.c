/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Nothing is executed natively: the tool was built without the table of encodings, or for
 * an architecture that has none.
 */
#include "native/native.h"
#include "native/mend.h"
#include "native/orders.h"
#include "native/upper.h"
#include "bits.h"
#include "others_requests.h"
#include "pin/pin.h"
#include "strings/strings.h"
#include "valgrind/guest.h"

Bool native_is_built(void)
{
	return False;
}

void native_start(void)
{
}

enum streams orders_streams(const UChar *code, const UChar *end)
{
	(void)code, (void)end;
	return STREAMS_NOT;
}

void __real_vgPlain_disp_run_translations(HWord *, volatile void *, Addr);
void __wrap_vgPlain_disp_run_translations(HWord *, volatile void *, Addr);

void __wrap_vgPlain_disp_run_translations(HWord *results, volatile void *state, Addr code)
{
	pin_rounds_before(state);
	pin_turn_goes_on(state);
	__real_vgPlain_disp_run_translations(results, state, code);
	pin_rounds_behind(results, state);
}

#if defined(VGA_amd64)
struct decoded __wrap_disInstr_AMD64(IRSB *out, const UChar *code, Long delta, Addr pc,
	UInt arch, const void *arch_info, const void *abi, UInt endness, UChar diagnose)
{
	const UChar *bytes = others_requests_hide(pc, code + delta);
	UInt own = strings_make(out, pc, bytes);
	Int first = out->stmts_used;
	struct decoded as =
		__real_disInstr_AMD64(out, (own ? strings_stand_in : bytes) - delta,
			delta, pc, arch, arch_info, abi, endness, diagnose);

	if (own) {
		out->stmts[out->stmts_used - 1] = IRStmt_Put(
			(Int)STATE_OF(guest_RIP), IRExpr_Const(IRConst_U64(pc + own)));
		as.length = own;
	} else {
		bits_leave_stack(out, first, bytes);
	}
	return as;
}
#endif

Int native_split(const IRSB *in)
{
	return in->stmts_used;
}

Bool native_is_cut(void)
{
	return False;
}

void upper_watch(IRSB *out, const IRSB *in, Int at)
{
	(void)out, (void)in, (void)at;
}

void upper_watch_end(IRSB *out)
{
	(void)out;
}

void mend_begin_block(void)
{
}

void mend_statement(IRSB *out, const IRSB *in, Int at)
{
	addStmtToIRSB(out, in->stmts[at]);
}

void rounding_look(IRSB *out)
{
	(void)out;
}

Bool native_next(IRSB *out, struct native_step *step)
{
	(void)out, (void)step;
	return False;
}

Bool native_refused(const IRSB *out, struct native_step *step)
{
	(void)out, (void)step;
	return False;
}

Bool native_early(const IRStmt *s, Addr pc, struct native_step *step)
{
	(void)s, (void)pc, (void)step;
	return False;
}

void native_compare(IRSB *out, const struct native_step *step)
{
	(void)out, (void)step;
}

void native_find_address(IRSB *out, struct native_step *step)
{
	(void)out, (void)step;
}

void native_execute(IRSB *out, const struct native_step *step)
{
	(void)out, (void)step;
}

void native_refer_sparse(IRSB *out, const struct native_step *step)
{
	(void)out, (void)step;
}

void native_begin_translation(Bool again)
{
	(void)again;
}

void native_end_translation(VexGuestExtents *extents)
{
	(void)extents;
}

UInt native_most_instructions(void)
{
	return 0;
}

Addr native_frame_room(Addr top)
{
	return top;
}

void native_frame_fill(ThreadId tid, Addr room)
{
	(void)tid, (void)room;
}
