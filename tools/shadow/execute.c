/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The shadow: from the fork to the end of its window.
 */
#include "tools/shadow/parts.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>

#define BLOCKS 20000       /* until it looks at the clock */
#define WAIT_SECONDS 10    /* for the program's next ticks */
#define AFTER_MATCH 200000 /* instructions in which the place is not to be met again */
#define STACK (1u << 20)
#define SYSCALL_LENGTH 2

/* run.S */
enum { CHAIN_SLOW = 0x10001, CHAIN_FAST, LOOK_UP, TURN_OVER, DIVERTED };
void shadow_run(UWord results[2], void *state, void *code, const UInt *mxcsr);
extern const UChar shadow_chain_slow[], shadow_chain_fast[], shadow_turn_over[];

struct cp_shadow_plan shadow_plan;
struct shadow_thread shadow_thread __attribute__((aligned(64)));

static struct {
	Bool begun;
	Int parent, thread;
	Bool matched[CP_SHADOW_NBOUNDS];
	ULong matched_at[CP_SHADOW_NBOUNDS]; /* instructions */
	ULong mask;
	Bool has_x87;
	/* What there was where that which is counted began; what is not the program's
	 * since then; and where that began. */
	struct cp_shadow_window before;
	ULong off[CP_SHADOW_NCOUNTERS], pause[CP_SHADOW_NCOUNTERS];
	UInt pauses;
} window;

static UChar stack[STACK] __attribute__((aligned(64)));
static UChar signal_stack[1u << 16] __attribute__((aligned(64)));

/* ---- the end ---- */

static void leave(void) __attribute__((noreturn));

static void leave(void)
{
	for (;;)
		cp_syscall(SYS_exit_group, 0L);
}

static void subtract(ULong *from, const ULong *what)
{
	for (UInt i = 0; i < CP_SHADOW_NCOUNTERS; i++)
		from[i] = from[i] > what[i] ? from[i] - what[i] : 0;
}

/* What the window has counted. */
static void store(struct cp_shadow_window *w)
{
	ULong *count = (ULong *)w->count, *unknown = (ULong *)w->unknown;

	machine_store(w);
	subtract(count, (const ULong *)window.before.count);
	subtract(unknown, (const ULong *)window.before.unknown);
	subtract(count, window.off);
	for (UInt i = 0; i < CP_SHADOW_NCOUNTERS; i++)
		if (unknown[i] > count[i])
			unknown[i] = count[i];
}

void shadow_finish(enum cp_shadow_end end, UInt detail, Addr where)
{
	struct cp_shadow_window *w = &shadow_plan.shared->window;

	if (!window.begun)
		leave();
	translate_end();
	if (!window.matched[CP_SHADOW_LAST])
		store(w);
	w->end = window.matched[CP_SHADOW_LAST] && end != CP_SHADOW_AMBIGUOUS
			 ? CP_SHADOW_MATCHED
			 : end;
	w->detail = detail;
	w->where = where;
	__atomic_store_n(&shadow_plan.shared->finished, 1, __ATOMIC_RELEASE);
	leave();
}

/* What comes now is counted; caches hold what there was until here. */
static void begin_count(void)
{
	machine_store(&window.before);
	VG_(memset)(window.off, 0, sizeof(window.off));
	misses_resume();
}

/* Of places nothing else is told of what caches held. */
static void end_count(void)
{
	struct cp_shadow_window *w = &shadow_plan.shared->window, all;

	store(w);
	all = *w;
	for (UInt i = 0; i < CP_SHADOW_NCOUNTERS; i++) {
		w->held[i] = window.before.unknown[i];
		all.unknown[i] += w->held[i];
	}
	misses_end(&all);
}

/* The place may be met again some time after. */
static Bool is_over(UInt bound)
{
	return window.matched[bound] &&
	       machine_instructions() > window.matched_at[bound] + AFTER_MATCH;
}

void shadow_passed(UWord bound)
{
	if (is_over((UInt)bound) ||
		(bound == CP_SHADOW_LAST && !window.matched[CP_SHADOW_FIRST]) ||
		!registers_are(&shadow_guest, &shadow_plan.shared->bound[bound]))
		return;
	if (window.matched[bound])
		shadow_finish(CP_SHADOW_AMBIGUOUS, (UInt)bound, shadow_guest.guest_RIP);
	if (bound == CP_SHADOW_FIRST) {
		begin_count();
		shadow_plan.shared->window.settling =
			window.before.count[CP_SHADOW_instructions];
	} else {
		end_count();
	}
	window.matched[bound] = True;
	window.matched_at[bound] = machine_instructions();
}

/* ---- before it begins ---- */

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)context;
	shadow_finish(CP_SHADOW_FAULT, (UInt)number, (Addr)info->si_addr);
}

/* It was not where the program was.  With what it has read, it need not have been. */
static void give_up(enum cp_shadow_end why, UInt detail)
{
	shadow_finish(calls_have_reread() ? CP_SHADOW_REREAD : why, detail,
		shadow_guest.guest_RIP);
}

