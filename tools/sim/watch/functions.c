/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The shadow stack of each thread: calls of functions that are regions, by the stack
 * pointer at their first instruction.  A call is over when the stack pointer is above
 * that, by a return, longjmp or the unwinding of an exception; it lasts through tail
 * calls.  A jump from a function to its own beginning is no call.
 *
 * Calls on another stack (of a signal's handler, of a coroutine) say nothing about
 * those on this one: each stack has its own (strands.h).  Where a thread goes from one to
 * another its regions close, and those of the other open again.  What brings it there is
 * an instruction that gives the stack pointer another value (stack_writes.c), and then a
 * return or a jump; a call is a function that is called on another stack.
 */
#include "emit.h"
#include "watch/function_names.h"
#include "watch/functions.h"
#include "watch/moves.h"
#include "watch/strands.h"
#include "paths/paths.h"
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

#define RED_ZONE 256 /* more than any ABI's */
#define SLACK 256    /* a stack's first use may be so far below its beginning */

/* The stack pointer had another value, and where the thread goes on is not known yet. */
struct move {
	Bool is_on;
	Addr from, to;
};

struct thread_functions {
	struct strand *own, *at;
	struct move move;
	Addr resumed, resumed_sp; /* where it begins after its detour */
	Bool away;                /* on one */
	Bool begins;              /* for the sake of the innermost call */
	Bool tell;                /* that nothing is counted any more */
	UInt opens, again;        /* calls whose regions open again, and have by now */
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
	struct stack_now stack;
	Bool untold; /* nothing is counted any more */
} calls = {.limit = ~0ul};

Bool functions_wanted(void)
{
	return calls.wanted;
}

/* ---- stacks ---- */

static UInt base_of(const struct strand *s)
{
	return s->nbarriers ? s->barriers[s->nbarriers - 1].base : 0;
}

static struct call *innermost_of(const struct thread_functions *t)
{
	return t->at->depth ? &t->at->calls[t->at->depth - 1] : NULL;
}

static Bool is_here(const struct thread_functions *t)
{
	const struct call *call = innermost_of(t);

	return call && call->kind == HERE;
}

/* Above which something is to be looked at. */
static Addr limit_of(const struct thread_functions *t, UInt here)
{
	const struct strand *s = t->at;

	if (t->move.is_on || t->tell || s->nbarriers)
		return 0; /* it may be left by a jump */
	if (s->depth > here)
		return s->calls[s->depth - 1 - here].sp;
	return s->caller ? s->base : ~0ul;
}

static void set_limit(void)
{
	const struct thread_functions *t = calls.current;

	calls.limit = ~0ul;
	calls.here = t && is_here(t);
	calls.stack.top = t ? t->at->base : ~0ul;
	calls.stack.moves = t && t->move.is_on;
	if (!t)
		return;
	calls.limit = limit_of(t, (UInt)calls.here);
#if !defined(VGA_amd64)
	if (calls.limit && calls.limit != ~0ul)
		calls.limit--; /* a return leaves it as it was */
#endif
}

static Bool is_over(const struct call *call, Addr sp, Addr next)
{
	return call->sp < sp || (call->sp == sp && call->ret && call->ret == next);
}

/* How many calls of the innermost are over, where the stack pointer is sp. */
static UInt count_over(const struct strand *s, Addr sp, Addr next)
{
	UInt over = s->depth;

	for (UInt i = s->depth; i-- > base_of(s);) {
		const struct call *call = &s->calls[i];

		if (call->kind == HERE || !same_stack(call->sp, sp))
			continue;
		if (!is_over(call, sp, next))
			break;
		over = i;
	}
	return s->depth - over;
}

/* A handler on a stack of its own may have been left by a jump: how many calls are
 * over with it. */
static UInt drop_barriers(struct strand *s, Addr sp)
{
	UInt base = s->depth;

	while (s->nbarriers) {
		const struct barrier *b = &s->barriers[s->nbarriers - 1];

		if (sp <= b->sp || !same_stack(sp, b->sp))
			break;
		base = b->base;
		s->nbarriers--;
	}
	return s->depth - base;
}

static UInt leave_calls(struct thread_functions *t, Addr sp, Addr next)
{
	UInt jumped = drop_barriers(t->at, sp), over = count_over(t->at, sp, next);

	return jumped > over ? jumped : over;
}

static void push_call(struct thread_functions *t, struct call call)
{
	strand_push(t->at, call);
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

Bool functions_done(ThreadId tid, UWord name, UWord *ret)
{
	struct thread_functions *t = calls.threads ? calls.threads[tid] : NULL;

	if (!t || !t->away)
		return False;
	t->away = False;
	if (t->begins && innermost_of(t))
		innermost_of(t)->name = name;
	t->begins = False;
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

static Bool is_looked_at(struct thread_functions *t, Addr sp)
{
	return t && (!calls.untold || t->tell) && !is_away(t, sp);
}

static UWord end_calls(struct thread_functions *t, UInt n, Addr sp, Addr back)
{
	t->at->depth -= n;
	set_limit();
	return take_detour(t, sp, back, 0, n);
}

static UWord begin_call(struct thread_functions *t, struct call call, Addr sp, Addr back)
{
	push_call(t, call);
	t->begins = True;
	return take_detour(t, sp, back, call.function, 0);
}

/* ---- from stack to stack ---- */

static Bool is_in(const struct strand *s, const struct strand *inner)
{
	while (inner && inner != s)
		inner = inner->caller;
	return inner != NULL;
}

/* Calls on another stack are over, or were left for good. */
static UWord go_back(struct thread_functions *t, struct strand *to, Addr sp, Addr back)
{
	UInt n = strand_all(t->at) - strand_all(to);

	strand_take(to);
	t->at = to;
	set_limit();
	return n ? take_detour(t, sp, back, 0, n) : 0;
}

static UWord go_to(struct thread_functions *t, struct strand *to, Addr sp, Addr back)
{
	UInt closed = strand_all(t->at);

	strand_take(to);
	strand_leave(t->at, t->move.from);
	t->at = to;
	t->opens = strand_all(to);
	t->again = 0;
	set_limit();
	return closed || t->opens ? take_detour(t, sp, back, CP_SIM_SWITCHED, closed) : 0;
}

static void call_on_stack(struct thread_functions *t)
{
	struct strand *called = strand_new(t->move.to + SLACK);

	called->caller = t->at;
	t->at->callee = called;
	strand_leave(t->at, t->move.from);
	t->at = called;
	set_limit();
}

static UWord end_move(struct thread_functions *t, Addr sp, Addr back, Bool is_call)
{
	struct strand *to;

	t->move.is_on = False;
	if (is_call) {
		call_on_stack(t);
		return 0;
	}
	to = strand_find(t->move.to);
	if (to && is_in(to, t->at))
		return go_back(t, to, sp, back);
	return go_to(t, to ? to : strand_new(t->move.to + SLACK), sp, back);
}

/* A function that was called on another stack returns from what has not called it. */
static Bool is_no_call(const struct strand *s, Addr sp)
{
	return s->caller && !s->depth && !s->nbarriers && sp > s->base;
}

static void take_call_back(struct thread_functions *t)
{
	struct strand *caller = t->at->caller;

	t->move = (struct move){True, caller->left, t->at->base - SLACK};
	strand_take(caller);
	t->at = caller;
}

static UWord tell_untold(struct thread_functions *t, Addr sp, Addr back)
{
	t->tell = False;
	set_limit();
	return take_detour(t, sp, back, CP_SIM_UNTOLD, 0);
}

/* Before anything else, wherever something may have happened on this stack: 1: on a
 * detour, 0: nothing has. */
static UWord look_around(struct thread_functions *t, Addr sp, Addr back, Bool is_call)
{
	if (t->tell)
		return tell_untold(t, sp, back);
	if (!t->move.is_on && is_no_call(t->at, sp))
		take_call_back(t);
	return t->move.is_on ? end_move(t, sp, back, is_call) : 0;
}

static void on_stack_pointer(Addr from, Addr to, UWord source)
{
	struct thread_functions *t = calls.current;

	if (!t || t->away || calls.untold)
		return;
	if (t->move.is_on) {
		t->move.to = to;
		t->move.is_on = to - t->move.from > 2 * STACK_DELAY;
		set_limit();
		return;
	}
	switch (move_look(t->at, from, to, (enum stack_source)source)) {
	case MOVE_STAYS:
		return;
	case MOVE_UNTOLD:
		calls.untold = t->tell = True;
		break;
	case MOVE_LEAVES:
		t->move = (struct move){True, from - STACK_DELAY, to};
	}
	set_limit();
}

UWord functions_again(ThreadId tid)
{
	struct thread_functions *t = calls.threads ? calls.threads[tid] : NULL;
	UWord name;

	if (!t || t->again >= t->opens)
		return 0;
	name = strand_nth(t->at, t->again++)->name;
	return name ? name : 1;
}

/* Where the calls begin that have this stack pointer, too: of one function that has
 * jumped to others until it is the first's turn again. */
static UInt find_jump(const struct thread_functions *t, Addr sp, UInt function)
{
	const struct strand *s = t->at;

	for (UInt i = s->depth; i-- > base_of(s) && s->calls[i].sp == sp;)
		if (s->calls[i].function == function)
			return i + 1;
	return 0;
}

static UWord on_entry(UWord function, Addr a, Addr sp, Addr link)
{
	struct thread_functions *t = calls.current;
	UInt n, jump;

	if (!is_looked_at(t, sp))
		return 0;
	if (look_around(t, sp, a, False))
		return 1;
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
	if (jump && (jump == t->at->depth || (jump + 1 == t->at->depth && is_here(t)))) {
		t->resumed = 0;
		return 0;
	}
	if (jump)
		return end_calls(t, t->at->depth - jump, sp, a);
	return begin_call(t,
		(struct call){.sp = sp, .ret = link, .function = (UInt)function}, sp, a);
}

/* A line that has what it called back, of n calls that are over, is where it was: it is
 * the outermost of them.  Returns how many remain. */
static UInt resume_line(struct thread_functions *t, UInt n, Addr next)
{
	struct call *call = n ? &t->at->calls[t->at->depth - n] : NULL;

	if (!n || call->kind != CALLS || call->ret != next)
		return n;
	call->kind = HERE;
	set_limit();
	return n - 1;
}

static UWord on_return(Addr sp, Addr next, UWord is_call)
{
	struct thread_functions *t = calls.current;
	UInt n;

	if (!is_looked_at(t, sp))
		return 0;
	if (look_around(t, sp, next, is_call != 0))
		return 1;
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
	struct call *line = innermost_of(t);

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

	if (!is_looked_at(t, sp))
		return 0;
	if (look_around(t, sp, a, False))
		return 1;
	n = resume_line(t, leave_calls(t, sp, a), a);
	if (n)
		return end_calls(t, n, sp, a);
	if (is_here(t)) {
		top = innermost_of(t);
		if (is_tail_call(top, begin)) {
			jump_from_line(t, sp, link);
		} else if (top->function == number) {
			return 0;
		} else {
			return end_calls(t, 1, sp, a);
		}
	}
	return begin_call(t, (struct call){sp, 0, (UInt)number, HERE, begin, 0}, sp, a);
}

static UWord on_elsewhere(Addr a, Addr sp, Addr begin, Addr link)
{
	struct thread_functions *t = calls.current;

	if (!is_looked_at(t, sp) || !is_here(t))
		return 0;
	if (!is_tail_call(innermost_of(t), begin))
		return end_calls(t, 1, sp, a);
	jump_from_line(t, sp, link);
	return 0;
}

static void on_line_call(Addr sp, Addr back)
{
	struct thread_functions *t = calls.current;
	struct call *line;

	if (!is_looked_at(t, sp) || !is_here(t))
		return;
	line = innermost_of(t);
	line->kind = CALLS;
	line->sp = sp;
	line->ret = back;
	set_limit();
}

static UWord on_line_return(Addr sp, Addr next)
{
	struct thread_functions *t = calls.current;
	UInt n;

	if (!is_looked_at(t, sp))
		return 0;
	if (look_around(t, sp, next, False))
		return 1;
	n = leave_calls(t, sp, next);
	if (!n && is_here(t))
		n = 1;
	n = resume_line(t, n, next);
	return n ? end_calls(t, n, sp, next) : 0;
}

/* The stack pointer is back where it was when the handler has returned. */
static void interrupt_line(struct thread_functions *t, Addr sp)
{
	struct call *line = innermost_of(t);

	if (!is_here(t))
		return;
	line->kind = SIGNAL;
	line->sp = sp - 1;
	line->ret = 0;
}

static void continue_line(struct thread_functions *t, Addr sp)
{
	struct call *line = innermost_of(t);

	if (line && line->kind == SIGNAL && line->sp == sp - 1)
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
	if (alternative)
		strand_add_barrier(t->at, VG_(get_SP)(tid));
	set_limit();
}

static void after_signal(ThreadId tid, Int signal)
{
	struct thread_functions *t = calls.threads ? calls.threads[tid] : NULL;

	(void)signal;
	paths_signal_is_over(tid);
	if (!t)
		return;
	(void)drop_barriers(t->at, VG_(get_SP)(tid) + 1);
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
	if (t->own)
		strand_drop_thread(t->own, t->at);
	t->own = t->at = strand_new(~0ul);
	t->move.is_on = t->away = t->begins = t->tell = False;
	t->resumed = 0;
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
		VG_(calloc)("cachepeek.threads", most_threads(), sizeof(*calls.threads));
	calls.detour = to;
	strands_start();
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

/* makecontext(3): it says what its stack is. */
static void on_context(Addr context)
{
	struct context {
		UWord flags, link, stack, stack_flags, size;
	} *c = (struct context *)context;

	if (VG_(am_is_valid_for_client)(context, sizeof(*c), VKI_PROT_READ))
		stack_made(c->stack, c->stack + c->size);
}

static void watch_context(IRSB *out)
{
	addStmtToIRSB(out, IRStmt_Dirty(unsafeIRDirty_0_N(0, "a context",
				   VG_(fnptr_to_fnentry)((void *)on_context),
				   mkIRExprVec_1(emit_register(out, ARGUMENT)))));
}

void functions_watch_entry(IRSB *out, const VexGuestLayout *layout, Addr a)
{
	IRTemp result = newIRTemp(out->tyenv, Ity_I64);
	Int function = function_at(a);
	IRExpr *link, *sp;

	if (makes_context_at(a))
		watch_context(out);
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
		VG_(fnptr_to_fnentry)((void *)on_return),
		mkIRExprVec_3(sp, out->next, emit_constant(out->jumpkind == Ijk_Call)));
	d->guard = above;
	addStmtToIRSB(out, IRStmt_Dirty(d));
	leave_if(out, layout,
		emit_kept(out, Ity_I64,
			IRExpr_ITE(above, IRExpr_RdTmp(result), emit_constant(0))));
}

static void on_call(Addr sp)
{
	if (is_looked_at(calls.current, sp) && calls.current->move.is_on)
		end_move(calls.current, sp, 0, True);
}

void functions_watch_call(IRSB *out, const VexGuestLayout *layout)
{
	IRDirty *d =
		unsafeIRDirty_0_N(0, "a call", VG_(fnptr_to_fnentry)((void *)on_call),
			mkIRExprVec_1(emit_sp(out, layout)));

	d->guard = emit_kept(out, Ity_I1,
		IRExpr_Binop(Iop_CmpNE64, emit_load(out, &calls.stack.moves),
			emit_constant(0)));
	addStmtToIRSB(out, IRStmt_Dirty(d));
}

void functions_watch_stack(
	const struct block *b, const IRSB *in, Int at, const VexGuestLayout *layout)
{
	stack_writes_watch(
		b, in, at, layout->offset_SP, &calls.stack, (void *)on_stack_pointer);
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
