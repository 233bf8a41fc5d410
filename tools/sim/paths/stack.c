/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The shadow stack of each thread: the calls that have not returned, by the stack pointer
 * at their first instruction.  A call is over when the stack pointer is above that, by a
 * return, longjmp or the unwinding of an exception.
 *
 * A function that begins without a call was jumped to.  From a stub of the PLT: it is
 * what was called.  From another function, as its last call: that is its caller, and both
 * are over together.  From far below everything else: it is a signal's handler, and who
 * was interrupted is its caller.
 */
#include "emit.h"
#include "paths/counts.h"
#include "paths/tree.h"
#include "bounds.h"

#define NEAR (64 << 10) /* so far apart it is one stack */
#define MAX_SIGNALS 16

struct frame {
	Addr sp, ret; /* ret: where it returns to, where that is not on the stack */
	Addr function;
	UInt node;
};

/* A handler on a stack of its own: what is below is not looked at. */
struct barrier {
	UInt base;
	Addr sp;
};

struct stack {
	struct frame *frames;
	UInt depth, room;
	UInt root;
	struct barrier barriers[MAX_SIGNALS];
	UInt nbarriers;
};

/* All threads' stacks; the rest is the running thread's. */
static struct {
	struct stack *stacks; /* by ThreadId */
	struct stack *current;
	const struct core *core;     /* the running thread's */
	struct cp_profile_path *out; /* the node whose counts are growing */
	UInt node;                   /* its number */
	/* Read by generated code. */
	Addr limit; /* the stack pointer above which a call is over */
	Addr here;  /* the innermost call's function */
} paths = {.limit = ~0ul};

/* ---- where the thread is ---- */

static UInt base_of(const struct stack *s)
{
	return s->nbarriers ? s->barriers[s->nbarriers - 1].base : 0;
}

static struct frame *top_of(const struct stack *s)
{
	return s->depth > base_of(s) ? &s->frames[s->depth - 1] : NULL;
}

static UInt node_of(const struct stack *s)
{
	return s->depth ? s->frames[s->depth - 1].node : s->root;
}

/* A call that is over leaves the stack pointer above this. */
static Addr limit_of(const struct frame *top)
{
#if defined(VGA_amd64)
	return top->sp;
#else
	return top->sp - 1; /* a return leaves it as it was */
#endif
}

static void set_limit(const struct stack *s)
{
	const struct frame *top = top_of(s);

	paths.here = s->depth ? s->frames[s->depth - 1].function : 0;
	paths.limit = top ? limit_of(top) : ~0ul;
	if (s->nbarriers)
		paths.limit = 0; /* it may be left by a jump */
}

/* Where time is simulated, it is known only when everything is collected. */
static void settle_counts(void)
{
	if (tool_options.timing)
		threads_collect((ThreadId)(paths.current - paths.stacks));
	else
		counts_settle(paths.out, paths.core);
}

static inline void go_to(UInt node)
{
	if (node == paths.node)
		return;
	settle_counts();
	paths.node = node;
	paths.out = tree_node(node);
}

static void settle_on(struct stack *s)
{
	if (s != paths.current)
		return;
	set_limit(s);
	go_to(node_of(s));
}

/* ---- calls ---- */

static Bool is_over(const struct frame *f, Addr sp, Addr next)
{
	return f->sp < sp || (f->sp == sp && f->ret && f->ret == next);
}

/* Where a call has put what it returns to on the stack, nothing else can be there. */
static Bool is_stale(const struct frame *f, Addr sp)
{
#if defined(VGA_amd64)
	return f->sp <= sp;
#else
	return f->sp < sp;
#endif
}

static Bool same_stack(Addr a, Addr b)
{
	return (a < b ? b - a : a - b) < NEAR || bounds_same(a, b);
}

/* A handler on a stack of its own may have been left by a jump. */
static void drop_barriers(struct stack *s, Addr sp)
{
	while (s->nbarriers) {
		const struct barrier *b = &s->barriers[s->nbarriers - 1];

		if (sp <= b->sp || !same_stack(sp, b->sp))
			return;
		s->depth = b->base;
		s->nbarriers--;
	}
}

