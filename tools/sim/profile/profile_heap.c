/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Calls of malloc and its relatives, watched without taking their place: at their
 * first instruction, and where a function returns with the stack pointer that the
 * call's return will have.  Of nested calls (operator new calls malloc) the
 * outermost counts.
 */
#include "emit.h"
#include "profile/profile.h"
#include "profile/sharing.h"

#if defined(VGA_amd64)
#include "libvex_guest_amd64.h"
#define OFFSET(reg) __builtin_offsetof(VexGuestAMD64State, guest_##reg)
#define ARGUMENTS                                                                        \
	{                                                                                \
		OFFSET(RDI), OFFSET(RSI), OFFSET(RDX)                                    \
	}
#define RESULT OFFSET(RAX)
#else
#include "libvex_guest_arm64.h"
#define OFFSET(reg) __builtin_offsetof(VexGuestARM64State, guest_##reg)
#define ARGUMENTS                                                                        \
	{                                                                                \
		OFFSET(X0), OFFSET(X1), OFFSET(X2)                                       \
	}
#define RESULT OFFSET(X0)
#endif

#define MAX_ALLOCATORS 64

static struct {
	Addr function;
	UInt kind;
} allocators[MAX_ALLOCATORS];
static UInt nallocators;

static struct profile_call *call; /* of the running thread; NULL: not watched */
static Addr expected;             /* call->sp, which generated code looks at */

/* ---- which functions ---- */

Bool profile_allocator_add(Addr function, UWord kind)
{
	if (!profile_sites || nallocators == MAX_ALLOCATORS || kind > CP_SIM_MMAP)
		return False;
	allocators[nallocators].function = function;
	allocators[nallocators].kind = (UInt)kind;
	nallocators++;
	VG_(discard_translations_safely)(function, 1, "cachepeek");
	return True;
}

static Int find_allocator(Addr a)
{
	for (UInt i = 0; i < nallocators; i++)
		if (allocators[i].function == a)
			return (Int)i;
	return -1;
}

Bool profile_wants(Addr a)
{
	return find_allocator(a) >= 0;
}

/* ---- calls ---- */

static void expect_return(Addr sp)
{
	if (call)
		call->sp = sp;
	expected = sp;
}

void profile_heap_use(struct profile_call *of)
{
	call = of;
	expected = of ? of->sp : 0;
}

static Addr caller_of(Addr sp, Addr link)
{
#if defined(VGA_amd64)
	(void)link;
	return *(Addr *)sp;
#else
	(void)sp;
	return link;
#endif
}

/* The value of the stack pointer when a function has returned that has it so at its
 * first instruction. */
static Addr sp_after(Addr sp)
{
#if defined(VGA_amd64)
	return sp + sizeof(Addr);
#else
	return sp;
#endif
}

static ULong size_of(UInt kind, UWord a, UWord b, UWord c)
{
	switch (kind) {
	case CP_SIM_CALLOC:
		return (ULong)a * b;
	case CP_SIM_REALLOC:
	case CP_SIM_MEMALIGN:
	case CP_SIM_MMAP:
		return b;
	case CP_SIM_POSIX_MEMALIGN:
		return c;
	default:
		return a;
	}
}

/* A call from further out than the one that is open: that one never returned. */
static void on_entry(UWord index, Addr sp, Addr link, UWord a, UWord b, UWord c)
{
	UInt kind = allocators[index].kind;

	if (!call || (call->sp && sp < call->sp))
		return;
	if (kind == CP_SIM_FREE) {
		profile_settle();
		shadow_clear_block(a);
		return;
	}
	call->kind = kind;
	call->caller = caller_of(sp, link);
	call->block = a;
	call->size = size_of(kind, a, b, c);
	expect_return(sp_after(sp));
}

static Addr block_given(UWord result)
{
	if (call->kind == CP_SIM_MMAP)
		return result > -(UWord)VKI_PAGE_SIZE ? 0 : result;
	if (call->kind != CP_SIM_POSIX_MEMALIGN)
		return result;
	return result == 0 ? *(Addr *)call->block : 0;
}

static void on_return(UWord result, Addr to)
{
	Addr block;

	if (!call || to != call->caller)
		return;
	expect_return(0);
	profile_settle();
	block = block_given(result);
	if (call->kind == CP_SIM_REALLOC && call->block && (block || !call->size))
		shadow_clear_block(call->block);
	if (!block || !call->size)
		return;
	if (call->kind == CP_SIM_MMAP) {
		profile_data_new_mapping(block, call->size, call->caller);
		return;
	}
	shadow_set(block, call->size, profile_heap_object(call->caller, call->size));
	profile_data_new_block(block);
	sharing_renew(block, call->size);
}

/* ---- generated code ---- */

void profile_watch_entry(IRSB *out, const VexGuestLayout *layout, Addr a)
{
	static const Int arguments[] = ARGUMENTS;
	IRExpr **args = mkIRExprVec_6(emit_constant((ULong)find_allocator(a)),
		emit_sp(out, layout), emit_link(out), emit_register(out, arguments[0]),
		emit_register(out, arguments[1]), emit_register(out, arguments[2]));
	addStmtToIRSB(out, IRStmt_Dirty(unsafeIRDirty_0_N(0, "allocator",
				   VG_(fnptr_to_fnentry)((void *)on_entry), args)));
}

void profile_watch_return(IRSB *out, const VexGuestLayout *layout)
{
	IRExpr *sp, *equal;
	IRDirty *d;

	if (!profile_sites)
		return;
	sp = emit_sp(out, layout);
	equal = emit_kept(
		out, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, sp, emit_load(out, &expected)));
	d = unsafeIRDirty_0_N(0, "allocated", VG_(fnptr_to_fnentry)((void *)on_return),
		mkIRExprVec_2(emit_register(out, RESULT), out->next));
	d->guard = equal;
	addStmtToIRSB(out, IRStmt_Dirty(d));
}
