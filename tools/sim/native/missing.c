/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "native/missing.h"

#include "emit.h"
#include "native/decode.h"
#include "native/host.h"
#include "native/state.h"

enum { REX_W = 8, REX_B = 1 };
enum { SUBTRACTION = 5 }; /* to VEX, of bytes: what the flags are of */
enum { RBP = 5, RSI = 6, RDI = 7 };

/* An instruction behind its prefixes, and what they say. */
struct missing {
	Addr pc;
	const UChar *opcode;
	UInt nprefixes, rex;
	Bool is_16_bit, is_repeated, is_short;
	Int segment; /* its base in the state, or 0 */
};

/* --- Prefixes --- */

/* False: it is none, or one that none of these instructions can have. */
static Bool take_prefix(struct missing *m, UChar byte)
{
	switch (byte) {
	case 0x66:
		m->is_16_bit = True;
		return True;
	case 0x67:
		m->is_short = True;
		return True;
	case 0xf3:
		m->is_repeated = True;
		return True;
	case 0x64:
		m->segment = (Int)STATE_OF(guest_FS_CONST);
		return True;
	case 0x65:
		m->segment = (Int)STATE_OF(guest_GS_CONST);
		return True;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
		return True;
	default:
		return False;
	}
}

static struct missing take_apart(Addr pc, const UChar *code)
{
	struct missing m = {.pc = pc, .opcode = code};

	while (m.opcode < code + NATIVE_LONGEST && take_prefix(&m, *m.opcode))
		m.opcode++;
	if ((*m.opcode & 0xf0) == 0x40)
		m.rex = *m.opcode++;
	if (m.rex & REX_W)
		m.is_16_bit = False;
	m.nprefixes = (UInt)(m.opcode - code);
	return m;
}

/* --- Expressions --- */

static IRExpr *constant_byte(UInt v)
{
	return IRExpr_Const(IRConst_U8((UChar)v));
}

static IRExpr *constant_word(UInt v)
{
	return IRExpr_Const(IRConst_U32(v));
}

static IRExpr *emit_unary(IRSB *out, IRType type, IROp op, IRExpr *a)
{
	return emit_kept(out, type, IRExpr_Unop(op, a));
}

static IRExpr *emit_binary(IRSB *out, IRType type, IROp op, IRExpr *a, IRExpr *b)
{
	return emit_kept(out, type, IRExpr_Binop(op, a, b));
}

static IRExpr *emit_general(IRSB *out, UInt number)
{
	return emit_register(out, (Int)state_general(number));
}

static void put_general(IRSB *out, UInt number, IRExpr *value)
{
	addStmtToIRSB(out, IRStmt_Put((Int)state_general(number), value));
}

static IRExpr *emit_below(IRSB *out, IRExpr *address, UInt bytes)
{
	return emit_binary(out, Ity_I64, Iop_Sub64, address, emit_constant(bytes));
}

static IRExpr *load_from(IRSB *out, IRType type, IRExpr *address)
{
	return emit_kept(out, type, IRExpr_Load(Iend_LE, type, address));
}

static void store_to(IRSB *out, IRExpr *address, IRExpr *value)
{
	addStmtToIRSB(out, IRStmt_Store(Iend_LE, address, value));
}

/* The address, as prefixes change it. */
static IRExpr *emit_effective(IRSB *out, const struct missing *m, IRExpr *address)
{
	if (m->is_short)
		address = emit_binary(
			out, Ity_I64, Iop_And64, address, emit_constant(0xffffffff));
	if (m->segment)
		address = emit_binary(
			out, Ity_I64, Iop_Add64, address, emit_register(out, m->segment));
	return address;
}

/* --- Strings --- */

static UInt xlat(IRSB *out, const struct missing *m)
{
	const Int al = (Int)state_general(0);
	IRExpr *at = emit_unary(
		out, Ity_I64, Iop_8Uto64, emit_kept(out, Ity_I8, IRExpr_Get(al, Ity_I8)));

	at = emit_binary(out, Ity_I64, Iop_Add64, at, emit_general(out, 3));
	at = load_from(out, Ity_I8, emit_effective(out, m, at));
	addStmtToIRSB(out, IRStmt_Put(al, at));
	return 1;
}

static IRExpr *widened(IRSB *out, UInt log_size, IRExpr *value)
{
	static const IROp operations[] = {Iop_8Uto64, Iop_16Uto64, Iop_32Uto64};

	return log_size == 3 ? value
			     : emit_unary(out, Ity_I64, operations[log_size], value);
}

