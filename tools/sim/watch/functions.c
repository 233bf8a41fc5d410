/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The shadow stack of each thread: calls of functions that are regions, by the stack
 * pointer at their first instruction.  A call is over when the stack pointer is above
 * that, by a return, longjmp or the unwinding of an exception; it lasts through tail
 * calls.  A jump from a function to its own beginning is no call.
 *
 * Calls on another stack (of a signal's handler, of a coroutine) say nothing about
 * those on this one.
 */
#include "emit.h"
#include "watch/function_names.h"
#include "watch/functions.h"
#include "paths/paths.h"
#include "bounds.h"
#include "watch/lines.h"
#include "valgrind/core.h"
#include "valgrind/guest.h"

#define REG(name) STATE_OF(guest_##name)
#if defined(VGA_amd64)
#define FIRST REG(RAX) /* before it is what the core needs */
#define SP REG(RSP)
#define IP REG(RIP)
#define ARGUMENT REG(RDI)
#define ARGUMENT2 REG(RSI)
#define CALLED REG(RDI), REG(RSI), REG(RDX), REG(RCX) /* a function's arguments */
#define PASSED                                                                           \
	REG(RDX), REG(RCX), REG(R8), REG(R9) /* where the calls.detour has them          \
					      */
#define ANSWER REG(RDX)
#define CALLED_SP 8 /* modulo 16, at a function's first instruction */
#else
#define FIRST REG(X0)
#define SP REG(XSP)
#define IP REG(PC)
#define ARGUMENT REG(X0)
#define ARGUMENT2 REG(X1)
#define CALLED REG(X0), REG(X1), REG(X2), REG(X3)
#define PASSED REG(X2), REG(X3), REG(X4), REG(X5)
#define ANSWER REG(X3)
#define CALLED_SP 0
#endif

#define RED_ZONE 256    /* more than any ABI's */
#define NEAR (64 << 10) /* so far apart it is one stack */
#define MAX_SIGNALS 16

/* The kind of a call: of a function, or of a line (lines.h), which is where it is, or
 * waits for what it called or jumped to, or for a signal's handler. */
enum call_kind { FUNCTION, HERE, CALLS, TAIL, SIGNAL };

struct call {
	Addr sp, ret; /* ret: where it returns to, where that is known */
	UInt function;
	enum call_kind kind;
	Addr begin; /* of a line: its function's */
};

/* A handler on a stack of its own: what is below is not looked at. */
struct barrier {
	UInt base;
	Addr sp;
};

struct thread_functions {
	struct call *calls;
	UInt depth, room;
	struct barrier barriers[MAX_SIGNALS];
	UInt nbarriers;
	Addr resumed, resumed_sp; /* where it begins after its detour */
	Bool away;                /* on one */
	guest_state state;        /* to come back with */
};

/* All threads' functions; the rest is the running thread's: generated code reads it. */
static struct {
	Bool wanted;
	struct thread_functions **threads; /* by ThreadId */
	struct thread_functions *current;
	Addr detour;
	Addr limit; /* the stack pointer above which a call is over */
	ULong here; /* is the innermost call a line, and not somewhere else? */
} calls = {.limit = ~0ul};

Bool functions_wanted(void)
{
	return calls.wanted;
}

/* ---- stacks ---- */

static UInt base_of(const struct thread_functions *t)
{
	return t->nbarriers ? t->barriers[t->nbarriers - 1].base : 0;
}

static Bool is_here(const struct thread_functions *t)
{
	return t->depth && t->calls[t->depth - 1].kind == HERE;
}

static void set_limit(void)
{
	calls.limit = ~0ul;
	calls.here = calls.current && is_here(calls.current);
	if (!calls.current)
		return;
	if (calls.current->nbarriers)
		calls.limit = 0; /* it may be left by a jump */
	else if (calls.current->depth > calls.here)
		calls.limit =
			calls.current->calls[calls.current->depth - 1 - calls.here].sp;
#if !defined(VGA_amd64)
	if (calls.limit && calls.limit != ~0ul)
		calls.limit--; /* a return leaves it as it was */
#endif
}

static Bool same_stack(Addr a, Addr b)
{
	return (a < b ? b - a : a - b) < NEAR || bounds_same(a, b);
}

static Bool is_over(const struct call *call, Addr sp, Addr next)
{
	return call->sp < sp || (call->sp == sp && call->ret && call->ret == next);
}

/* How many calls of the innermost are over, where the stack pointer is sp. */
static UInt count_over(const struct thread_functions *t, Addr sp, Addr next)
{
	UInt over = t->depth;

	for (UInt i = t->depth; i-- > base_of(t);) {
		const struct call *call = &t->calls[i];

		if (call->kind == HERE || !same_stack(call->sp, sp))
			continue;
		if (!is_over(call, sp, next))
			break;
		over = i;
	}
	return t->depth - over;
}

/* A handler on a stack of its own may have been left by a jump: how many calls are
 * over with it. */
static UInt drop_barriers(struct thread_functions *t, Addr sp)
{
	UInt base = t->depth;

	while (t->nbarriers) {
		const struct barrier *b = &t->barriers[t->nbarriers - 1];

		if (sp <= b->sp || !same_stack(sp, b->sp))
			break;
		base = b->base;
		t->nbarriers--;
	}
	return t->depth - base;
}

static UInt leave_calls(struct thread_functions *t, Addr sp, Addr next)
{
	UInt jumped = drop_barriers(t, sp), over = count_over(t, sp, next);

	return jumped > over ? jumped : over;
}

static void push_call(struct thread_functions *t, struct call call)
{
	if (t->depth == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->calls = VG_(realloc)(
			"cachepeek.calls", t->calls, t->room * sizeof(*t->calls));
	}
	t->calls[t->depth++] = call;
	set_limit();
}

/* ---- detours ---- */

static void set_register(ThreadId tid, PtrdiffT at, UWord value)
{
	VG_(set_shadow_regs_area)(tid, 0, at, sizeof(value), (const UChar *)&value);
}

/* The arguments of the function that begins are behind what the detour is told of it. */
static void pass_arguments(const struct thread_functions *t, ThreadId tid)
{
	static const PtrdiffT called[] = {CALLED}, passed[] = {PASSED};

	for (UInt i = 0; i < sizeof(called) / sizeof(called[0]); i++)
		set_register(tid, passed[i],
			*(const UWord *)((const UChar *)&t->state + called[i]));
}

static UWord take_detour(
	struct thread_functions *t, Addr sp, Addr back, UWord function, UWord ended)
{
	ThreadId tid = VG_(get_running_tid)();

	VG_(get_shadow_regs_area)(tid, (UChar *)&t->state, 0, 0, sizeof(t->state));
	*(UWord *)((UChar *)&t->state + IP) = back;
	t->away = True;
	set_register(tid, SP, ((sp - RED_ZONE) & ~15ul) - CALLED_SP);
	set_register(tid, ARGUMENT, function);
	set_register(tid, ARGUMENT2, ended);
	pass_arguments(t, tid);
	return 1;
}

Bool functions_done(ThreadId tid, UWord *ret)
{
	struct thread_functions *t = calls.threads ? calls.threads[tid] : NULL;

	if (!t || !t->away)
		return False;
	t->away = False;
	VG_(set_shadow_regs_area)
	(tid, 0, FIRST, sizeof(t->state) - FIRST, (const UChar *)&t->state + FIRST);
	*ret = *(UWord *)((UChar *)&t->state + ANSWER);
	return True;
}

/* In a handler of a signal that came on a detour: until it is over, by a jump too. */
static Bool is_away(struct thread_functions *t, Addr sp)
{
	Addr left = *(Addr *)((UChar *)&t->state + SP);

	if (t->away && sp > left && same_stack(sp, left))
		t->away = False;
	return t->away;
}

static UWord end_calls(struct thread_functions *t, UInt n, Addr sp, Addr back)
{
	t->depth -= n;
	set_limit();
	return take_detour(t, sp, back, 0, n);
}

/* Where the calls begin that have this stack pointer, too: of one function that has
 * jumped to others until it is the first's turn again. */
static UInt find_jump(const struct thread_functions *t, Addr sp, UInt function)
{
	for (UInt i = t->depth; i-- > base_of(t) && t->calls[i].sp == sp;)
		if (t->calls[i].function == function)
			return i + 1;
	return 0;
}

static UWord on_entry(UWord function, Addr a, Addr sp, Addr link)
{
	struct thread_functions *t = calls.current;
	UInt n, jump;

	if (!t || is_away(t, sp))
		return 0;
	if (t->resumed == a && t->resumed_sp == sp) {
		t->resumed = 0;
		return 0;
	}
	n = leave_calls(t, sp, 0);
	if (n)
		return end_calls(t, n, sp, a);
	jump = find_jump(t, sp, (UInt)function);
	t->resumed = a;
	t->resumed_sp = sp;
	if (jump && (jump == t->depth || (jump + 1 == t->depth && is_here(t)))) {
		t->resumed = 0;
		return 0;
	}
	if (jump)
		return end_calls(t, t->depth - jump, sp, a);
	push_call(t, (struct call){.sp = sp, .ret = link, .function = (UInt)function});
	return take_detour(t, sp, a, function, 0);
}

/* A line that has what it called back, of n calls that are over, is where it was: it is
 * the outermost of them.  Returns how many remain. */
static UInt resume_line(struct thread_functions *t, UInt n, Addr next)
{
	struct call *call = &t->calls[t->depth - n];

	if (!n || call->kind != CALLS || call->ret != next)
		return n;
	call->kind = HERE;
	set_limit();
	return n - 1;
}

static UWord on_return(Addr sp, Addr next)
{
	struct thread_functions *t = calls.current;
	UInt n;

	if (!t || is_away(t, sp))
		return 0;
	n = resume_line(t, leave_calls(t, sp, next), next);
	set_limit();
	return n ? end_calls(t, n, sp, next) : 0;
}

/* ---- lines ---- */

/* Has it come there, without a call, from another function? */
static Bool is_tail_call(const struct call *line, Addr begin)
{
	return line->begin != begin && line->begin != ANY_FUNCTION &&
	       begin != ANY_FUNCTION;
}

static void jump_from_line(struct thread_functions *t, Addr sp, Addr link)
{
	struct call *line = &t->calls[t->depth - 1];

	line->kind = TAIL;
	line->sp = sp;
	line->ret = link;
	set_limit();
}

static UWord on_line(UWord number, Addr a, Addr sp, Addr begin, Addr link)
{
	struct thread_functions *t = calls.current;
	struct call *top;
	UInt n;

	if (!t || is_away(t, sp))
		return 0;
	n = resume_line(t, leave_calls(t, sp, a), a);
	if (n)
		return end_calls(t, n, sp, a);
	if (is_here(t)) {
		top = &t->calls[t->depth - 1];
		if (is_tail_call(top, begin)) {
			jump_from_line(t, sp, link);
		} else if (top->function == number) {
			return 0;
		} else {
			return end_calls(t, 1, sp, a);
		}
	}
	push_call(t, (struct call){sp, 0, (UInt)number, HERE, begin});
	return take_detour(t, sp, a, number, 0);
}

static UWord on_elsewhere(Addr a, Addr sp, Addr begin, Addr link)
{
	struct thread_functions *t = calls.current;

	if (!t || is_away(t, sp) || !is_here(t))
		return 0;
	if (!is_tail_call(&t->calls[t->depth - 1], begin))
		return end_calls(t, 1, sp, a);
	jump_from_line(t, sp, link);
	return 0;
}

static void on_line_call(Addr sp, Addr back)
{
	struct thread_functions *t = calls.current;
	struct call *line;

	if (!t || is_away(t, sp) || !is_here(t))
		return;
	line = &t->calls[t->depth - 1];
	line->kind = CALLS;
	line->sp = sp;
	line->ret = back;
	set_limit();
}

static UWord on_line_return(Addr sp, Addr next)
{
	struct thread_functions *t = calls.current;
	UInt n;

	if (!t || is_away(t, sp))
		return 0;
	n = leave_calls(t, sp, next);
	if (!n && is_here(t))
		n = 1;
	n = resume_line(t, n, next);
	return n ? end_calls(t, n, sp, next) : 0;
}

/* The stack pointer is back where it was when the handler has returned. */
static void interrupt_line(struct thread_functions *t, Addr sp)
{
	struct call *line = &t->calls[t->depth - 1];

	if (!is_here(t))
		return;
	line->kind = SIGNAL;
	line->sp = sp - 1;
	line->ret = 0;
}

static void continue_line(struct thread_functions *t, Addr sp)
{
	struct call *line = &t->calls[t->depth - 1];

	if (t->depth && line->kind == SIGNAL && line->sp == sp - 1)
		line->kind = HERE;
}

/* ---- signals ---- */

static void before_signal(ThreadId tid, Int signal, Bool alternative)
{
	struct thread_functions *t = calls.threads ? calls.threads[tid] : NULL;

	(void)signal;
	paths_signal_begins(tid, alternative);
	if (!t)
		return;
	interrupt_line(t, VG_(get_SP)(tid));
	set_limit();
	if (!alternative || t->nbarriers == MAX_SIGNALS)
		return;
	t->barriers[t->nbarriers].base = t->depth;
	t->barriers[t->nbarriers++].sp = VG_(get_SP)(tid);
	set_limit();
}

static void after_signal(ThreadId tid, Int signal)
{
	struct thread_functions *t = calls.threads ? calls.threads[tid] : NULL;

	(void)signal;
	paths_signal_is_over(tid);
	if (!t)
		return;
	(void)drop_barriers(t, VG_(get_SP)(tid) + 1);
	continue_line(t, VG_(get_SP)(tid));
	set_limit();
}

/* ---- threads ---- */

void functions_thread_begin(ThreadId tid)
{
	struct thread_functions *t;

	if (!calls.wanted)
		return;
	if (!calls.threads[tid])
		calls.threads[tid] =
			VG_(calloc)("cachepeek.calls", 1, sizeof(*calls.threads[tid]));
	t = calls.threads[tid];
	t->depth = t->nbarriers = 0;
	t->resumed = 0;
	t->away = False;
}

void functions_use(ThreadId tid)
{
	if (!calls.wanted)
		return;
	if (tid != VG_INVALID_THREADID && !calls.threads[tid])
		functions_thread_begin(tid);
	calls.current = tid != VG_INVALID_THREADID ? calls.threads[tid] : NULL;
	set_limit();
}

/* Blocks that go on behind a jump would have functions in their midst, where not all
 * registers are where they belong. */
Bool functions_start(Addr to, const HChar *patterns)
{
	if (calls.wanted)
		return False;
	calls.threads =
		VG_(calloc)("cachepeek.threads", VG_N_THREADS, sizeof(*calls.threads));
	calls.detour = to;
	functions_choose(patterns);
	lines_choose(patterns);
	calls.wanted = True;
	vex_control.guest_chase = False;
	VG_(discard_translations_safely)(0, ~0ul >> 1, "cachepeek");
	return True;
}

void functions_track(void)
{
	VG_(track_pre_deliver_signal)(before_signal);
	VG_(track_post_deliver_signal)(after_signal);
}

/* ---- generated code ---- */

static void leave_if(IRSB *out, const VexGuestLayout *layout, IRExpr *detoured)
{
	IRExpr *away = emit_kept(
		out, Ity_I1, IRExpr_Binop(Iop_CmpNE64, detoured, emit_constant(0)));

	addStmtToIRSB(out, IRStmt_Exit(away, Ijk_Boring, IRConst_U64(calls.detour),
				   layout->offset_IP));
}

void functions_watch_entry(IRSB *out, const VexGuestLayout *layout, Addr a)
{
	IRTemp result = newIRTemp(out->tyenv, Ity_I64);
	Int function = function_at(a);
	IRExpr *link, *sp;

	if (function < 0)
		return;
	sp = emit_sp(out, layout);
	link = emit_link(out);
	addStmtToIRSB(out, IRStmt_Dirty(unsafeIRDirty_1_N(result, 0, "function begins",
				   VG_(fnptr_to_fnentry)((void *)on_entry),
				   mkIRExprVec_4(emit_constant((ULong)function),
					   emit_constant(a), sp, link))));
	leave_if(out, layout, IRExpr_RdTmp(result));
}

void functions_watch_return(IRSB *out, const VexGuestLayout *layout)
{
	IRTemp result = newIRTemp(out->tyenv, Ity_I64);
	IRExpr *sp, *above;
	IRDirty *d;

	if (out->next->tag == Iex_Const)
		return;
	sp = emit_sp(out, layout);
	above = emit_load(out, &calls.limit);
	above = emit_kept(out, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, above, sp));
	d = unsafeIRDirty_1_N(result, 0, "function ends",
		VG_(fnptr_to_fnentry)((void *)on_return), mkIRExprVec_2(sp, out->next));
	d->guard = above;
	addStmtToIRSB(out, IRStmt_Dirty(d));
	leave_if(out, layout,
		emit_kept(out, Ity_I64,
			IRExpr_ITE(above, IRExpr_RdTmp(result), emit_constant(0))));
}