/* Where nothing has looked at the clock. */
static void on_late(int number, siginfo_t *info, void *context)
{
	(void)info, (void)context;
	give_up(CP_SHADOW_LATE, (UInt)number);
}

/* As the kernel has it. */
struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	ULong flags;
	void (*restorer)(void);
	ULong mask;
};

static void catch_faults(void)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGXCPU};
	stack_t alternate = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};
	/* The handler does not return; SA_RESTORER */
	struct kernel_action action = {
		on_fault, SA_SIGINFO | SA_ONSTACK | 0x04000000, leave, ~0ul};
	ULong blocked = ~0ul;

	cp_syscall(SYS_sigaltstack, &alternate, NULL);
	for (UInt i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		action.handler = faults[i] == SIGXCPU ? on_late : on_fault;
		cp_syscall(SYS_rt_sigaction, faults[i], &action, NULL, sizeof(ULong));
		blocked &= ~(1ul << (faults[i] - 1));
	}
	cp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, NULL, sizeof(blocked));
}

/* It dies with the program, writes no core file, and cannot run for ever. */
static void bound_life(void)
{
	struct rlimit cpu = {shadow_plan.limit_ns / 1000000000 + 2,
		shadow_plan.limit_ns / 1000000000 + 3};

	cp_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	if (cp_syscall(SYS_getppid) != window.parent)
		leave();
	cp_syscall(SYS_prctl, PR_SET_DUMPABLE, 0L);
	cp_syscall(SYS_prctl, PR_SET_NAME, "cachepeek-shado");
	cp_syscall(SYS_setrlimit, RLIMIT_CPU, &cpu);
}

/* Whoever reads from a pipe, or waits for a lock, is not to wait for a shadow: it keeps
 * regular files, which it reads. */
static void close_files(void)
{
	struct stat status;

	for (UInt fd = 0; fd < 256; fd++)
		if (cp_syscall(SYS_fstat, fd, &status) == 0 && !S_ISREG(status.st_mode))
			cp_syscall(SYS_close, fd);
	cp_syscall(SYS_close_range, 256L, ~0u, 0L);
}

/* The program has gone on, and is soon at its next ticks. */
static void wait_for_bounds(void)
{
	struct cp_shadow_shared *shared = shadow_plan.shared;
	struct timespec most = {.tv_nsec = 100000000};

	for (UInt i = 0; i < WAIT_SECONDS * 10; i++) {
		UInt posted = __atomic_load_n(&shared->posted, __ATOMIC_ACQUIRE);

		if (posted == CP_SHADOW_NBOUNDS)
			return;
		cp_syscall(SYS_futex, &shared->posted, FUTEX_WAIT, posted, &most);
	}
	shadow_finish(CP_SHADOW_UNPOSTED, 0, 0);
}

/* ---- executing ---- */

static ULong cpu_ns(void)
{
	struct timespec now = {0, 0};

	cp_syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &now);
	return (ULong)now.tv_sec * 1000000000 + (ULong)now.tv_nsec;
}

static void look_at_limits(void)
{
	ULong limit = shadow_plan.shared->is_region ? shadow_plan.region_limit
						    : shadow_plan.limit;

	UInt passed = window.matched[CP_SHADOW_FIRST];

	if (is_over(CP_SHADOW_LAST))
		shadow_finish(CP_SHADOW_MATCHED, 0, 0);
	if (machine_instructions() > limit)
		give_up(CP_SHADOW_LIMIT, passed);
	if (cpu_ns() > shadow_plan.limit_ns)
		give_up(CP_SHADOW_LATE, passed);
}

static void begin_pause(void)
{
	if (window.pauses++)
		return;
	machine_count(window.pause);
	misses_pause();
}

static void end_pause(void)
{
	ULong now[CP_SHADOW_NCOUNTERS];

	if (!window.pauses || --window.pauses)
		return;
	machine_count(now);
	if (window.matched[CP_SHADOW_FIRST])
		misses_resume();
	subtract(now, window.pause);
	for (UInt i = 0; i < CP_SHADOW_NCOUNTERS; i++)
		window.off[i] += now[i];
}

static void take_word(enum cp_shadow_word word)
{
	switch (word) {
	case CP_SHADOW_BEGINS:
		shadow_plan.shared->window.measured = 1;
		begin_count();
		break;
	case CP_SHADOW_ENDS:
		shadow_finish(CP_SHADOW_REGION, 0, 0);
	case CP_SHADOW_CUT:
		shadow_finish(CP_SHADOW_CROSSED, 0, shadow_guest.guest_RIP);
	case CP_SHADOW_PAUSES:
		begin_pause();
		break;
	case CP_SHADOW_RESUMES:
		end_pause();
		break;
	case CP_SHADOW_SILENT:
		registers_silent();
		break;
	}
}

/* Did the library make it? */
static Bool is_word(void)
{
	return shadow_guest.guest_RAX == CP_SHADOW_CALL &&
	       own_code_at(shadow_guest.guest_RIP - SYSCALL_LENGTH);
}

