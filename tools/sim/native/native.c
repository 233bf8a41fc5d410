/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where a superblock is split, and what follows VEX's part.
 */
#include "native/native.h"

#include "changing.h"
#include "emit.h"
#include "native/host.h"
#include "native/missing.h"
#include "native/mxcsr.h"
#include "native/orders.h"
#include "native/spelling.h"
#include "native/unfolded.h"
#include "native/upper.h"
#include "bits.h"
#include "others_requests.h"
#include "strings/strings.h"

/* More in one superblock are not worth the time that it takes to make. */
enum { MOST_IN_ROW = 16 };

/* The superblock being made. */
static struct {
	Addr pc;       /* of the next instruction to execute natively, or 0 */
	UInt executed; /* instructions, and their bytes */
	UInt bytes;
	UInt most;        /* instructions, if it has to end sooner; 0: any number */
	Addr ends_before; /* then */
	Bool is_cut;
	Bool may_prefer; /* is_preferred() may be so of one that VEX has decoded */
	struct native instruction;
} now;

Bool native_is_built(void)
{
	return True;
}

void native_start(void)
{
	if (!tool_options.native)
		return;
	native_host_start();
	mxcsr_start();
}

static Bool decode_at(Addr pc, struct native *n)
{
	return tool_options.native && native_decode(pc, n) &&
	       (native_is_xgetbv(n) || native_host_has(n));
}

/* One that VEX does not decode: the host executes it, or ends it in SIGILL. */
static Bool decode_foreign_at(Addr pc, struct native *n)
{
	return tool_options.native && native_decode(pc, n) &&
	       (native_is_xgetbv(n) || native_host_may_have(n));
}

/* --- What VEX executes slowly and wrongly --- */

/* Fused multiply-add: a call for each lane, and zeros above a scalar. */
static Bool looks_fused(const UChar *code, UInt length)
{
	return length >= 5 && code[0] == 0xc4 && (code[1] & 0x1f) == 2 &&
	       (code[2] & 3) == 1 && code[3] >= 0x96 && code[3] <= 0xbf &&
	       (code[3] & 15) >= 6;
}

/* VEX says that a program may use no more registers than VEX has. */
static Bool looks_xgetbv(const UChar *code, UInt length)
{
	return length == 3 && code[0] == 0x0f && code[1] == 1 && code[2] == 0xd0 &&
	       cpuid_shows_wide();
}

/* Is it executed natively though VEX decodes it, in a superblock of its own? */
static Bool is_preferred(Addr pc, UInt length)
{
	const UChar *code = (const UChar *)pc;
	struct native n;

	if (looks_xgetbv(code, length))
		return True;
	return !tool_options.pieces && mxcsr_is_load(code, length) && decode_at(pc, &n);
}

/* --- In VEX's superblocks --- */

/* STMXCSR and LDMXCSR, and XGETBV, are of these. */
static Bool is_of_system(UInt map, UInt opcode)
{
	return map == 1 && (opcode == 0xae || opcode == 0x01);
}

/* Not where VEX's pieces are asked for. */
static Bool is_early(Addr pc, struct native *n)
{
	const UChar *code = (const UChar *)pc, *opcode;
	UInt map;

	if (!tool_options.native || !native_may_have_opcode(code))
		return False;
	opcode = native_opcode(code, code + NATIVE_LONGEST, &map);
	if (!opcode)
		return False;
	now.may_prefer |= is_of_system(map, *opcode);
	return !tool_options.pieces &&
	       (is_of_system(map, *opcode) || rounding_may_look_wrong(map, *opcode)) &&
	       decode_at(pc, n) &&
	       (looks_fused(code, n->length) || rounding_looks_wrong(code, n->length) ||
		       mxcsr_is_store(code, n->length));
}

/* VEX's decoder reads bytes behind an instruction, which may be where nothing can be
 * read: it is given a copy, in the spelling that it knows.  The longest that it looks
 * for, a request to the tool, has 19 bytes. */
static const UChar *readable_code(Addr pc)
{
	enum { PAGE = 4096 };
	static UChar copy[32];
	Bool is_readable = pc % PAGE <= PAGE - sizeof(copy);

	if (!tool_options.native ||
		(is_readable && !spelling_may_be_unusual((const UChar *)pc)))
		return (const UChar *)pc;
	VG_(memset)(copy, 0, sizeof(copy));
	if (is_readable)
		VG_(memcpy)(copy, (const void *)pc, sizeof(copy));
	else if (!native_fetch(pc, copy, sizeof(copy)))
		return (const UChar *)pc;
	spelling_make_usual(copy, copy + NATIVE_LONGEST);
	return copy;
}

/* Adds what the instruction does, if that is not left to VEX, and returns its length;
 * else 0.  VEX decodes what stands in for it then. */
static UInt add_own(IRSB *out, Addr pc, const UChar *code, const UChar **stands_in)
{
	static const UChar nothing[NATIVE_LONGEST] = {0x90};
	struct native n;
	UInt length = strings_make(out, pc, code);

	*stands_in = length ? strings_stand_in : nothing;
	if (length)
		return length;
	if (is_early(pc, &n)) {
		native_call_early(out, &n);
		return n.length;
	}
	if (!tool_options.native)
		return 0;
	orders_mark(out, pc);
	return missing_execute(out, pc, code);
}

