/* SPDX-License-Identifier: MIT
 *
 * A timer of each thread's CPU time: the kernel looks at such timers where a thread goes
 * back to the program's code, so that no system call is interrupted by one.  A tick
 * forks, two later ones of that thread post where it is by then: there the shadow begins
 * to count, and there its window ends.  There is one window at a time, and each thread
 * tries for it as often as its CPU time goes.
 *
 * The fork has no signal for its end, so the program's waitpid does not see it, and no
 * handlers of pthread_atfork are called.
 */
#include "preload/shadow/ticks.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include "base/counters/options.h"
#include "base/format.h"
#include "base/syscall.h"
#include "preload/runtime.h"
#include "preload/self.h"
#include "preload/shadow/controller.h"
#include "preload/shadow/places.h"
#include "preload/shadow/tick_signal.h"
#include "preload/threads/threads.h"

#define PERIOD_NS 30000000 /* between windows of a thread, on average: */
#define USUAL_BUDGET 5     /* less with a larger one */
#define SLICE_NS 3000000   /* of a window; the kernel rounds it up to its clock's tick */
#define MOST_SETTLING 24000000 /* without copies of pages, while there are many */
#define RETRY_NS 1000000
#define LONG_RETRY_NS 10000000
#define TURNS 10000000 /* until another thread's tick is over */

/* ---- the kernel ---- */