static void make_call(void)
{
	if (is_word())
		take_word((enum cp_shadow_word)shadow_guest.guest_RDI);
	else if (!calls_make(&shadow_guest))
		shadow_finish(CP_SHADOW_SYSCALL, (UInt)shadow_guest.guest_RAX,
			shadow_guest.guest_RIP);
	registers_after_call();
}

static void look_for_bounds(void)
{
	if (!shadow_plan.shared->is_region)
		translate_look();
}

/* Code was changed by the program, or is to be read anew. */
static void forget_code(void)
{
	translate_forget_all();
	look_for_bounds();
}

static void go_on_after(UWord why)
{
	switch (why) {
	case LOOK_UP:
	case DIVERTED:
	case VEX_TRC_JMP_BORING:
	case VEX_TRC_JMP_YIELD:
	case VEX_TRC_JMP_NOREDIR:
	case VEX_TRC_JMP_EMWARN:
		break;
	case TURN_OVER:
		shadow_guest.host_EvC_COUNTER = BLOCKS;
		look_at_limits();
		break;
	case VEX_TRC_JMP_INVALICACHE:
		forget_code();
		break;
	case VEX_TRC_JMP_SYS_SYSCALL:
		make_call();
		break;
	case VEX_TRC_JMP_NODECODE:
		shadow_finish(CP_SHADOW_UNDECODED, *(const UChar *)shadow_guest.guest_RIP,
			shadow_guest.guest_RIP);
	default:
		shadow_finish(CP_SHADOW_FAULT, (UInt)why, shadow_guest.guest_RIP);
	}
}

static void execute_window(void)
{
	UWord results[2];
	UInt mxcsr;

	shadow_guest.host_EvC_COUNTER = BLOCKS;
	shadow_guest.host_EvC_FAILADDR = (Addr)shadow_turn_over;
	for (void *code = NULL;;) {
		code = translate(shadow_guest.guest_RIP);
		mxcsr = extended_mxcsr(&shadow_thread);
		shadow_run(results, &shadow_thread, code, &mxcsr);
		if (results[0] == CHAIN_SLOW || results[0] == CHAIN_FAST) {
			Bool fast = results[0] == CHAIN_FAST;

			code = translate(shadow_guest.guest_RIP);
			translate_chain(results[1],
				fast ? shadow_chain_fast : shadow_chain_slow, code, fast);
			continue;
		}
		go_on_after(results[0]);
	}
}

/* On a stack of its own: the program's is the guest's. */
static void begin_window(void)
{
	ULong layout, all = ~0ull;

	cp_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
	bound_life();
	catch_faults();
	close_files();
	window.begun = True;
	if (window.has_x87)
		shadow_finish(CP_SHADOW_X87, 0, shadow_guest.guest_RIP);
	if (!shadow_plan.shared->is_region)
		wait_for_bounds();
	layout = memory_separate() + registers_kind();
	calls_begin(window.parent, window.thread, window.mask);
	translate_begin(layout);
	look_for_bounds();
	misses_begin();
	execute_window();
}

static void execute(const void *context, int parent, int thread)
	__attribute__((noreturn));

static void execute(const void *context, int parent, int thread)
{
	const ucontext_t *u = context;

	window.parent = parent;
	window.thread = thread;
	VG_(memcpy)(&window.mask, &u->uc_sigmask, sizeof(window.mask));
	window.has_x87 = !registers_take(&shadow_thread, context);
	__asm__ volatile("mov %0, %%rsp\n\txor %%ebp, %%ebp\n\tcall *%1"
			 :
			 : "r"(stack + sizeof(stack)), "r"(begin_window)
			 : "memory");
	leave();
}

/* ---- the interface ---- */

static int start(const struct cp_shadow_plan *plan, char *why, uint64_t size)
{
	const HChar *reason;

	shadow_plan = *plan;
	for (UInt i = 0; i < CP_SHADOW_CODES; i++)
		own_code_add((Addr)plan->own[i].begin, (Addr)plan->own[i].end);
	extended_start();
	reason = machine_start();
	if (!reason)
		reason = translate_start();
	misses_start();
	if (!reason)
		return 0;
	for (uint64_t i = 0; i + 1 < size && (i == 0 || why[i - 1]); i++)
		why[i] = reason[i];
	why[size - 1] = 0;
	return -ENOMEM;
}

static int start_again(struct cp_shadow_shared *shared)
{
	shadow_plan.shared = shared;
	return translate_start_again() ? 0 : -ENOMEM;
}

static int is_plain(void)
{
	return !tool_options.has_front;
}

static int is_own(uint64_t at)
{
	return own_code_at(at);
}

__attribute__((visibility("default"))) const struct cp_shadow cp_shadow = {
	.protocol = CP_SHADOW_PROTOCOL,
	.start = start,
	.start_again = start_again,
	.execute = execute,
	.is_plain = is_plain,
	.is_own = is_own,
};