static __attribute__((noinline)) void make_room(struct stack *s)
{
	s->room = s->room ? 2 * s->room : 64;
	s->frames =
		VG_(realloc)("cachepeek.frames", s->frames, s->room * sizeof(*s->frames));
}

static inline void add_frame(struct stack *s, struct frame f)
{
	if (s->depth == s->room)
		make_room(s);
	s->frames[s->depth++] = f;
}

static void push_frame(struct stack *s, Addr sp, Addr function, Addr ret)
{
	UInt node = tree_call(node_of(s), function);

	add_frame(s, (struct frame){sp, ret, function, node});
	settle_on(s);
}

/* For most calls and returns: there is no handler on a stack of its own. */
static inline void settle_simply(struct stack *s, UInt depth)
{
	const struct frame *top = depth ? &s->frames[depth - 1] : NULL;

	s->depth = depth;
	paths.here = top ? top->function : 0;
	paths.limit = top ? limit_of(top) : ~0ul;
	go_to(top ? top->node : s->root);
}

static void on_call(Addr sp, Addr target, Addr ret)
{
	struct stack *s = paths.current;
	UInt depth, base, caller;

	if (!s)
		return;
	if (s->nbarriers)
		drop_barriers(s, sp);
	base = base_of(s);
	for (depth = s->depth; depth > base; depth--)
		if (!is_stale(&s->frames[depth - 1], sp))
			break;
#if defined(VGA_amd64)
	ret = 0;
#endif
	caller = depth ? s->frames[depth - 1].node : s->root;
	s->depth = depth;
	add_frame(s, (struct frame){sp, ret, target, tree_call(caller, target)});
	if (s->nbarriers)
		settle_on(s);
	else
		settle_simply(s, depth + 1);
}

static void on_leave(Addr sp, Addr next)
{
	struct stack *s = paths.current;
	UInt depth, base;

	if (!s)
		return;
	if (s->nbarriers)
		drop_barriers(s, sp);
	base = base_of(s);
	for (depth = s->depth; depth > base; depth--)
		if (!is_over(&s->frames[depth - 1], sp, next))
			break;
	s->depth = depth;
	if (s->nbarriers)
		settle_on(s);
	else
		settle_simply(s, depth);
}

/* Has it come back to a function that had jumped elsewhere? */
static Bool goes_on(struct stack *s, Addr function, Addr sp)
{
	for (UInt i = s->depth; i-- > base_of(s) && s->frames[i].sp == sp;)
		if (s->frames[i].function == function) {
			s->depth = i + 1;
			tree_node(s->frames[i].node)->calls++;
			settle_on(s);
			return True;
		}
	return False;
}

/* At a function's first instruction, which is not the one that was called. */
static void on_begin(Addr function, Addr sp, Addr ret)
{
	struct stack *s = paths.current;
	const struct frame *top;

	if (!s)
		return;
	drop_barriers(s, sp);
	while ((top = top_of(s)) && top->sp < sp)
		s->depth--;
	if (goes_on(s, function, sp))
		return;
	if (top && top->sp == sp && tree_is_passage(top->node))
		s->depth--;
	push_frame(s, sp, function, ret);
}

/* ---- signals ---- */

void paths_signal_begins(ThreadId tid, Bool on_another_stack)
{
	struct stack *s = tool_options.paths ? &paths.stacks[tid] : NULL;

	if (!s || !on_another_stack || s->nbarriers == MAX_SIGNALS)
		return;
	s->barriers[s->nbarriers].base = s->depth;
	s->barriers[s->nbarriers++].sp = VG_(get_SP)(tid);
	settle_on(s);
}

void paths_signal_is_over(ThreadId tid)
{
	struct stack *s = tool_options.paths ? &paths.stacks[tid] : NULL;
	Addr sp = VG_(get_SP)(tid);

	if (!s)
		return;
	drop_barriers(s, sp + 1);
	while (s->depth > base_of(s) && s->frames[s->depth - 1].sp < sp)
		s->depth--; /* what returns from handlers, if that has a symbol */
	settle_on(s);
}

