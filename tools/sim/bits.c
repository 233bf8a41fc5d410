/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bits.h"

#include <stddef.h>

#include "valgrind/guest.h"

#if defined(VGA_amd64)
enum { BELOW = 288, RSP = 4, REX_B = 1 };

/* One thread runs at a time, and none ends its turn within an instruction. */
static ULong place[2];

/* Does it name a register other than the stack pointer, which the instruction may change?
 */
static Bool is_of_register(const UChar *code)
{
	Bool high = False;

	while (*code == 0x66 || *code == 0xf2 || *code == 0xf3)
		code++;
	if ((*code & 0xf0) == 0x40)
		high = (*code++ & REX_B) != 0;
	return code[0] == 0x0f && (code[1] & 0xe7) == 0xa3 && code[2] >= 0xc0 &&
	       (high || (code[2] & 7) != RSP);
}

static Bool is_below_stack(const IRStmt *s)
{
	const IRExpr *e = s->tag == Ist_WrTmp ? s->Ist.WrTmp.data : NULL;

	return e && e->tag == Iex_Binop && e->Iex.Binop.op == Iop_Sub64 &&
	       e->Iex.Binop.arg2->tag == Iex_Const &&
	       e->Iex.Binop.arg2->Iex.Const.con->Ico.U64 == BELOW;
}

void bits_leave_stack(IRSB *out, Int from, const UChar *code)
{
	if (out->stmts_used == from || !is_of_register(code))
		return;
	for (Int i = from; i < out->stmts_used; i++) {
		IRStmt *s = out->stmts[i];

		if (is_below_stack(s))
			s->Ist.WrTmp.data = mkIRExpr_HWord((HWord)place);
		else if (s->tag == Ist_Put && s->Ist.Put.offset == STATE_OF(guest_RSP))
			out->stmts[i] = IRStmt_NoOp();
	}
}
#else
void bits_leave_stack(IRSB *out, Int from, const UChar *code)
{
	(void)out, (void)from, (void)code;
}
#endif
