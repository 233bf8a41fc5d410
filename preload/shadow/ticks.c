/* SPDX-License-Identifier: MIT
 *
 * A timer of the first thread's CPU time: the kernel looks at such timers where a thread
 * goes back to the program's code, so that no system call is interrupted by one.  A tick
 * forks, the next one posts where the thread is by then: there the shadow's window ends.
 *
 * The fork has no signal for its end, so the program's waitpid does not see it, and no
 * handlers of pthread_atfork are called.
 */
#include "preload/shadow/ticks.h"

#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include "base/format.h"
#include "base/syscall.h"
#include "preload/libc/real.h"
#include "preload/program/fatal.h"
#include "preload/runtime.h"
#include "preload/self.h"

#define PERIOD_NS 50000000 /* between windows, on average */
#define SLICE_NS 3000000   /* of a window; the kernel rounds it up to its clock's tick */
#define RETRY_NS 1000000
#define BUDGET 20     /* one part of so many of the CPU time is for us */
#define FAULT_NS 2500 /* a page that is copied because a shadow has it, too */

enum state { OFF, IDLE, FORKED, POSTED };

struct cp_shadow_log cp_shadow_log;

static struct {
	const struct cp_shadow *shadow;
	struct cp_shadow_shared *shared;
	volatile enum state state;
	int signal, timer;
	pid_t pid, thread, child;
	uint64_t slice_began, random;
	long faults; /* of the program, when it was forked */
	uint64_t cost_ns;
} ticks;

/* ---- the kernel ---- */

static uint64_t now_ns(void)
{
	struct timespec now = {0, 0};

	cp_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static long faults_now(void)
{
	struct rusage usage = {0};

	cp_syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

static void arm(uint64_t ns)
{
	struct itimerspec when = {.it_value = {.tv_sec = (time_t)(ns / 1000000000),
					  .tv_nsec = (long)(ns % 1000000000)}};

	cp_syscall(SYS_timer_settime, ticks.timer, 0L, &when, NULL);
}

/* Anything from half of it to one and a half. */
static uint64_t around(uint64_t ns)
{
	ticks.random ^= ticks.random << 13;
	ticks.random ^= ticks.random >> 7;
	ticks.random ^= ticks.random << 17;
	return ns / 2 + ticks.random % ns;
}

/* ---- a window ---- */

static void note_end(const struct cp_shadow_window *w)
{
	struct cp_shadow_log *log = &cp_shadow_log;

	log->ended[w->end]++;
	log->last_detail[w->end] = w->detail;
	log->last_where[w->end] = w->where;
	if (w->end != CP_SHADOW_MATCHED || log->nwindows == CP_SHADOW_WINDOWS)
		return;
	log->window[log->nwindows] = *w;
	log->window[log->nwindows++].cpu_ns = ticks.shared->cpu_ns;
}

/* Takes over what the shadow has left; false: it is at work. */
static bool reap(int options)
{
	struct cp_shadow_window killed = {.end = CP_SHADOW_KILLED};
	long ended = cp_syscall(SYS_wait4, ticks.child, NULL, __WCLONE | options, NULL);

	if (ended != ticks.child && ended != -ECHILD)
		return false;
	note_end(__atomic_load_n(&ticks.shared->finished, __ATOMIC_ACQUIRE)
			 ? &ticks.shared->window
			 : &killed);
	ticks.state = IDLE;
	return true;
}

/* Before the next one has passed so much time that the budget holds. */
static void arm_next(void)
{
	uint64_t least = ticks.cost_ns * BUDGET;

	ticks.cost_ns = 0;
	arm(around(least > PERIOD_NS ? least : PERIOD_NS));
}

/* A fork shares the offsets, and the program moves on. */
static void note_offsets(int64_t offset[CP_SHADOW_FILES])
{
	for (int fd = 0; fd < CP_SHADOW_FILES; fd++)
		offset[fd] = cp_syscall(SYS_lseek, fd, 0L, SEEK_CUR);
}

static void fork_shadow(const void *context)
{
	long child;

	ticks.shared->posted = ticks.shared->finished = 0;
	memset(&ticks.shared->window, 0, sizeof(ticks.shared->window));
	note_offsets(ticks.shared->offset);
	child = cp_syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
	if (child == 0)
		ticks.shadow->execute(context, ticks.pid, ticks.thread);
	if (child < 0) {
		cp_shadow_log.refused++;
		cp_shadow_log.refused_error = (int)-child;
		arm_next();
		return;
	}
	ticks.child = (pid_t)child;
	ticks.state = FORKED;
	ticks.faults = faults_now();
	arm(SLICE_NS);
}

/* On other architectures there is no shadow.so, and so no tick. */
static void note_place(struct cp_shadow_place *place, const ucontext_t *context)
{
#if defined(__x86_64__)
	for (unsigned i = 0; i < CP_SHADOW_REGISTERS; i++)
		place->reg[i] = (uint64_t)context->uc_mcontext.gregs[i];
#else
	(void)place, (void)context;
#endif
}

/* The pages that were copied meanwhile took time that the program alone would not take.
 */
static void post(const ucontext_t *context, uint64_t began)
{
	struct cp_shadow_shared *shared = ticks.shared;
	uint64_t copied = (uint64_t)(faults_now() - ticks.faults) * FAULT_NS;
	uint64_t slice = began - ticks.slice_began;

	note_place(&shared->place, context);
	shared->cpu_ns = slice > 2 * copied ? slice - copied : slice / 2;
	__atomic_store_n(&shared->posted, 1, __ATOMIC_RELEASE);
	cp_syscall(SYS_futex, &shared->posted, FUTEX_WAKE, 1L);
	ticks.cost_ns += copied;
	ticks.state = POSTED;
	arm(RETRY_NS * 10);
}

static void act(const void *context, uint64_t began)
{
	switch (ticks.state) {
	case IDLE:
		fork_shadow(context);
		break;
	case FORKED:
		post(context, began);
		break;
	case POSTED:
		if (reap(WNOHANG))
			arm_next();
		else
			arm(RETRY_NS * 10);
		break;
	default:
		break;
	}
}

/* A tick in our own code waits for the program's. */
static bool on_tick(const siginfo_t *info, const void *context)
{
	uint64_t began, took;

	if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &ticks)
		return false;
	if (ticks.state == OFF || cp_syscall(SYS_getpid) != ticks.pid)
		return true;
	began = now_ns();
	if (!cp_enter()) {
		arm(RETRY_NS);
		return true;
	}
	cp_shadow_log.ticks++;
	act(context, began);
	cp_leave();
	took = now_ns() - began;
	cp_shadow_log.work_ns += took;
	ticks.cost_ns += took;
	ticks.slice_began = now_ns();
	return true;
}

/* ---- the beginning and the end ---- */

/* One that the program leaves alone, so that our handler (fatal.h) has it: the C
 * library's own are the lowest, and programs begin there, too. */
static int unused_signal(void)
{
	struct sigaction now;

	for (int number = SIGRTMAX - 1; number > SIGRTMIN; number--)
		if (CP_REAL(sigaction)(number, NULL, &now) == 0 && cp_fatal_is_ours(&now))
			return number;
	return 0;
}

static int create_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = ticks.signal,
		.sigev_value.sival_ptr = &ticks};

	event._sigev_un._tid = ticks.thread;
	return (int)cp_syscall(
		SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &ticks.timer);
}