/* ---- threads ---- */

void paths_thread_begin(ThreadId tid, UInt thread)
{
	if (!tool_options.paths)
		return;
	paths.stacks[tid].depth = paths.stacks[tid].nbarriers = 0;
	paths.stacks[tid].root = tree_root(thread);
}

void paths_use(ThreadId tid, const struct core *its_core)
{
	if (!tool_options.paths)
		return;
	if (paths.current)
		settle_counts();
	paths.current = NULL;
	paths.limit = ~0ul;
	if (tid == VG_INVALID_THREADID)
		return;
	paths.current = &paths.stacks[tid];
	paths.core = its_core;
	counts_use(paths.core);
	paths.node = node_of(paths.current);
	paths.out = tree_node(paths.node);
	set_limit(paths.current);
}

/* Where what the thread's core has counted belongs. */
static struct cp_profile_path *counted_on(ThreadId tid)
{
	const struct stack *s = &paths.stacks[tid];

	return tree_node(s == paths.current ? paths.node : node_of(s));
}

void paths_before_collect(ThreadId tid, const struct core *its_core)
{
	if (tool_options.paths)
		counts_settle_all(counted_on(tid), its_core);
}

void paths_after_collect(ThreadId tid, const struct core *its_core)
{
	if (tool_options.paths)
		counts_collected(counted_on(tid), its_core);
}

void paths_unmapped(Addr a, SizeT len, Bool had_functions)
{
	if (!tool_options.paths)
		return;
	code_unmapped(a, len);
	if (had_functions)
		tree_forget(a, len);
}

void paths_fork_child(ThreadId tid, UInt thread)
{
	struct stack *s = &paths.stacks[tid];
	UInt node;

	if (!tool_options.paths)
		return;
	paths.current = NULL;
	counts_forget();
	tree_fork_child();
	node = s->root = tree_root(thread);
	for (UInt i = 0; i < s->depth; i++)
		node = s->frames[i].node = tree_child(node, s->frames[i].function);
}

void paths_start(const struct front *front)
{
	if (!tool_options.paths)
		return;
	paths.stacks =
		VG_(calloc)("cachepeek.stacks", most_threads(), sizeof(*paths.stacks));
	counts_start(front);
	/* Blocks that go on behind a jump would have functions in their midst. */
	VG_(clo_vex_control).guest_chase = False;
}

/* ---- generated code ---- */

static void emit_call(
	IRSB *out, const HChar *what, void *helper, IRExpr **args, IRExpr *guard)
{
	IRDirty *d = unsafeIRDirty_0_N(0, what, VG_(fnptr_to_fnentry)(helper), args);

	if (guard)
		d->guard = emit_kept(out, Ity_I1, guard);
	addStmtToIRSB(out, IRStmt_Dirty(d));
}

void paths_watch_begin(IRSB *out, const VexGuestLayout *layout, Addr a)
{
	IRExpr *sp;

	if (!code_begins_at(a))
		return;
	sp = emit_sp(out, layout);
	emit_call(out, "path: a function begins", (void *)on_begin,
		mkIRExprVec_3(emit_constant(a), sp, emit_link(out)),
		IRExpr_Binop(Iop_CmpNE64, emit_load(out, &paths.here), emit_constant(a)));
}

/* Code of the library's own calls what is no path, but returns to what is. */
void paths_watch_end(IRSB *out, const VexGuestLayout *layout, Addr end, Bool counted)
{
	IRExpr *sp;

	if (out->jumpkind == Ijk_Call) {
		if (counted)
			emit_call(out, "path: a call", (void *)on_call,
				mkIRExprVec_3(emit_sp(out, layout), out->next,
					emit_constant(end)),
				NULL);
		return;
	}
	if (out->next->tag == Iex_Const)
		return;
	sp = emit_sp(out, layout);
	emit_call(out, "path: a return", (void *)on_leave, mkIRExprVec_2(sp, out->next),
		IRExpr_Binop(Iop_CmpLT64U, emit_load(out, &paths.limit), sp));
}
