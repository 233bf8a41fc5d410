/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "strings/strings.h"

const UChar strings_stand_in[16] = {0xeb, 0};

#if defined(VGA_amd64)

#include "emit.h"

enum { REX_W = 8, LONGEST = 15 };
enum { RAX, RCX, RSI = 6, RDI };

/* ---- decoding ---- */

struct prefixes {
	Bool repeats, until_equal, is_16_bit, is_short;
	enum string_segment segment;
};

static Bool take_prefix(struct prefixes *p, UChar byte)
{
	switch (byte) {
	case 0xf2:
	case 0xf3:
		p->repeats = True;
		p->until_equal = byte == 0xf2;
		return True;
	case 0x66:
		return p->is_16_bit = True;
	case 0x67:
		return p->is_short = True;
	case 0x64:
	case 0x65:
		p->segment = byte == 0x64 ? SEGMENT_FS : SEGMENT_GS;
		return True;
	default: /* segments that all begin at 0 */
		return (byte & 0xe7) == 0x26;
	}
}

static Bool find_kind(UChar opcode, enum string_kind *kind)
{
	switch (opcode & ~1) {
	case 0xa4:
		*kind = STRING_MOVS;
		return True;
	case 0xa6:
		*kind = STRING_CMPS;
		return True;
	case 0xaa:
		*kind = STRING_STOS;
		return True;
	case 0xac:
		*kind = STRING_LODS;
		return True;
	case 0xae:
		*kind = STRING_SCAS;
		return True;
	default:
		return False;
	}
}

/* Looks at no byte behind the instruction; returns its length, or 0. */
static UInt decode(const UChar *code, struct string *s)
{
	struct prefixes p = {False, False, False, False, SEGMENT_NONE};
	UInt n = 0, rex = 0;

	while (n < LONGEST && take_prefix(&p, code[n]))
		n++;
	if (!p.repeats || n == LONGEST)
		return 0;
	if ((code[n] & 0xf0) == 0x40)
		rex = code[n++];
	if (n == LONGEST || !find_kind(code[n], &s->kind))
		return 0;
	s->log_size = !(code[n] & 1) ? 0 : rex & REX_W ? 3 : p.is_16_bit ? 1 : 2;
	s->until_equal = p.until_equal;
	s->is_short = p.is_short;
	s->segment = p.segment;
	return n + 1;
}

/* ---- code ---- */

static UInt offset_of(UInt number)
{
	return (UInt)(STATE_OF(guest_RAX) + 8 * number);
}

static void add_effects(IRDirty *d, const struct string *s)
{
	emit_effect(d, Ifx_Read, (UInt)STATE_OF(guest_RIP), 8);
	emit_effect(d, Ifx_Read, (UInt)STATE_OF(guest_DFLAG), 8);
	emit_effect(d, Ifx_Modify, offset_of(RAX), 2 * 8); /* and RCX */
	emit_effect(d, Ifx_Modify, offset_of(RSI), 2 * 8); /* and RDI */
	if (strings_compare(s->kind))
		emit_effect(d, Ifx_Modify, (UInt)STATE_OF(guest_CC_OP), 4 * 8);
	if (s->segment == SEGMENT_FS)
		emit_effect(d, Ifx_Read, (UInt)STATE_OF(guest_FS_CONST), 8);
	if (s->segment == SEGMENT_GS)
		emit_effect(d, Ifx_Read, (UInt)STATE_OF(guest_GS_CONST), 8);
}

static const HChar name[] = "string";

Bool strings_is_call(const IRStmt *s)
{
	return s->tag == Ist_Dirty && s->Ist.Dirty.details->cee->name == name;
}

struct string strings_called(const IRStmt *call)
{
	return strings_unpack(call->Ist.Dirty.details->args[1]->Iex.Const.con->Ico.U64);
}

Bool strings_begins(const IRSB *in, Int imark)
{
	for (Int i = imark + 1; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		if (strings_is_call(in->stmts[i]))
			return True;
	return False;
}

UInt strings_make(IRSB *out, Addr pc, const UChar *code)
{
	struct string s;
	UInt length = tool_options.pieces ? 0 : decode(code, &s);
	IRTemp left;
	IRDirty *d;

	if (!length)
		return 0;
	left = newIRTemp(out->tyenv, Ity_I64);
	d = unsafeIRDirty_1_N(left, 0, name,
		VG_(fnptr_to_fnentry)((void *)strings_execute),
		mkIRExprVec_2(IRExpr_GSPTR(), emit_constant(strings_pack(&s))));
	add_effects(d, &s);
	d->mFx = strings_store(s.kind) ? Ifx_Modify : Ifx_Read;
	d->mAddr = emit_register(out, (Int)offset_of(RDI));
	d->mSize = 1 << s.log_size;
	addStmtToIRSB(out, IRStmt_Dirty(d));
	addStmtToIRSB(
		out, IRStmt_Exit(emit_kept(out, Ity_I1,
					 IRExpr_Binop(Iop_CmpNE64, IRExpr_RdTmp(left),
						 emit_constant(0))),
			     Ijk_Boring, IRConst_U64(pc), (Int)STATE_OF(guest_RIP)));
	/* Behind that VEX does not take the superblock for a loop to unroll. */
	addStmtToIRSB(out, IRStmt_AbiHint(emit_constant(0), 0, emit_constant(0)));
	return length;
}

#else

UInt strings_make(IRSB *out, Addr pc, const UChar *code)
{
	(void)out, (void)pc, (void)code;
	return 0;
}

Bool strings_is_call(const IRStmt *s)
{
	(void)s;
	return False;
}

struct string strings_called(const IRStmt *call)
{
	(void)call;
	return strings_unpack(0);
}

Bool strings_begins(const IRSB *in, Int imark)
{
	(void)in, (void)imark;
	return False;
}

ULong strings_tell(const struct strings_site *site)
{
	(void)site;
	return 0;
}

void strings_tell_each(const struct strings_site *site)
{
	(void)site;
}

#endif