static void put_flags(IRSB *out, UInt log_size, IRExpr *a, IRExpr *b)
{
	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_CC_OP),
				   emit_constant(SUBTRACTION + log_size)));
	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_CC_DEP1), a));
	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_CC_DEP2), b));
	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_CC_NDEP), emit_constant(0)));
}

/* CMPS.  A segment is that of the first operand. */
static UInt compare_strings(IRSB *out, const struct missing *m)
{
	static const IRType types[] = {Ity_I8, Ity_I16, Ity_I32, Ity_I64};
	UInt log_size = *m->opcode == 0xa6 ? 0
			: m->rex & REX_W   ? 3
			: m->is_16_bit     ? 1
					   : 2;
	IRExpr *first = emit_general(out, RSI), *second = emit_general(out, RDI);
	IRExpr *a, *b, *step;

	if (m->is_repeated || m->is_short)
		return 0;
	a = load_from(out, types[log_size], emit_effective(out, m, first));
	b = load_from(out, types[log_size], second);
	step = emit_binary(out, Ity_I64, Iop_Shl64,
		emit_register(out, (Int)STATE_OF(guest_DFLAG)), constant_byte(log_size));
	put_flags(out, log_size, widened(out, log_size, a), widened(out, log_size, b));
	put_general(out, RSI, emit_binary(out, Ity_I64, Iop_Add64, first, step));
	put_general(out, RDI, emit_binary(out, Ity_I64, Iop_Add64, second, step));
	return 1;
}

/* --- Frames --- */

/* ENTER: registers are written last, should it fault. */
static UInt enter(IRSB *out, const struct missing *m)
{
	enum { LENGTH = 4, WORD = 8, MOST_LEVELS = 32 };
	UInt room = m->opcode[1] | (UInt)m->opcode[2] << 8;
	UInt levels = m->opcode[3] % MOST_LEVELS;
	IRExpr *top = emit_general(out, 4), *frame = emit_general(out, RBP), *own;

	if (m->is_16_bit)
		return 0;
	own = emit_below(out, top, WORD);
	store_to(out, own, frame);
	for (UInt i = 1; i < levels; i++)
		store_to(out, emit_below(out, own, i * WORD),
			load_from(out, Ity_I64, emit_below(out, frame, i * WORD)));
	if (levels)
		store_to(out, emit_below(out, own, levels * WORD), own);
	put_general(out, RBP, own);
	put_general(out, 4, emit_below(out, own, levels * WORD + room));
	return LENGTH;
}

/* --- x87 --- */

static IRExpr *emit_top(IRSB *out)
{
	return emit_kept(out, Ity_I32, IRExpr_Get((Int)STATE_OF(guest_FTOP), Ity_I32));
}

static void move_top(IRSB *out, IRExpr *top, UInt by)
{
	addStmtToIRSB(out,
		IRStmt_Put((Int)STATE_OF(guest_FTOP),
			emit_binary(out, Ity_I32, Iop_Add32, top, constant_word(by))));
}

/* Empty from now on. */
static void free_register(IRSB *out, IRExpr *top, Int number)
{
	IRRegArray *tags = mkIRRegArray((Int)STATE_OF(guest_FPTAG), Ity_I8, 8);

	addStmtToIRSB(out, IRStmt_PutI(mkIRPutI(tags, top, number, constant_byte(0))));
}

/* An empty register's value is a NaN in VEX, as in the processor. */
static IRExpr *emit_first(IRSB *out, IRExpr *top)
{
	enum { NUMBERS = 8 };
	IRRegArray *tags = mkIRRegArray((Int)STATE_OF(guest_FPTAG), Ity_I8, NUMBERS);
	IRRegArray *values = mkIRRegArray((Int)STATE_OF(guest_FPREG), Ity_F64, NUMBERS);
	IRExpr *tag = emit_kept(out, Ity_I8, IRExpr_GetI(tags, top, 0));
	IRExpr *value = emit_kept(out, Ity_F64, IRExpr_GetI(values, top, 0));
	IRExpr *is_there = emit_binary(out, Ity_I1, Iop_CmpNE8, tag, constant_byte(0));

	return emit_kept(out, Ity_F64,
		IRExpr_ITE(is_there, value,
			IRExpr_Const(IRConst_F64i(0x7ff8000000000000ull))));
}