/* ---- generated code: lines ---- */

static IRExpr *is_in_line(IRSB *out)
{
	IRExpr *flag = emit_load(out, &calls.here);

	return emit_kept(out, Ity_I1, IRExpr_Binop(Iop_CmpNE64, flag, emit_constant(0)));
}

void functions_watch_line(IRSB *out, const VexGuestLayout *layout, Addr a, Int line)
{
	IRTemp result = newIRTemp(out->tyenv, Ity_I64);
	IRExpr *sp = emit_sp(out, layout), *link = emit_link(out);

	addStmtToIRSB(
		out, IRStmt_Dirty(unsafeIRDirty_1_N(result, 0, "line",
			     VG_(fnptr_to_fnentry)((void *)on_line),
			     mkIRExprVec_5(emit_constant((ULong)line), emit_constant(a),
				     sp, emit_constant(line_function(a)), link))));
	leave_if(out, layout, IRExpr_RdTmp(result));
}

void functions_watch_elsewhere(IRSB *out, const VexGuestLayout *layout, Addr a)
{
	IRTemp result = newIRTemp(out->tyenv, Ity_I64);
	IRExpr *sp = emit_sp(out, layout), *link = emit_link(out),
	       *guard = is_in_line(out);
	IRDirty *d = unsafeIRDirty_1_N(result, 0, "no line",
		VG_(fnptr_to_fnentry)((void *)on_elsewhere),
		mkIRExprVec_4(
			emit_constant(a), sp, emit_constant(line_function(a)), link));

	d->guard = guard;
	addStmtToIRSB(out, IRStmt_Dirty(d));
	leave_if(out, layout,
		emit_kept(out, Ity_I64,
			IRExpr_ITE(guard, IRExpr_RdTmp(result), emit_constant(0))));
}

void functions_watch_line_call(IRSB *out, const VexGuestLayout *layout, Addr back)
{
	addStmtToIRSB(
		out, IRStmt_Dirty(unsafeIRDirty_0_N(0, "line calls",
			     VG_(fnptr_to_fnentry)((void *)on_line_call),
			     mkIRExprVec_2(emit_sp(out, layout), emit_constant(back)))));
}

void functions_watch_line_return(IRSB *out, const VexGuestLayout *layout)
{
	IRTemp result = newIRTemp(out->tyenv, Ity_I64);

	addStmtToIRSB(out, IRStmt_Dirty(unsafeIRDirty_1_N(result, 0, "line returns",
				   VG_(fnptr_to_fnentry)((void *)on_line_return),
				   mkIRExprVec_2(emit_sp(out, layout), out->next))));
	leave_if(out, layout, IRExpr_RdTmp(result));
}