struct decoded __wrap_disInstr_AMD64(IRSB *out, const UChar *code, Long delta, Addr pc,
	UInt arch, const void *arch_info, const void *abi, UInt endness, UChar diagnose)
{
	const UChar *readable =
			    others_requests_hide(pc, readable_code((Addr)(code + delta))),
		    *stands_in = NULL;
	UInt own =
		(Addr)(code + delta) == pc ? add_own(out, pc, readable, &stands_in) : 0;
	Int first = out->stmts_used;
	struct decoded as =
		__real_disInstr_AMD64(out, (own ? stands_in : readable) - delta, delta,
			pc, arch, arch_info, abi, endness, diagnose);

	if (own) {
		out->stmts[out->stmts_used - 1] =
			IRStmt_Put((Int)STATE_OF(guest_RIP), emit_constant(pc + own));
		as.length = own;
	} else if (tool_options.native) {
		unfolded_keep_loads(out, first);
	}
	if (!own)
		bits_leave_stack(out, first, readable);
	return as;
}

/* --- Splitting --- */

static Bool ends_at(const IRSB *in, IRJumpKind kind, Addr pc)
{
	return in->jumpkind == kind && in->next->tag == Iex_Const &&
	       in->next->Iex.Const.con->Ico.U64 == pc;
}

/* VEX's optimiser has mixed instructions with what is before them by now: only one that
 * is alone in its superblock can be taken out. */
static Int cut_before(const IRSB *in, Int at, UInt before)
{
	Addr pc = in->stmts[at]->Ist.IMark.addr;
	Bool is_alone = True;

	for (Int i = at + 1; i < in->stmts_used; i++)
		is_alone &= in->stmts[i]->tag != Ist_IMark;
	if (!before && is_alone) {
		now.pc = pc;
		return at;
	}
	if (now.most) /* It has been tried. */
		return in->stmts_used;
	now.is_cut = True;
	now.most = before ? before : 1;
	now.ends_before = pc;
	return 0;
}

Int native_split(const IRSB *in)
{
	UInt before = 0;

	if (!tool_options.native ||
		(!now.may_prefer && !now.ends_before && in->jumpkind != Ijk_NoDecode))
		return in->stmts_used;
	for (Int i = 0; i < in->stmts_used; i++) {
		const IRStmt *s = in->stmts[i];

		if (s->tag != Ist_IMark)
			continue;
		if (ends_at(in, Ijk_NoDecode, s->Ist.IMark.addr) &&
			decode_foreign_at(s->Ist.IMark.addr, &now.instruction)) {
			now.pc = s->Ist.IMark.addr;
			return i;
		}
		if (is_preferred(s->Ist.IMark.addr, s->Ist.IMark.len))
			return cut_before(in, i, before);
		before++;
	}
	if (now.ends_before && ends_at(in, Ijk_Boring, now.ends_before))
		now.pc = now.ends_before;
	return in->stmts_used;
}

Bool native_is_cut(void)
{
	return now.is_cut;
}

/* --- Going on --- */

/* An instruction that VEX might decode gets a superblock of its own. */
static Bool follows_native(const struct native *n)
{
	return !now.executed || native_is_foreign(n);
}

static void describe_step(const struct native *n, struct native_step *step)
{
	const struct native_shape *s = n->shape;

	*step = (struct native_step){
		.instruction = n,
		.pc = n->pc,
		.length = n->length,
		.may_change = changing_at(n->pc),
		.loads = n->address.used && s->loads,
		.stores = n->address.used && s->stores,
		.is_sparse = s->index || (n->mask && s->masking != MASKING_NONE),
		.is_vector = s->reg == FIELD_VECTOR,
		.size = s->size,
		.loads_mxcsr = mxcsr_is_load((const UChar *)n->pc, n->length),
	};
	step->gives_order = orders_decode(
		(const UChar *)n->pc, (const UChar *)n->pc + n->length, &step->order);
}

Bool native_early(const IRStmt *s, Addr pc, struct native_step *step)
{
	static struct native n;

	if (!native_is_call(s) || !decode_at(pc, &n))
		return False;
	describe_step(&n, step);
	step->address = s->Ist.Dirty.details->mAddr;
	return True;
}

Bool native_next(IRSB *out, struct native_step *step)
{
	struct native *n = &now.instruction;

	if (!now.pc || now.executed == MOST_IN_ROW || !decode_foreign_at(now.pc, n) ||
		!follows_native(n))
		return False;
	if (n->form == FORM_EVEX || n->shape->feature >= FEATURE_AVX512F)
		native_frame_note();
	if (n->shape->wide && upper_first_use(out, n->pc)) {
		now.pc = 0;
		return False;
	}
	describe_step(n, step);
	return True;
}

Bool native_refused(const IRSB *out, struct native_step *step)
{
	UChar code[NATIVE_LONGEST];

	if (!tool_options.native || out->jumpkind != Ijk_NoDecode ||
		out->next->tag != Iex_Const)
		return False;
	step->pc = out->next->Iex.Const.con->Ico.U64;
	step->length = native_fetch(step->pc, code, NATIVE_LONGEST);
	if (step->length < 2 || !changing_at(step->pc))
		return False;
	now.bytes += step->length;
	return True;
}

void native_execute(IRSB *out, const struct native_step *step)
{
	native_call(out, step->instruction, step->address);
	now.executed++;
	now.bytes += step->length;
	now.pc += step->length;
	out->next = IRExpr_Const(IRConst_U64(now.pc));
	out->jumpkind = Ijk_Boring;
	if (step->loads_mxcsr)
		now.pc = 0;
}

/* --- Translations --- */

void native_begin_translation(Bool again)
{
	if (!again)
		now.most = 0;
	now.pc = 0;
	now.executed = now.bytes = 0;
	now.is_cut = now.may_prefer = False;
	now.ends_before = again ? now.ends_before : 0;
}

UInt native_most_instructions(void)
{
	return now.is_cut ? now.most : 0;
}

/* VEX has counted the bytes up to the first of ours. */
void native_end_translation(VexGuestExtents *extents)
{
	UShort *last = &extents->len[extents->n_used - 1];

	*last = (UShort)(*last + now.bytes);
	now.bytes = 0;
}