static void compare_first(IRSB *out, IRExpr *top, IRExpr *with)
{
	enum { C3_C2_C0 = 0x4500, C0_BIT = 8 };
	IRExpr *flags = emit_binary(out, Ity_I32, Iop_CmpF64, emit_first(out, top), with);

	flags = emit_binary(out, Ity_I32, Iop_Shl32, flags, constant_byte(C0_BIT));
	flags = emit_binary(out, Ity_I32, Iop_And32, flags, constant_word(C3_C2_C0));
	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_FC3210),
				   emit_unary(out, Ity_I64, Iop_32Uto64, flags)));
}

/* FTST; FDECSTP; FFREEP. */
static UInt on_stack(IRSB *out, const struct missing *m)
{
	UInt first = m->opcode[0], second = m->opcode[1];
	IRExpr *top = emit_top(out);

	if (first == 0xd9 && second == 0xe4) {
		compare_first(out, top, IRExpr_Const(IRConst_F64i(0)));
	} else if (first == 0xd9 && second == 0xf6) {
		move_top(out, top, ~0u);
	} else if (first == 0xdf && (second & 0xf8) == 0xc0) {
		free_register(out, top, second & 7);
		free_register(out, top, 0);
		move_top(out, top, 1);
	} else {
		return 0;
	}
	return 2;
}

/* FICOM and FICOMP. */
static UInt compare_integer(IRSB *out, const struct missing *m)
{
	Bool is_long = *m->opcode == 0xda;
	struct native n;
	IRExpr *with, *top;

	if ((m->opcode[1] >> 4 & 3) != 1 || m->opcode[1] >= 0xc0 ||
		!native_decode_address(m->pc, &n))
		return 0;
	with = load_from(out, is_long ? Ity_I32 : Ity_I16, native_address(out, &n));
	if (!is_long)
		with = emit_unary(out, Ity_I32, Iop_16Sto32, with);
	top = emit_top(out);
	compare_first(out, top, emit_unary(out, Ity_F64, Iop_I32StoF64, with));
	if (m->opcode[1] >> 3 & 1) {
		free_register(out, top, 0);
		move_top(out, top, 1);
	}
	return n.length - m->nprefixes;
}

/* --- Addresses --- */

/* LEA of 16 bits. */
static UInt load_address(IRSB *out, const struct missing *m)
{
	struct native n;

	if (!m->is_16_bit || m->opcode[1] >= 0xc0 || !native_decode_address(m->pc, &n))
		return 0;
	n.address.fs = n.address.gs = False;
	addStmtToIRSB(out,
		IRStmt_Put((Int)state_general(n.reg),
			emit_unary(out, Ity_I16, Iop_64to16, native_address(out, &n))));
	return n.length - m->nprefixes;
}

static Bool host_moves_bases(void)
{
	enum { LEAF = 7, EBX = 1, FSGSBASE = 1 };

	return native_cpuid(LEAF, 0).output[EBX] & FSGSBASE;
}

/* RDFSBASE, RDGSBASE, WRFSBASE and WRGSBASE; an address that no processor has faults. */
static UInt move_base(IRSB *out, const struct missing *m)
{
	enum { LENGTH = 3, UNUSED_BITS = 16 };
	UInt number = (m->opcode[2] & 7) | (m->rex & REX_B) << 3;
	Bool is_gs = m->opcode[2] >> 3 & 1, writes = m->opcode[2] >> 4 & 1;
	Int base = (Int)(is_gs ? STATE_OF(guest_GS_CONST) : STATE_OF(guest_FS_CONST));
	IRExpr *value = writes ? emit_general(out, number) : emit_register(out, base);
	IRExpr *same;

	if (m->opcode[1] != 0xae || m->opcode[2] < 0xc0 || m->opcode[2] >= 0xe0 ||
		!m->is_repeated || m->is_16_bit || !host_moves_bases())
		return 0;
	if (!(m->rex & REX_W))
		value = emit_binary(
			out, Ity_I64, Iop_And64, value, emit_constant(0xffffffff));
	if (!writes) {
		put_general(out, number, value);
		return LENGTH;
	}
	same = emit_binary(out, Ity_I64, Iop_Shl64, value, constant_byte(UNUSED_BITS));
	same = emit_binary(out, Ity_I64, Iop_Sar64, same, constant_byte(UNUSED_BITS));
	addStmtToIRSB(
		out, IRStmt_Exit(emit_binary(out, Ity_I1, Iop_CmpNE64, value, same),
			     Ijk_SigSEGV, IRConst_U64(m->pc), (Int)STATE_OF(guest_RIP)));
	addStmtToIRSB(out, IRStmt_Put(base, value));
	return LENGTH;
}

