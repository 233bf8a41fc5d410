/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * XSAVE, XSAVEC and XRSTOR.  The dynamic linker keeps the registers of arguments that way
 * when a function is called for the first time, and has chosen natively how; and who
 * patched a function may have saved them before the fork.  VEX knows no compacted area,
 * and none with registers that only AVX-512 has.
 *
 * All components that are asked for are stored, as if none were in its first state.
 */
#include "tools/shadow/parts.h"

#include "emit.h"
#include "native/host.h"
#include "native/kept.h"
#include "native/mxcsr.h"
#include "native/state.h"

enum component { X87, SSE, AVX, MASKS = 5, UPPER, HIGH, COMPONENTS };
enum {
	AREA_MXCSR = 24,
	AREA_MASK = 28, /* bits that MXCSR may have */
	AREA_XMM = 160,
	HEADER = 512,
	FORM = HEADER + 8, /* of a compacted area: what it has */
	EXTENDED = 576,
	NVECTORS = 16,
	FIRST_MXCSR = 0x1f80,
};
#define COMPACTED (1ull << 63)
#define BIT(component) (1ull << (component))

/* libVEX's own. */
typedef void x87_helper(VexGuestAMD64State *g, HWord area);
x87_helper amd64g_dirtyhelper_XSAVE_COMPONENT_0, amd64g_dirtyhelper_XRSTOR_COMPONENT_0;
void amd64g_dirtyhelper_FINIT(VexGuestAMD64State *g);

static struct {
	ULong kept; /* by the kernel, for each thread */
	struct {
		UInt size, offset; /* offset: in an area that is not compacted */
		Bool is_aligned;   /* in one that is */
	} of[COMPONENTS];
	UInt size; /* of the largest area */
} host;

void saved_start(void)
{
	if (!native_host_kept_state())
		return;
	__asm__("xgetbv" : "=a"(*(UInt *)&host.kept) : "c"(0) : "rdx");
	host.size = EXTENDED;
	for (enum component c = AVX; c < COMPONENTS; c++) {
		struct cpuid is = native_cpuid(0xd, c);

		if (!(native_host_kept_state() >> c & 1))
			continue;
		host.of[c].size = is.output[0];
		host.of[c].offset = is.output[1];
		host.of[c].is_aligned = is.output[2] >> 1 & 1;
		if (host.size < is.output[0] + is.output[1])
			host.size = is.output[0] + is.output[1];
	}
}

/* ---- where components are ---- */

/* form: 0 of an area that is not compacted; else what it has. */
static UInt place_of(enum component c, ULong form)
{
	UInt at = EXTENDED;

	if (c < AVX)
		return c == SSE ? AREA_XMM : 0;
	if (!form)
		return host.of[c].offset;
	for (UInt i = AVX; i <= (UInt)c; i++) {
		if (!(form >> i & 1))
			continue;
		if (host.of[i].is_aligned)
			at = (at + 63) & ~63u;
		if (i < (UInt)c)
			at += host.of[i].size;
	}
	return at;
}

static ULong word_at(const UChar *area, UInt at)
{
	ULong word;

	VG_(memcpy)(&word, area + at, sizeof(word));
	return word;
}

/* What the program asks for.  There are components that are not known here. */
static ULong wanted(const VexGuestAMD64State *g, ULong form)
{
	ULong all = ((g->guest_RDX << 32) | (UInt)g->guest_RAX) & host.kept;

	if ((all | form) & ~(ULong)native_host_kept_state())
		shadow_finish(CP_SHADOW_UNDECODED, 0x0f, g->guest_RIP);
	return all;
}

/* ---- registers ---- */

static UChar *ymm(VexGuestAMD64State *g, UInt n)
{
	return (UChar *)g + state_ymm(n);
}

static struct side_state *side(VexGuestAMD64State *g)
{
	return (struct side_state *)(g + 1);
}

static void move(UChar *area, UChar *own, SizeT size, Bool stores)
{
	VG_(memcpy)(stores ? area : own, stores ? own : area, size);
}

/* A half of each of the first registers. */
static void move_halves(VexGuestAMD64State *g, UChar *area, UInt half, Bool stores)
{
	for (UInt i = 0; i < NVECTORS; i++)
		move(area + 16 * i, ymm(g, i) + 16 * half, 16, stores);
}

static void move_upper(VexGuestAMD64State *g, UChar *area, Bool stores)
{
	struct side_state *s = side(g);

	for (UInt i = 0; stores && i < NVECTORS; i++)
		if (!(s->live >> i & 1))
			VG_(memset)(&s->upper[i], 0, sizeof(s->upper[i]));
	move(area, (UChar *)s->upper, sizeof(s->upper), stores);
	s->live = (1u << NVECTORS) - 1;
}

static void move_component(
	VexGuestAMD64State *g, enum component c, UChar *at, Bool stores)
{
	switch (c) {
	case X87:
		(stores ? amd64g_dirtyhelper_XSAVE_COMPONENT_0
			: amd64g_dirtyhelper_XRSTOR_COMPONENT_0)(g, (HWord)at);
		break;
	case SSE:
		move_halves(g, at, 0, stores);
		break;
	case AVX:
		move_halves(g, at, 1, stores);
		break;
	case MASKS:
		move(at, (UChar *)side(g)->mask, sizeof(side(g)->mask), stores);
		break;
	case UPPER:
		move_upper(g, at, stores);
		break;
	case HIGH:
		move(at, (UChar *)side(g)->zmm, sizeof(side(g)->zmm), stores);
		break;
	default:
		break;
	}
}