static uint64_t now_ns(void)
{
	struct timespec now = {0, 0};

	cp_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t faults_now(void)
{
	struct rusage usage = {0};

	cp_syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_minflt;
}

/* Two threads at once may have the same number: nothing depends on that. */
uint64_t cp_ticks_around(struct cp_shadows *s, uint64_t amount)
{
	uint64_t r = s->random;

	r ^= r << 13;
	r ^= r >> 7;
	r ^= r << 17;
	s->random = r;
	return amount ? amount / 2 + r % amount : 0;
}

uint64_t cp_ticks_period(struct cp_shadows *s)
{
	unsigned budget = (unsigned)cp_options.budget;

	return cp_ticks_around(
		s, budget > USUAL_BUDGET ? PERIOD_NS * USUAL_BUDGET / budget : PERIOD_NS);
}

static uint64_t period(void)
{
	return cp_ticks_period(cp_runtime.shadows);
}

/* ---- whose turn it is ---- */

/* False: it is another thread's, or over. */
static bool take(struct cp_shadows *s, enum cp_ticks_state from)
{
	return __atomic_compare_exchange_n(&s->state, &from, CP_TICKS_BUSY, false,
		__ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void give(struct cp_shadows *s, enum cp_ticks_state to)
{
	__atomic_store_n(&s->state, to, __ATOMIC_RELEASE);
}

/* ---- a window ---- */

/* Whether it is counted. */
static bool note_end(struct cp_shadow_log *log, const struct cp_shadow_window *w)
{
	log->ended[w->end]++;
	log->last_detail[w->end] = w->detail;
	log->last_where[w->end] = w->where;
	if ((w->end != CP_SHADOW_MATCHED && w->end != CP_SHADOW_REGION) ||
		log->nwindows == CP_SHADOW_WINDOWS)
		return false;
	log->window[log->nwindows++] = *w;
	return true;
}

static void take_times(const struct cp_shadows *s, struct cp_shadow_window *window)
{
	const struct cp_shadow_shared *shared = s->shared;

	window->at_ns = shared->at_ns;
	window->copied_ns = shared->copied_ns;
	window->settling_ns = s->settling_ns;
	window->cpu_ns = shared->slice_ns > shared->copied_ns
				 ? shared->slice_ns - shared->copied_ns
				 : 0;
}

/* Takes over what the shadow has left; false: it is at work. */
static bool reap(struct cp_shadows *s, int options)
{
	struct cp_shadow_window killed = {.end = CP_SHADOW_KILLED},
				*window = &s->shared->window, *left;
	bool counted;
	int status = 0;
	long ended = cp_syscall(SYS_wait4, s->child, &status, __WCLONE | options, NULL);

	if (ended != s->child && ended != -ECHILD)
		return false;
	killed.detail = (unsigned)WTERMSIG(status);
	cp_controller_reaped(s);
	take_times(s, window);
	if (window->cpu_ns < s->shared->slice_ns / 4 && window->end == CP_SHADOW_MATCHED)
		window->end = CP_SHADOW_COPIED;
	left = __atomic_load_n(&s->shared->finished, __ATOMIC_ACQUIRE) ? window : &killed;
	counted = note_end(window->site ? &s->regions : &s->log, left);
	if (window->site) {
		s->calls->ended(&s->site[window->site], left);
		return true;
	}
	cp_controller_ended(s, left->end);
	if (counted && s->places)
		cp_places_take(s->places, window, s->shared->misses);
	return true;
}

/* A fork shares the offsets, and the program moves on, and may write to them. */
static void note_files(struct cp_shadow_shared *shared)
{
	struct timespec now = {0, 0};

	for (int fd = 0; fd < CP_SHADOW_FILES; fd++)
		shared->offset[fd] = cp_syscall(SYS_lseek, fd, 0L, SEEK_CUR);
	cp_syscall(SYS_clock_gettime, CLOCK_REALTIME_COARSE, &now);
	shared->forked_seconds = now.tv_sec;
	shared->forked_ns = now.tv_nsec;
}

/* Nothing is counted there by the library; what it does itself, and libc for it, is not
 * counted by the shadow. */
static void become_shadow(struct cp_shadows *s, const void *context)
	__attribute__((noreturn));

static void become_shadow(struct cp_shadows *s, const void *context)
{
	pid_t thread = s->forks_now;

	if (!s->shared->is_region) {
		thread = s->owner->thread;
		cp_self.depth--; /* as the tick found it */
	}
	s->engine = *cp_engine;
	s->engine.pause = s->calls->pause;
	s->engine.resume = s->calls->resume;
	cp_engine = &s->engine;
	cp_runtime.state = CP_SHADOW;
	s->shadow->execute(context, s->pid, thread);
}

static bool fork_shadow(
	struct cp_shadows *s, struct cp_shadow_log *log, const void *context)
{
	long child;

	s->shared->posted = s->shared->finished = 0;
	s->shared->is_region = log == &s->regions;
	note_files(s->shared);
	cp_controller_forks(s);
	child = cp_syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
	if (child == 0)
		become_shadow(s, context);
	if (child < 0) {
		log->refused++;
		log->refused_error = (int)-child;
		return false;
	}
	cp_controller_forked(s);
	log->forks++;
	s->child = (pid_t)child;
	return true;
}

static enum cp_ticks_state fork_at_tick(
	struct cp_shadows *s, struct cp_ticker *ticker, const void *context)
{
	memset(&s->shared->window, 0, sizeof(s->shared->window));
	s->owner = ticker;
	s->settling_ns = 0;
	if (!fork_shadow(s, &s->log, context)) {
		cp_tick_timer_arm(ticker->timer, period());
		return CP_TICKS_IDLE;
	}
	cp_tick_timer_arm(ticker->timer, SLICE_NS);
	return CP_TICKS_FORKED;
}

/* Anything may be in a register; where the kernel refuses all of it, registers alone tell
 * the place. */
static inline bool can_copy(uint8_t to[CP_SHADOW_SEEN], uint64_t from)
{
	struct iovec here = {to, CP_SHADOW_SEEN},
		     there = {(void *)(uintptr_t)from, CP_SHADOW_SEEN};

	return cp_syscall(SYS_process_vm_readv, cp_runtime.shadows->pid, &here, 1L,
		       &there, 1L, 0L) == CP_SHADOW_SEEN;
}

/* On other architectures there is no shadow.so, and so no tick. */
static void note_place(struct cp_shadow_place *place, const ucontext_t *context)
{
#if defined(__x86_64__)
	place->readable = 0;
	for (unsigned i = 0; i < CP_SHADOW_REGISTERS; i++) {
		place->reg[i] = (uint64_t)context->uc_mcontext.gregs[i];
		if (can_copy(place->memory[i], place->reg[i]))
			place->readable |= 1u << i;
	}
#else
	(void)place, (void)context;
#endif
}

static void post(struct cp_shadows *s, const ucontext_t *context)
{
	struct cp_shadow_shared *shared = s->shared;
	uint32_t bound = shared->posted;

	note_place(&shared->bound[bound], context);
	__atomic_store_n(&shared->posted, bound + 1, __ATOMIC_RELEASE);
	cp_syscall(SYS_futex, &shared->posted, FUTEX_WAKE, 1L);
}

/* After a fork the program is slow: caches and TLBs are to be filled again, and pages
 * that it writes are copied.  The shadow executes all of that first, so there is an end
 * to it; copies that come later are taken out of the slice, and are in the error of what
 * is estimated. */
static bool is_settled(struct cp_shadows *s)
{
	uint64_t ns = s->shared->slice_ns, copied = s->shared->copied_ns;

	s->settling_ns += ns > copied ? ns - copied : 0;
	return s->settling_ns >= MOST_SETTLING || copied < ns / 4;
}

/* The slice is from the end of one tick to the begin of the next. */
static enum cp_ticks_state end_slice(struct cp_shadows *s, struct cp_ticker *ticker,
	const ucontext_t *context, uint64_t began)
{
	struct cp_shadow_shared *shared = s->shared;

	shared->slice_ns = began - ticker->slice_began;
	shared->copied_ns = cp_controller_copies(s, faults_now() - ticker->slice_faults);
	if (shared->posted == CP_SHADOW_LAST) {
		post(s, context);
		cp_tick_timer_arm(ticker->timer, LONG_RETRY_NS);
		return CP_TICKS_POSTED;
	}
	if (is_settled(s)) {
		shared->at_ns = cp_controller_total(s);
		post(s, context);
	}
	cp_tick_timer_arm(ticker->timer, SLICE_NS);
	return CP_TICKS_FORKED;
}

static void begin_window(
	struct cp_shadows *s, struct cp_ticker *ticker, const void *context)
{
	uint64_t wait = cp_controller_wait(s);

	s->log.put_off += wait != 0;
	if (wait == 0) {
		wait = cp_controller_in_vain(s);
		s->log.waited += wait != 0;
	}
	if (wait == 0) {
		give(s, fork_at_tick(s, ticker, context));
		return;
	}
	give(s, CP_TICKS_IDLE);
	cp_tick_timer_arm(
		ticker->timer, wait > PERIOD_NS ? cp_ticks_around(s, wait) : period());
}

/* Whoever ticks looks after a window that is over: its own thread may wait for
 * something. */
static void end_window(struct cp_shadows *s, struct cp_ticker *ticker)
{
	bool over = reap(s, WNOHANG);

	give(s, over ? CP_TICKS_IDLE : CP_TICKS_POSTED);
	cp_tick_timer_arm(ticker->timer, over ? period() : LONG_RETRY_NS);
}

static void act(struct cp_shadows *s, struct cp_ticker *ticker, const void *context,
	uint64_t began)
{
	if (s->owner == ticker && take(s, CP_TICKS_FORKED)) {
		give(s, end_slice(s, ticker, context, began));
	} else if (take(s, CP_TICKS_IDLE)) {
		begin_window(s, ticker, context);
	} else if (take(s, CP_TICKS_POSTED)) {
		end_window(s, ticker);
	} else {
		cp_tick_timer_arm(ticker->timer, period());
	}
}

/* ---- of regions ---- */

/* Of shadows of regions there are at most two to each one of the whole run, and they have
 * half of the time. */
static uint64_t wait_for_turn(struct cp_shadows *s)
{
	uint64_t wait = cp_controller_wait(s);

	if (wait == 0 && s->regions.forks > 2 * s->log.forks + 2)
		return PERIOD_NS;
	return wait == 0 && s->shared->is_region ? cp_controller_rest(s) : wait;
}

/* All registers are there where a signal comes. */
static void ask_for_fork(struct cp_shadows *s)
{
	siginfo_t info = {.si_code = SI_QUEUE};
	pid_t self = (pid_t)cp_syscall(SYS_gettid);

	info.si_value.sival_ptr = s;
	s->forks_now = self;
	cp_syscall(SYS_rt_tgsigqueueinfo, s->pid, self, CP_TICK_SIGNAL, &info);
}

uint64_t cp_ticks_turn(struct cp_shadows *s)
{
	uint64_t wait;

	if (!take(s, CP_TICKS_IDLE)) {
		if (!take(s, CP_TICKS_POSTED))
			return RETRY_NS;
		if (!reap(s, WNOHANG)) {
			give(s, CP_TICKS_POSTED);
			return RETRY_NS;
		}
	}
	wait = wait_for_turn(s);
	if (wait) {
		s->regions.put_off++;
		give(s, CP_TICKS_IDLE);
	}
	return wait;
}

void cp_ticks_fork_here(struct cp_shadows *s, uint32_t site, uint64_t execution)
{
	memset(&s->shared->window, 0, sizeof(s->shared->window));
	s->shared->window.site = site;
	s->shared->window.measured = s->walk.before == 0;
	s->shared->at_ns = execution;
	s->shared->slice_ns = 1;
	s->shared->copied_ns = s->settling_ns = 0;
	s->owner = NULL;
	ask_for_fork(s);
	if (cp_runtime.state == CP_SHADOW)
		return;
	give(s, s->forks_now == 0 ? CP_TICKS_POSTED : CP_TICKS_IDLE);
	s->forks_now = 0;
}

/* Is it the signal that the thread has just sent to itself? */
static bool is_asked_for(struct cp_shadows *s, const siginfo_t *info)
{
	return s && info->si_code == SI_QUEUE && info->si_value.sival_ptr == s &&
	       s->forks_now && s->forks_now == (pid_t)cp_syscall(SYS_gettid) &&
	       (pid_t)cp_syscall(SYS_getpid) == s->pid;
}

static void fork_in_region(struct cp_shadows *s, const void *context)
{
	uint64_t began = now_ns();

	if (fork_shadow(s, &s->regions, context))
		s->forks_now = 0;
	cp_controller_add(s, now_ns() - began);
}

static bool is_ticker(const struct cp_shadows *s, const struct cp_ticker *ticker)
{
	return s && ticker >= s->ticker && ticker < s->ticker + CP_TICKERS;
}

/* Before it is entered, or after it was left: a shadow, in which hooks do less, may never
 * come by there. */
static bool is_in_own_code(const struct cp_shadows *s, const ucontext_t *context)
{
#if defined(__x86_64__)
	return s->shadow->is_own((uint64_t)context->uc_mcontext.gregs[REG_RIP]);
#else
	(void)s, (void)context;
	return false;
#endif
}

/* A tick in our own code waits for the program's. */
static void on_tick(int number, siginfo_t *info, void *context)
{
	struct cp_shadows *s = cp_runtime.shadows;
	struct cp_ticker *ticker = info->si_value.sival_ptr;
	uint64_t began;

	(void)number;
	if (is_asked_for(s, info)) {
		fork_in_region(s, context);
		return;
	}
	if (info->si_code != SI_TIMER || !is_ticker(s, ticker) || !cp_ticks_are_on() ||
		cp_syscall(SYS_getpid) != s->pid)
		return;
	began = now_ns();
	if (is_in_own_code(s, context) || !cp_enter()) {
		cp_tick_timer_arm(ticker->timer, RETRY_NS);
		return;
	}
	s->log.ticks++;
	act(s, ticker, context, began);
	cp_leave();
	ticker->slice_faults = faults_now();
	cp_controller_add(s, now_ns() - began);
	ticker->slice_began = now_ns();
}

/* ---- threads ---- */

static struct cp_ticker *ticker_of(struct cp_shadows *s, pid_t of, pid_t becomes)
{
	for (unsigned i = 0; s && i < CP_TICKERS; i++) {
		pid_t expected = of;

		if (__atomic_compare_exchange_n(&s->ticker[i].thread, &expected, becomes,
			    false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return &s->ticker[i];
	}
	return NULL;
}

static void begin_ticker(void)
{
	struct cp_shadows *s = cp_runtime.shadows;
	pid_t self = (pid_t)cp_syscall(SYS_gettid);
	struct cp_ticker *ticker = cp_ticks_are_on() ? ticker_of(s, 0, self) : NULL;

	if (!ticker) {
		if (s)
			__atomic_fetch_add(&s->untimed, 1, __ATOMIC_RELAXED);
		return;
	}
	ticker->timer = cp_tick_timer(ticker);
	if (ticker->timer >= 0) {
		cp_tick_timer_arm(ticker->timer, period());
		return;
	}
	__atomic_fetch_add(&s->untimed, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ticker->thread, 0, __ATOMIC_RELEASE);
}

/* A window of it that has not been posted is lost. */
static void end_ticker(void)
{
	struct cp_shadows *s = cp_runtime.shadows;
	pid_t self = (pid_t)cp_syscall(SYS_gettid);
	struct cp_ticker *ticker =
		s && s->pid == cp_runtime.pid ? ticker_of(s, self, self) : NULL;

	if (!ticker)
		return;
	cp_tick_timer_end(ticker->timer);
	if (s->owner == ticker && take(s, CP_TICKS_FORKED)) {
		cp_syscall(SYS_kill, s->child, SIGKILL);
		reap(s, 0);
		give(s, CP_TICKS_IDLE);
	}
	__atomic_store_n(&ticker->thread, 0, __ATOMIC_RELEASE);
}

/* ---- the beginning and the end ---- */

int cp_ticks_start(struct cp_shadows *shadows, char *why, size_t size)
{
	int result = cp_tick_signal_start(on_tick);

	if (result < 0) {
		cp_format(why, size,
			"the signal of ticks is in use already, or refused (error %d)",
			-result);
		return result;
	}
	cp_controller_begins(shadows);
	shadows->pid = (pid_t)cp_syscall(SYS_getpid);
	shadows->random =
		0x9e3779b97f4a7c15 ^ ((uint64_t)shadows->pid << 20) ^ cp_now_ns();
	shadows->state = CP_TICKS_IDLE;
	cp_runtime.shadows = shadows;
	begin_ticker();
	shadows->watch = (struct cp_watch){
		begin_ticker, end_ticker, shadows->calls->begins, shadows->calls->passed};
	cp_runtime.watch = &shadows->watch;
	if (!shadows->untimed)
		return 0;
	cp_format(why, size,
		"the kernel gives no timer (is there a limit of signals, `ulimit -i`?)");
	cp_runtime.shadows = NULL;
	cp_runtime.watch = NULL;
	return -EAGAIN;
}

bool cp_ticks_are_on(void)
{
	struct cp_shadows *s = cp_runtime.shadows;

	return s && __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != CP_TICKS_OFF;
}

/* Its timers are as they were, but the caller's, which is armed. */
void cp_ticks_resume(void)
{
	struct cp_shadows *s = cp_runtime.shadows;
	pid_t self = (pid_t)cp_syscall(SYS_gettid);
	struct cp_ticker *ticker = s ? ticker_of(s, self, self) : NULL;

	if (!s)
		return;
	give(s, CP_TICKS_IDLE);
	if (ticker)
		cp_tick_timer_arm(ticker->timer, period());
}

void cp_ticks_disarm(struct cp_shadows *s)
{
	for (unsigned i = 0; i < CP_TICKERS; i++)
		if (__atomic_load_n(&s->ticker[i].thread, __ATOMIC_ACQUIRE))
			cp_tick_timer_arm(s->ticker[i].timer, 0);
}

/* Another thread's tick takes some us, or a fork. */
void cp_ticks_stop(void)
{
	struct cp_shadows *s = cp_runtime.shadows;
	enum cp_ticks_state state = CP_TICKS_BUSY;

	if (!cp_ticks_are_on())
		return;
	for (unsigned i = 0; i < TURNS && state == CP_TICKS_BUSY; i++) {
		state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
		if (state == CP_TICKS_BUSY)
			sched_yield();
		else if (!take(s, state))
			state = CP_TICKS_BUSY;
	}
	if (state == CP_TICKS_FORKED || state == CP_TICKS_POSTED) {
		if (!__atomic_load_n(&s->shared->finished, __ATOMIC_ACQUIRE))
			cp_syscall(SYS_kill, s->child, SIGKILL);
		reap(s, 0);
	}
	give(s, CP_TICKS_OFF);
}