/* --- As the host has it --- */

/* It changes nothing, or raises a signal: which, the host says. */
static UInt leave_code_to_host(IRSB *out, const struct missing *m, const UChar *code,
	UInt length, const struct native_shape *shape)
{
	struct native n = {
		.shape = shape, .form = FORM_LEGACY, .pc = m->pc, .ncode = length};

	n.length = m->nprefixes + length;
	VG_(memcpy)(n.code, code, length);
	native_call_early(out, &n);
	return length;
}

static UInt leave_to_host(IRSB *out, const struct missing *m, UInt length)
{
	static const struct native_shape plain;

	return leave_code_to_host(out, m, m->opcode, length, &plain);
}

/* No processor has it, but VEX. */
static UInt refuse(IRSB *out, const struct missing *m)
{
	static const UChar undefined[] = {0x0f, 0x0b};
	struct missing none = *m;

	none.opcode = undefined;
	return leave_to_host(out, &none, sizeof(undefined));
}

/* VEX and EVEX have no prefix of these before them. */
static Bool is_prefixed_wrongly(const struct missing *m)
{
	Bool is_prefixed = m->is_16_bit || m->is_repeated || m->rex || *m->opcode == 0xf2;
	UInt first = m->opcode[*m->opcode == 0xf2];

	return is_prefixed && (first == 0xc4 || first == 0xc5 || first == 0x62);
}

/* PREFETCH of a register. */
static UInt hint(IRSB *out, const struct missing *m)
{
	enum { LENGTH = 3, PREFETCHW = 0x0d, PREFETCH = 0x18 };

	if ((m->opcode[1] != PREFETCHW && m->opcode[1] != PREFETCH) ||
		m->opcode[2] < 0xc0)
		return 0;
	return leave_to_host(out, m, LENGTH);
}

/* Which signal these raise depends on what is in the registers. */
static UInt wait_for_store(IRSB *out, const struct missing *m)
{
	static const struct native_shape reads = {
		.implicit_reads = IMPLICIT_RAX | IMPLICIT_RCX | IMPLICIT_RDX};
	enum { LENGTH = 3, MONITORX = 0xfa, MWAITX = 0xfb };
	UInt which = m->opcode[2];

	if (m->opcode[1] != 0x01 || (which != MONITORX && which != MWAITX) ||
		m->nprefixes)
		return 0;
	return leave_code_to_host(out, m, m->opcode, LENGTH, &reads);
}

/* The processor refuses a program INVPCID, XSAVES and XRSTORS before it looks at their
 * operands, so that any do. */
static UInt of_kernel_state(IRSB *out, const struct missing *m)
{
	static const UChar invpcid[] = {0x66, 0x0f, 0x38, 0x82, 0x00},
			   xsaves[] = {0x0f, 0xc7, 0x28}, xrstors[] = {0x0f, 0xc7, 0x18};
	static const struct native_shape plain;
	UInt which = m->opcode[2] >> 3 & 7;

	if (m->opcode[1] == 0x38 && m->opcode[2] == 0x82 && m->is_16_bit)
		return leave_code_to_host(out, m, invpcid, sizeof(invpcid), &plain);
	if (m->opcode[1] != 0xc7 || m->opcode[2] >= 0xc0 || m->is_16_bit ||
		m->is_repeated)
		return 0;
	if (which == 5)
		return leave_code_to_host(out, m, xsaves, sizeof(xsaves), &plain);
	if (which == 3)
		return leave_code_to_host(out, m, xrstors, sizeof(xrstors), &plain);
	return 0;
}

/* XEND outside of a transaction; what a hypervisor has: VMRUN, VMLOAD, VMSAVE, STGI,
 * CLGI, SKINIT, INVLPGA; moves from and to system registers; SYSEXIT. */
static UInt of_system(IRSB *out, const struct missing *m)
{
	enum { LENGTH = 3, XEND = 0xd5, VMMCALL = 0xd9 };
	UInt first = m->opcode[1], which = m->opcode[2];

	if (first == 0x35)
		return leave_to_host(out, m, LENGTH - 1);
	if ((first >= 0x20 && first <= 0x23) ||
		(first == 0x01 && !m->nprefixes &&
			(which == XEND ||
				(which >= 0xd8 && which <= 0xdf && which != VMMCALL))))
		return leave_to_host(out, m, LENGTH);
	return of_kernel_state(out, m);
}