int cp_ticks_start(const struct cp_shadow *shadow, struct cp_shadow_shared *shared,
	char *why, size_t size)
{
	struct cp_shadow_log *log = &cp_shadow_log;

	ticks.shadow = shadow;
	ticks.shared = shared;
	ticks.pid = (pid_t)cp_syscall(SYS_getpid);
	ticks.thread = (pid_t)cp_syscall(SYS_gettid);
	ticks.random = 0x9e3779b97f4a7c15 ^ ((uint64_t)ticks.pid << 20) ^ cp_now_ns();
	ticks.signal = unused_signal();
	log->window = mmap(NULL, sizeof(*log->window) * CP_SHADOW_WINDOWS,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		0);
	if (!ticks.signal || log->window == MAP_FAILED || create_timer() < 0) {
		log->window = NULL;
		cp_format(why, size, "no timer, signal or memory for ticks is to be had");
		return -EAGAIN;
	}
	cp_fatal_tick = on_tick;
	cp_ticks_resume();
	return 0;
}

bool cp_ticks_are_on(void)
{
	return ticks.shadow && ticks.state != OFF;
}

void cp_ticks_resume(void)
{
	if (!ticks.shadow)
		return;
	ticks.state = IDLE;
	arm_next();
}

void cp_ticks_stop(void)
{
	enum state state = ticks.state;

	if (!cp_ticks_are_on())
		return;
	ticks.state = OFF;
	arm(0);
	if (state != FORKED && state != POSTED)
		return;
	if (!__atomic_load_n(&ticks.shared->finished, __ATOMIC_ACQUIRE))
		cp_syscall(SYS_kill, ticks.child, SIGKILL);
	reap(0);
	ticks.state = OFF;
}

void cp_ticks_forget(void)
{
	ticks.shadow = NULL;
	ticks.state = OFF;
}
