/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Takes turns.  The core runs one thread at a time, and which one comes next is up to the
 * kernel: to who comes first to the core's lock.  From a second thread on the turns are
 * taken here, in front of that lock, by the threads' numbers: whoever follows the one
 * that had it last, of those that want to run.
 *
 * Who wants to run must not hang on how fast the kernel wakes somebody.  So the next turn
 * is not given before each thread either waits for one or sleeps in the kernel; one that
 * has just been woken does neither, and is waited for.  Then it is only the program that
 * decides, as long as it is the program's threads that wake each other: time and other
 * processes do so when they like, and such waits are named (calls.c).
 *
 * The kernel tells in files of /proc who sleeps.  A helper reads them, a thread of ours
 * that neither the program nor the core knows: it has descriptors of its own, so that the
 * program's have the numbers that they would have.
 */
#include "pin/pin.h"

#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>

#include "base/syscall.h"
#include "valgrind/core.h"
#include "valgrind/guest.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"

#if defined(VGA_amd64)
#define CLONE do_syscall_clone_amd64_linux
#else
#define CLONE do_syscall_clone_arm64_linux
#endif

/* The core's. */
struct sched_lock;
struct sched_lock *__real_vgModuleLocal_create_sched_lock(void);
struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void);
void __real_vgModuleLocal_acquire_sched_lock(struct sched_lock *);
void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *);
void __real_vgModuleLocal_release_sched_lock(struct sched_lock *);
void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *);
void __real_vgPlain_acquire_BigLock(ThreadId, const HChar *);

void __wrap_vgPlain_acquire_BigLock(ThreadId, const HChar *);
long CLONE(Word (*)(void *), void *stack, Int flags, void *arg, Int *child, Int *parent,
	void *tls);

enum { AWAY, WAITS, RUNS };

struct turn {
	Int lwp; /* the kernel's number of the thread; 0: there was none yet */
	Int what;
	Bool keeps; /* its turn, during a call of the library's */
};

/* The order in which threads run. */
static struct {
	struct turn *turns; /* by ThreadId; the first is nobody's */
	Bool active;
	Int guard;  /* of all that follows */
	Bool taken; /* a thread runs, or is being chosen */
	ThreadId last;
	struct {
		Int number; /* as /proc has it */
		Int wanted; /* a turn is to be given */
		UChar *stack;
	} helper;
	/* The core counts superblocks down from the beginning of a turn, each at its
	 * entry.  How many the library executes hangs on what its files are called, so
	 * they are given back; but not the first, because the core asks that something
	 * was executed. */
	UInt begin;
} order;

enum { STACK = 65536 };

/* ---- waiting ---- */

static void wait_while(Int *word, Int value)
{
	cp_syscall(SYS_futex, word, (long)FUTEX_WAIT_PRIVATE, (long)value, NULL);
}

static void wake_waiters(Int *word)
{
	cp_syscall(SYS_futex, word, (long)FUTEX_WAKE_PRIVATE, 1L);
}