/* PVALIDATE is refused by its prefix F2. */
static UInt validate_page(IRSB *out, const struct missing *m)
{
	static const UChar pvalidate[] = {0xf2, 0x0f, 0x01, 0xff};

	if (VG_(memcmp)(m->opcode, pvalidate, sizeof(pvalidate)) != 0)
		return 0;
	return leave_to_host(out, m, sizeof(pvalidate));
}

/* VEX executes FMA4 and FEMMS, which some processors had. */
static Bool host_had(UInt output, UInt bit)
{
	enum { EXTENDED = 0x80000001 };

	return native_cpuid(EXTENDED, 0).output[output] >> bit & 1;
}

static UInt of_fma4(IRSB *out, const struct missing *m)
{
	enum { ECX = 2, FMA4 = 16, MAP = 0x1f, PREFIX = 3 };
	UInt which = m->opcode[3];

	if ((m->opcode[1] & MAP) != 3 || (m->opcode[2] & PREFIX) != 1 ||
		!((which >= 0x5c && which <= 0x5f) || (which >= 0x68 && which <= 0x6f) ||
			(which >= 0x78 && which <= 0x7f)))
		return 0;
	return host_had(ECX, FMA4) ? 0 : refuse(out, m);
}

static UInt femms(IRSB *out, const struct missing *m)
{
	enum { EDX = 3, NOW_3D = 31 };

	return m->opcode[1] != 0x0e || host_had(EDX, NOW_3D) ? 0 : refuse(out, m);
}

/* XBEGIN goes on where the transaction has failed, to VEX.  XTEST has no other answer. */
static UInt of_transactions(IRSB *out, const struct missing *m)
{
	enum { ECX = 2, OF_AMD = 0x444d4163, XTEST = 0xd6, LENGTH = 3 };
	Bool is_xtest = m->opcode[0] == 0x0f && m->opcode[1] == 0x01 &&
			m->opcode[2] == XTEST,
	     is_xabort = m->opcode[0] == 0xc6 && m->opcode[1] == 0xf8,
	     is_xbegin = m->opcode[0] == 0xc7 && m->opcode[1] == 0xf8;

	if (is_xabort && !m->nprefixes)
		return leave_to_host(out, m, LENGTH);
	if ((is_xtest || is_xbegin) && native_cpuid(0, 0).output[ECX] == OF_AMD)
		return refuse(out, m);
	return 0;
}

/* A load of a segment register's value: there are six. */
static UInt load_segment(IRSB *out, const struct missing *m)
{
	return (m->opcode[1] >> 3 & 7) > 5 ? refuse(out, m) : 0;
}

/* FENI, FDISI and FSETPM. */
static UInt ignored(IRSB *out, const struct missing *m)
{
	enum { LENGTH = 2 };
	UInt which = m->opcode[1];

	return which == 0xe0 || which == 0xe1 || which == 0xe4
		       ? leave_to_host(out, m, LENGTH)
		       : 0;
}

/* --- All --- */

static UInt of_two_bytes(IRSB *out, const struct missing *m)
{
	UInt length = move_base(out, m);

	if (!length)
		length = hint(out, m);
	if (!length)
		length = wait_for_store(out, m);
	if (!length)
		length = of_system(out, m);
	if (!length)
		length = femms(out, m);
	return length ? length : of_transactions(out, m);
}

static UInt execute(IRSB *out, const struct missing *m)
{
	if (is_prefixed_wrongly(m))
		return refuse(out, m);
	switch (*m->opcode) {
	case 0x8c:
		return load_segment(out, m);
	case 0xc4:
		return of_fma4(out, m);
	case 0xf2:
		return validate_page(out, m);
	case 0xc6:
	case 0xc7:
		return of_transactions(out, m);
	case 0xdb:
		return ignored(out, m);
	case 0xd7:
		return xlat(out, m);
	case 0xa6:
	case 0xa7:
		return compare_strings(out, m);
	case 0xc8:
		return enter(out, m);
	case 0xd9:
	case 0xdf:
		return on_stack(out, m);
	case 0xda:
	case 0xde:
		return compare_integer(out, m);
	case 0x8d:
		return load_address(out, m);
	case 0x0f:
		return of_two_bytes(out, m);
	default:
		return 0;
	}
}

/* Statements that it has added by then mean nothing where it returns 0. */
UInt missing_execute(IRSB *out, Addr pc, const UChar *code)
{
	struct missing m = take_apart(pc, code);
	UInt length = execute(out, &m);

	return length ? m.nprefixes + length : 0;
}