/* As it is in the beginning. */
static void empty_component(VexGuestAMD64State *g, enum component c)
{
	static UChar zeros[sizeof(side(g)->zmm)];

	if (c == X87)
		amd64g_dirtyhelper_FINIT(g);
	else
		move_component(g, c, zeros, False);
}

/* ---- MXCSR ---- */

static UInt mxcsr_of(VexGuestAMD64State *g)
{
	return side(g)->mxcsr ^ FIRST_MXCSR;
}

/* Kept translations compute as the window began with it. */
static void restore_mxcsr(VexGuestAMD64State *g, UInt value)
{
	if ((value ^ mxcsr_of(g)) & ~MXCSR_FLAGS)
		shadow_finish(CP_SHADOW_UNDECODED, 0x0f, g->guest_RIP);
}

/* ---- the instructions ---- */

static void store_all(VexGuestAMD64State *g, UChar *area, ULong form, ULong all)
{
	UInt mxcsr = mxcsr_of(g), usable = 0xffff;

	for (enum component c = X87; c < COMPONENTS; c++)
		if (all >> c & 1)
			move_component(g, c, area + place_of(c, form), True);
	if (!(all & (BIT(SSE) | BIT(AVX))))
		return;
	VG_(memcpy)(area + AREA_MXCSR, &mxcsr, sizeof(mxcsr));
	VG_(memcpy)(area + AREA_MASK, &usable, sizeof(usable));
}

static void xsave(VexGuestAMD64State *g, UChar *area)
{
	ULong all = wanted(g, 0), has = (word_at(area, HEADER) & ~all) | all;

	store_all(g, area, 0, all);
	VG_(memcpy)(area + HEADER, &has, sizeof(has));
}

static void xsavec(VexGuestAMD64State *g, UChar *area)
{
	ULong all = wanted(g, 0), form = all | COMPACTED;

	store_all(g, area, form, all);
	VG_(memcpy)(area + HEADER, &all, sizeof(all));
	VG_(memcpy)(area + FORM, &form, sizeof(form));
}

static void xrstor(VexGuestAMD64State *g, UChar *area)
{
	ULong form = word_at(area, FORM), has = word_at(area, HEADER),
	      all = wanted(g, form & ~COMPACTED);
	Bool has_mxcsr =
		form ? (all & has & BIT(SSE)) != 0 : (all & (BIT(SSE) | BIT(AVX))) != 0;

	for (enum component c = X87; c < COMPONENTS; c++) {
		if (!(all >> c & 1))
			continue;
		if (has >> c & 1)
			move_component(g, c, area + place_of(c, form), False);
		else
			empty_component(g, c);
	}
	if (has_mxcsr)
		restore_mxcsr(g, (UInt)word_at(area, AREA_MXCSR));
	else if (form && all & BIT(SSE))
		restore_mxcsr(g, FIRST_MXCSR);
}

/* ---- in code ---- */

static void affects(IRDirty *d, IREffect effect, UInt offset, UInt size)
{
	Int i = d->nFxState++;

	VG_(memset)(&d->fxState[i], 0, sizeof(d->fxState[i]));
	d->fxState[i].fx = effect;
	d->fxState[i].offset = (UShort)offset;
	d->fxState[i].size = (UShort)size;
}

static void affects_registers(IRDirty *d, IREffect effect)
{
	const UInt x87 = (UInt)STATE_OF(guest_FTOP);

	affects(d, Ifx_Read, (UInt)STATE_OF(guest_RIP), 8);
	affects(d, Ifx_Read, state_general(0), 3 * 8); /* %rax, %rcx, %rdx */
	affects(d, effect, x87, (UInt)STATE_OF(guest_FC3210) + (UInt)sizeof(ULong) - x87);
	affects(d, effect, state_ymm(0), NVECTORS * 32);
	affects(d, Ifx_Modify, (UInt)SIDE_OF(live), 8);
}

/* The largest area is what a reference is of. */
Bool native_keep_registers(
	IRSB *out, enum registers_kept what, const struct native *n, IRExpr *address)
{
	static void (*const helpers[])(VexGuestAMD64State * g, UChar * area) = {
		[KEPT_XSAVE] = xsave, [KEPT_XSAVEC] = xsavec, [KEPT_XRSTOR] = xrstor};
	static const HChar *const names[] = {[KEPT_XSAVE] = "xsave",
		[KEPT_XSAVEC] = "xsavec",
		[KEPT_XRSTOR] = "xrstor"};
	Bool restores = what == KEPT_XRSTOR;
	IRDirty *d;

	if (!host.size)
		return False;
	addStmtToIRSB(out, IRStmt_Put((Int)STATE_OF(guest_RIP), emit_constant(n->pc)));
	d = unsafeIRDirty_0_N(0, names[what], (void *)helpers[what],
		mkIRExprVec_2(IRExpr_GSPTR(), address));
	affects_registers(d, restores ? Ifx_Modify : Ifx_Read);
	d->mFx = restores ? Ifx_Read : Ifx_Write;
	d->mAddr = address;
	d->mSize = (Int)host.size;
	addStmtToIRSB(out, IRStmt_Dirty(d));
	return True;
}
