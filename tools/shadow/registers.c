/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From what a signal has interrupted to the guest's state.
 */
#include "tools/shadow/parts.h"

#include "emit.h"

#include <asm/prctl.h>
#include <ucontext.h>

_Static_assert(__builtin_offsetof(VexGuestAMD64State, guest_RIP) == SHADOW_GUEST_RIP,
	"run.S looks there");
_Static_assert(
	offsetof(struct shadow_thread, spilled) == 3 * sizeof(VexGuestAMD64State) &&
		sizeof(VexGuestAMD64State) % 32 == 0,
	"VEX spills registers there");

/* Offsets in FXSAVE's image, and in what XSAVE has behind it. */
#define TAGS 4
#define MXCSR 24
#define XMM 160
#define MAGIC                                                                            \
	464 /* FP_XSTATE_MAGIC1, where the kernel has stored more than FXSAVE does */
#define IS_EXTENDED 0x46505853u
#define XSTATE 512
#define HAS_YMM 4
#define YMM_HIGH 576

/* In the order of gregs. */
#define GENERAL(X)                                                                       \
	X(0, R8)                                                                         \
	X(1, R9)                                                                         \
	X(2, R10)                                                                        \
	X(3, R11)                                                                        \
	X(4, R12)                                                                        \
	X(5, R13)                                                                        \
	X(6, R14)                                                                        \
	X(7, R15)                                                                        \
	X(8, RDI)                                                                        \
	X(9, RSI)                                                                        \
	X(10, RBP)                                                                       \
	X(11, RBX)                                                                       \
	X(12, RDX)                                                                       \
	X(13, RAX)                                                                       \
	X(14, RCX)                                                                       \
	X(15, RSP)

static UInt word_at(const UChar *from, UInt at)
{
	UInt word;

	VG_(memcpy)(&word, from + at, sizeof(word));
	return word;
}

/* Which components the kernel has found in use. */
static ULong saved_in(const UChar *image)
{
	return word_at(image, MAGIC) == IS_EXTENDED ? word_at(image, XSTATE) : 0;
}

/* The halves of a register of 32 bytes are 16 and 16. */
static void take_vectors(VexGuestAMD64State *guest, const UChar *image)
{
	Bool has_high = (saved_in(image) & HAS_YMM) != 0;
	UChar *ymm = (UChar *)&guest->guest_YMM0;

	for (UInt i = 0; i < 16; i++, ymm += sizeof(guest->guest_YMM0)) {
		VG_(memcpy)(ymm, image + XMM + 16 * i, 16);
		VG_(memset)(ymm + 16, 0, 16);
		if (has_high)
			VG_(memcpy)(ymm + 16, image + YMM_HIGH + 16 * i, 16);
	}
	guest->guest_SSEROUND = word_at(image, MXCSR) >> 13 & 3;
}

/* Bits of MXCSR that ask for other code. */
static Bool is_other_kind;

ULong registers_kind(void)
{
	return is_other_kind;
}

Bool registers_take(struct shadow_thread *thread, const void *context)
{
	VexGuestAMD64State *guest = &thread->guest;
	const ucontext_t *u = context;
	const greg_t *r = u->uc_mcontext.gregs;
	const UChar *image = (const UChar *)u->uc_mcontext.fpregs;

	LibVEX_GuestAMD64_initialise(guest);
#define X(n, name) guest->guest_##name = (ULong)r[n];
	GENERAL(X)
#undef X
	guest->guest_RIP = (ULong)r[REG_RIP];
	LibVEX_GuestAMD64_put_rflags((ULong)r[REG_EFL], guest);
	cp_syscall(SYS_arch_prctl, ARCH_GET_FS, &guest->guest_FS_CONST);
	cp_syscall(SYS_arch_prctl, ARCH_GET_GS, &guest->guest_GS_CONST);
	if (!image)
		return True;
	take_vectors(guest, image);
	is_other_kind = extended_take(
		thread, image, saved_in(image), word_at(image, MXCSR) & 0xffff);
	return image[TAGS] == 0;
}

/* Those that a function may leave anything in, and has no result in. */
#define SCRATCH(X)                                                                       \
	X(R8)                                                                            \
	X(R9)                                                                            \
	X(R10)                                                                           \
	X(R11)                                                                           \
	X(RDI)                                                                           \
	X(RSI)                                                                           \
	X(RCX)
#define FORGOTTEN 0x5ead00f0f0075ad0ull

/* The function that returns next has no result. */
static Bool is_silent;

void registers_silent(void)
{
	is_silent = True;
}

void registers_forget(Addr to)
{
	if (own_code_at(to))
		return;
#define X(name) shadow_guest.guest_##name = FORGOTTEN;
	SCRATCH(X)
#undef X
	if (is_silent)
		shadow_guest.guest_RAX = shadow_guest.guest_RDX = FORGOTTEN;
	is_silent = False;
}

/* A bit for each register in which anything may be at the same place. */
static UInt forgotten_of(const VexGuestAMD64State *guest)
{
	UInt forgotten = 0;

#define X(n, name) forgotten |= (UInt)(guest->guest_##name == FORGOTTEN) << (n);
	GENERAL(X)
#undef X
	return forgotten;
}

/* R11 is what the flags were, some of which are undefined, until something is written to
 * it. */
void registers_after_call(void)
{
	shadow_guest.guest_R11 = FORGOTTEN;
}

Bool registers_are(const VexGuestAMD64State *guest, const struct cp_shadow_place *place)
{
	UInt forgotten = forgotten_of(guest);
	Bool same = True;

#define X(n, name) same &= guest->guest_##name == place->reg[n] || (forgotten >> (n)&1);
	GENERAL(X)
#undef X
	for (UInt i = 0; same && i < CP_SHADOW_REGISTERS; i++)
		if ((place->readable & ~forgotten) >> i & 1)
			same = VG_(memcmp)((const void *)place->reg[i], place->memory[i],
				       CP_SHADOW_SEEN) == 0;
	return same;
}

/* May a function of the library leave anything in it? */
static Bool is_scratch(UInt offset)
{
#define X(name)                                                                          \
	if (offset == __builtin_offsetof(VexGuestAMD64State, guest_##name))              \
		return True;
	SCRATCH(X)
	X(RAX)
	X(RDX)
#undef X
	return False;
}

/* 0 if the register is as it was, or may be. */
static IRExpr *difference(IRSB *out, UInt offset, ULong was)
{
	IRExpr *is = emit_register(out, (Int)offset),
	       *differs = emit_kept(
		       out, Ity_I64, IRExpr_Binop(Iop_Xor64, is, emit_constant(was)));

	if (!is_scratch(offset))
		return differs;
	return emit_kept(out, Ity_I64,
		IRExpr_ITE(
			emit_kept(out, Ity_I1,
				IRExpr_Binop(Iop_CmpEQ64, is, emit_constant(FORGOTTEN))),
			emit_constant(0), differs));
}

IRExpr *registers_may_be(IRSB *out, const struct cp_shadow_place *place)
{
	IRExpr *all = emit_constant(0);

#define X(n, name)                                                                       \
	all = emit_kept(out, Ity_I64,                                                    \
		IRExpr_Binop(Iop_Or64, all,                                              \
			difference(out,                                                  \
				__builtin_offsetof(VexGuestAMD64State, guest_##name),    \
				place->reg[n])));
	GENERAL(X)
#undef X
	return emit_kept(out, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, all, emit_constant(0)));
}
