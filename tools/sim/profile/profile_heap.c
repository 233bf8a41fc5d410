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
#include "valgrind/guest.h"

#define OFFSET(reg) STATE_OF(guest_##reg)
#if defined(VGA_amd64)
#define ARGUMENTS                                                                        \
	{                                                                                \
		OFFSET(RDI), OFFSET(RSI), OFFSET(RDX)                                    \
	}
#else
#define ARGUMENTS                                                                        \
	{                                                                                \
		OFFSET(X0), OFFSET(X1), OFFSET(X2)                                       \
	}
#endif

#define MAX_ALLOCATORS 64

/* The functions that the library named, and the call of one that is under way. */
static struct {
	struct {
		Addr function;
		UInt kind;
	} allocators[MAX_ALLOCATORS];
	UInt nallocators;
	struct profile_call *call; /* of the running thread; NULL: not watched */
	Addr expected;             /* call->sp, which generated code looks at */
} heap;

/* ---- which functions ---- */

Bool profile_allocator_add(Addr function, UWord kind)
{
	if (!tool_options.sites || heap.nallocators == MAX_ALLOCATORS ||
		kind > CP_SIM_MMAP)
		return False;
	heap.allocators[heap.nallocators].function = function;
	heap.allocators[heap.nallocators].kind = (UInt)kind;
	heap.nallocators++;
	VG_(discard_translations_safely)(function, 1, "cachepeek");
	return True;
}

static Int find_allocator(Addr a)
{
	for (UInt i = 0; i < heap.nallocators; i++)
		if (heap.allocators[i].function == a)
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
	if (heap.call)
		heap.call->sp = sp;
	heap.expected = sp;
}

void profile_heap_use(struct profile_call *of)
{
	heap.call = of;
	heap.expected = of ? of->sp : 0;
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

/* Where nothing is preloaded, nobody names the functions: the system call is the caller.
 */
void profile_heap_mapped(Addr start, SizeT size)
{
	if (tool_options.sites && !heap.nallocators && VG_(get_running_tid)())
		profile_data_new_mapping(
			start, size, VG_(get_IP)(VG_(get_running_tid)()));
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
	UInt kind = heap.allocators[index].kind;

	if (!heap.call || (heap.call->sp && sp < heap.call->sp))
		return;
	if (kind == CP_SIM_FREE) {
		profile_settle();
		shadow_clear_block(a);
		return;
	}
	heap.call->kind = kind;
	heap.call->caller = caller_of(sp, link);
	heap.call->block = a;
	heap.call->size = size_of(kind, a, b, c);
	expect_return(sp_after(sp));
}

static Addr block_given(UWord result)
{
	if (heap.call->kind == CP_SIM_MMAP)
		return result > -(UWord)VKI_PAGE_SIZE ? 0 : result;
	if (heap.call->kind != CP_SIM_POSIX_MEMALIGN)
		return result;
	return result == 0 ? *(Addr *)heap.call->block : 0;
}

static void on_return(UWord result, Addr to)
{
	Addr block;

	if (!heap.call || to != heap.call->caller)
		return;
	expect_return(0);
	profile_settle();
	block = block_given(result);
	if (heap.call->kind == CP_SIM_REALLOC && heap.call->block &&
		(block || !heap.call->size))
		shadow_clear_block(heap.call->block);
	if (!block || !heap.call->size)
		return;
	if (heap.call->kind == CP_SIM_MMAP) {
		profile_data_new_mapping(block, heap.call->size, heap.call->caller);
		return;
	}
	shadow_set(block, heap.call->size,
		profile_heap_object(heap.call->caller, heap.call->size));
	profile_data_new_block(block);
	sharing_renew(block, heap.call->size);
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

	if (!tool_options.sites)
		return;
	sp = emit_sp(out, layout);
	equal = emit_kept(out, Ity_I1,
		IRExpr_Binop(Iop_CmpEQ64, sp, emit_load(out, &heap.expected)));
	d = unsafeIRDirty_0_N(0, "allocated", VG_(fnptr_to_fnentry)((void *)on_return),
		mkIRExprVec_2(emit_register(out, GUEST_RESULT), out->next));
	d->guard = equal;
	addStmtToIRSB(out, IRStmt_Dirty(d));
}