static void set_word(Int *word, Int value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static Int read_word(const Int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void enter_guard(void)
{
	while (__atomic_exchange_n(&order.guard, 1, __ATOMIC_SEQ_CST))
		cp_syscall(SYS_sched_yield);
}

static void leave_guard(void)
{
	set_word(&order.guard, 0);
}

/* ---- who sleeps? ---- */

static Bool waits_for_turn(Int lwp)
{
	Bool waits = False;

	enter_guard();
	for (UInt i = 1; i < VG_N_THREADS && !waits; i++)
		waits = order.turns[i].lwp == lwp && order.turns[i].what == WAITS;
	leave_guard();
	return waits;
}

/* Returns the state, which stands behind the name; the name may have anything in
 * it. */
static HChar state_in(const HChar *text, long length)
{
	while (length > 2 && text[length - 1] != ')')
		length--;
	return length > 2 ? text[length + 1] : 'R';
}

/* A thread that is gone is at rest, too. */
static Bool is_asleep(Int directory, const HChar *name)
{
	HChar path[32], text[256];
	long fd, length;
	HChar state;

	VG_(snprintf)(path, sizeof(path), "%s/stat", name);
	fd = cp_syscall(SYS_openat, directory, path, (long)VKI_O_RDONLY);
	if (fd < 0)
		return True;
	length = cp_syscall(SYS_read, fd, text, sizeof(text) - 2);
	cp_syscall(SYS_close, fd);
	if (length <= 0)
		return True;
	text[length] = text[length + 1] = '\0';
	state = state_in(text, length);
	return state != 'R' && state != 'D';
}

static Bool is_at_rest(Int directory, const HChar *name)
{
	Int number = (Int)VG_(strtoll10)(name, NULL);

	return number == 0 || number == order.helper.number || waits_for_turn(number) ||
	       is_asleep(directory, name);
}

/* struct linux_dirent64 */
struct name {
	ULong inode, next;
	UShort size;
	UChar type;
	HChar text[1];
};

static Bool all_rest(Int directory)
{
	static UChar __attribute__((aligned(8))) names[8192];
	long size;

	cp_syscall(SYS_lseek, directory, 0L, 0L);
	while ((size = cp_syscall(SYS_getdents64, directory, names, sizeof(names))) > 0)
		for (long at = 0; at < size; at += ((struct name *)(names + at))->size)
			if (!is_at_rest(directory, ((struct name *)(names + at))->text))
				return False;
	return True;
}

enum { QUICK = 100, SLOW = 100000, PAUSE = 50000 /* ns */ };

/* Looks twice: a thread that was asleep when it was looked at may have been woken by
 * one that was not yet.  A thread that never sleeps again because the kernel holds it for
 * five seconds or more is not waited for. */
static void wait_until_rest(Int directory)
{
	static const struct vki_timespec pause = {0, PAUSE};
	UInt found = 0;

	for (UInt i = 0; directory >= 0 && i < QUICK + SLOW && found < 2; i++) {
		found = all_rest(directory) ? found + 1 : 0;
		if (!found && i < QUICK)
			cp_syscall(SYS_sched_yield);
		else if (!found)
			cp_syscall(SYS_nanosleep, &pause, NULL);
	}
	if (found < 2)
		pin.seen |= 1ul << CP_UNPINNED_TURNS;
}

/* ---- the helper ---- */

static ThreadId next_thread(void)
{
	for (ThreadId i = 1; i <= VG_N_THREADS; i++) {
		ThreadId tid = (order.last + i) % VG_N_THREADS;

		if (order.turns[tid].what == WAITS)
			return tid;
	}
	return VG_INVALID_THREADID;
}

static void give_turn(Int directory)
{
	ThreadId next;

	wait_until_rest(directory);
	enter_guard();
	next = next_thread();
	order.last = next;
	set_word(&order.turns[next].what, RUNS);
	leave_guard();
	wake_waiters(&order.turns[next].what);
}

/* The limit of the program's descriptors; the core's own are above it. */
enum { RESERVED = 64 };

/* Copies of the program's descriptors would keep its pipes open. */
static Int own_descriptors(void)
{
	if (cp_syscall(SYS_close_range, 0L, ~0L, 0L) < 0)
		for (Int fd = 0; fd < VG_(fd_hard_limit) + RESERVED; fd++)
			cp_syscall(SYS_close, fd);
	return (Int)cp_syscall(
		SYS_openat, (long)AT_FDCWD, "/proc/self/task", (long)VKI_O_RDONLY);
}

/* The number that files of /proc have for this thread.  They are another PID namespace's
 * where a program has one of its own and /proc was not mounted again. */
static Int number_in_proc(void)
{
	HChar link[64], *number;
	long length = cp_syscall(SYS_readlinkat, (long)AT_FDCWD, "/proc/thread-self",
		link, sizeof(link) - 1);

	if (length <= 0)
		return 0;
	link[length] = '\0';
	number = VG_(strrchr)(link, '/');
	return number ? (Int)VG_(strtoll10)(number + 1, NULL) : 0;
}

static Word run_helper(void *unused)
{
	Int directory = own_descriptors();

	(void)unused;
	set_word(&order.helper.number, number_in_proc());
	for (;;) {
		while (!read_word(&order.helper.wanted))
			wait_while(&order.helper.wanted, 0);
		set_word(&order.helper.wanted, 0);
		give_turn(directory);
	}
	return 0;
}

static Bool start_helper(void)
{
	const Int flags =
		CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	vki_sigset_t all, before;
	long result;

	if (!order.helper.stack)
		order.helper.stack = VG_(malloc)("pin", STACK);
	order.helper.number = order.helper.wanted = 0;
	VG_(memset)(&all, 0xff, sizeof(all));
	VG_(sigprocmask)(VKI_SIG_SETMASK, &all, &before);
	result = CLONE(
		run_helper, order.helper.stack + STACK, flags, NULL, NULL, NULL, NULL);
	VG_(sigprocmask)(VKI_SIG_SETMASK, &before, NULL);
	return result > 0;
}

/* ---- turns ---- */

static ThreadId own_thread(void)
{
	Int lwp = (Int)cp_syscall(SYS_gettid);

	for (ThreadId i = 1; i < VG_N_THREADS; i++)
		if (order.turns[i].lwp == lwp)
			return i;
	return VG_INVALID_THREADID;
}

static void ask_helper(void)
{
	set_word(&order.helper.wanted, 1);
	wake_waiters(&order.helper.wanted);
}

static void take_turn(ThreadId me)
{
	Bool ask;

	if (read_word(&order.turns[me].what) == RUNS)
		return;
	enter_guard();
	ask = !order.taken;
	order.taken = True;
	set_word(&order.turns[me].what, WAITS);
	leave_guard();
	if (ask)
		ask_helper();
	while (read_word(&order.turns[me].what) != RUNS)
		wait_while(&order.turns[me].what, WAITS);
}

static void end_turn(ThreadId me)
{
	Bool ask;

	if (order.turns[me].keeps)
		return;
	enter_guard();
	set_word(&order.turns[me].what, AWAY);
	ask = order.taken = next_thread() != VG_INVALID_THREADID;
	leave_guard();
	if (ask)
		ask_helper();
}

/* The first time that there are two threads; this one has the lock. */
void pin_turn_thread(ThreadId by)
{
	if (order.active || !pin.wanted)
		return;
	if (!order.turns)
		order.turns = VG_(calloc)("pin", most_threads(), sizeof(*order.turns));
	VG_(memset)(order.turns, 0, most_threads() * sizeof(*order.turns));
	order.turns[by] = (struct turn){(Int)cp_syscall(SYS_gettid), RUNS, False};
	order.last = by;
	order.taken = True;
	order.guard = 0;
	order.active = start_helper();
	if (!order.active)
		pin.seen |= 1ul << CP_UNPINNED_TURNS;
}

void pin_turn_pause(IRSB *out)
{
	const Int counter = offsetof(guest_state, host_EvC_COUNTER);
	IRTemp left = newIRTemp(out->tyenv, Ity_I32),
	       more = newIRTemp(out->tyenv, Ity_I32),
	       begin = newIRTemp(out->tyenv, Ity_I32),
	       less = newIRTemp(out->tyenv, Ity_I1), one = newIRTemp(out->tyenv, Ity_I32),
	       sum = newIRTemp(out->tyenv, Ity_I32);
	const struct {
		IRTemp temp;
		IRExpr *is;
	} steps[] = {
		{left, IRExpr_Get(counter, Ity_I32)},
		{begin, IRExpr_Load(
				Iend_LE, Ity_I32, mkIRExpr_HWord((HWord)&order.begin))},
		{more, IRExpr_Binop(Iop_Add32, IRExpr_RdTmp(left),
			       IRExpr_Const(IRConst_U32(1)))},
		{less, IRExpr_Binop(
			       Iop_CmpLT32S, IRExpr_RdTmp(more), IRExpr_RdTmp(begin))},
		/* Not every back end of VEX's makes a word of a bit. */
		{one, IRExpr_ITE(IRExpr_RdTmp(less), IRExpr_Const(IRConst_U32(1)),
			      IRExpr_Const(IRConst_U32(0)))},
		{sum, IRExpr_Binop(Iop_Add32, IRExpr_RdTmp(left), IRExpr_RdTmp(one))},
	};

	if (!pin.wanted)
		return;
	for (UInt i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		addStmtToIRSB(out, IRStmt_WrTmp(steps[i].temp, steps[i].is));
	addStmtToIRSB(out, IRStmt_Put(counter, IRExpr_RdTmp(sum)));
}

void pin_turn_goes_on(const volatile void *state)
{
	order.begin = ((const volatile guest_state *)state)->host_EvC_COUNTER;
}

/* The library's reads and writes, and their number, depend on the names of its
 * files. */
void pin_turn_keep(ThreadId tid, Bool keeps)
{
	if (order.active)
		order.turns[tid].keeps = keeps;
}

Bool pin_turns(void)
{
	return order.active;
}

/* ---- turns that are given away ---- */

/* The core's lock is a pipe with a byte in it: who gives it back and wants it again has
 * it again, mostly, before another one that waits for it has woken. */
static struct {
	Int waiting, resting; /* for the lock; for another one to have it */
	Int taken;            /* how often; a futex */
} lock_state;

enum { REST_NS = 10000000 };

struct pin_spin pin_spin;

void pin_turn_begins(void)
{
	pin_spin.given = pin_spin.pauses = 0;
}

static void acquire(struct sched_lock *lock)
{
	__atomic_add_fetch(&lock_state.waiting, 1, __ATOMIC_SEQ_CST);
	__real_vgModuleLocal_acquire_sched_lock(lock);
	__atomic_sub_fetch(&lock_state.waiting, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&lock_state.taken, 1, __ATOMIC_SEQ_CST);
	pin_rounds_begin();
	if (__atomic_load_n(&lock_state.resting, __ATOMIC_SEQ_CST))
		cp_syscall(SYS_futex, &lock_state.taken, FUTEX_WAKE_PRIVATE, ~0u >> 1);
}

static void give_away(struct sched_lock *lock)
{
	static const UWord longest[2] = {0, REST_NS};
	Int taken = lock_state.taken;

	__atomic_add_fetch(&lock_state.resting, 1, __ATOMIC_SEQ_CST);
	__real_vgModuleLocal_release_sched_lock(lock);
	cp_syscall(SYS_futex, &lock_state.taken, FUTEX_WAIT_PRIVATE, taken, longest);
	__atomic_sub_fetch(&lock_state.resting, 1, __ATOMIC_SEQ_CST);
}

/* A thread that rests has been woken, and is about to want it. */
static Bool somebody_wants_it(void)
{
	return __atomic_load_n(&lock_state.waiting, __ATOMIC_SEQ_CST) > 0 ||
	       __atomic_load_n(&lock_state.resting, __ATOMIC_SEQ_CST) > 0;
}

Bool pin_turn_is_wanted(void)
{
	return order.active || somebody_wants_it();
}

static void release(struct sched_lock *lock)
{
	Bool gives = pin_spin.given && somebody_wants_it();

	pin_spin.given = 0;
	if (gives)
		give_away(lock);
	else
		__real_vgModuleLocal_release_sched_lock(lock);
}

/* ---- in the place of the core's ---- */

/* A new process has one thread. */
struct sched_lock *__wrap_vgModuleLocal_create_sched_lock(void)
{
	VG_(memset)(&lock_state, 0, sizeof(lock_state));
	order.active = False;
	return __real_vgModuleLocal_create_sched_lock();
}

/* The kernel gives the number of a thread that is gone to another one. */
static void note_thread(ThreadId tid, Int lwp)
{
	for (ThreadId i = 1; i < VG_N_THREADS; i++)
		if (order.turns[i].lwp == lwp && i != tid)
			order.turns[i].lwp = 0;
	set_word(&order.turns[tid].lwp, lwp);
}

void __wrap_vgPlain_acquire_BigLock(ThreadId tid, const HChar *who)
{
	if (order.active)
		note_thread(tid, (Int)cp_syscall(SYS_gettid));
	__real_vgPlain_acquire_BigLock(tid, who);
}

void __wrap_vgModuleLocal_acquire_sched_lock(struct sched_lock *lock)
{
	if (order.active)
		take_turn(own_thread());
	acquire(lock);
}

void __wrap_vgModuleLocal_release_sched_lock(struct sched_lock *lock)
{
	if (!order.active) {
		release(lock);
		return;
	}
	__real_vgModuleLocal_release_sched_lock(lock);
	end_turn(own_thread());
}
