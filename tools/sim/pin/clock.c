/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The program's time, which all threads share.  It begins at a date that is always the
 * same, and goes on by a nanosecond with each instruction and by what the program sleeps,
 * or waits in vain. Several threads have one time, of all their instructions: who sleeps
 * meanwhile has slept as long.
 *
 * The kernel knows nothing of this, so a call that waits until a point in time is given
 * the kernel's time of that.
 */
#include "pin/pin.h"

#include <linux/futex.h>

#include "base/syscall.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#define SECOND 1000000000ll
#define DATE 1704067200ll /* 2024-01-01 */
#define UPTIME 100000ll
#define FAR (1ll << 32) /* seconds: what is further away, the kernel may judge */

enum { REALTIME = 0, MONOTONIC = 1, CPUTIME = 2 };
enum { TIMED_OUT = 110 }; /* ETIMEDOUT */

struct timespec_ {
	Long s, ns;
};

struct deadline {
	enum pin_register at;
	UWord given;
	Int clock;
	Long until;                /* the program's nanoseconds */
	struct timespec_ replaced; /* outlives a call that a signal interrupts */
	Bool stands;
	Long since; /* the call, in time that ran */
};

/* The program's time. */
static struct {
	struct deadline *deadlines; /* of each thread */
	Long date;
	Long slept, before_fork;
} pinned = {.date = DATE * SECOND};

/* ---- what time is it? ---- */

static Long kernel_now(Int clock)
{
	struct timespec_ now = {0, 0};

	cp_syscall(SYS_clock_gettime, (long)clock, &now);
	return now.s * SECOND + now.ns;
}

static Long run_time(ThreadId tid)
{
	return pinned.slept + (Long)threads_instructions(tid);
}

static Int kind_of(Int clock)
{
	switch (clock) {
	case 0: /* CLOCK_REALTIME, its coarse one, CLOCK_REALTIME_ALARM, CLOCK_TAI */
	case 5:
	case 8:
	case 11:
		return REALTIME;
	case 1: /* CLOCK_MONOTONIC, raw, coarse, CLOCK_BOOTTIME and its alarm */
	case 4:
	case 6:
	case 7:
	case 9:
		return MONOTONIC;
	}
	return CPUTIME;
}

static Long begin_of(Int clock)
{
	switch (kind_of(clock)) {
	case REALTIME:
		return pinned.date;
	case MONOTONIC:
		return UPTIME * SECOND;
	}
	return 0;
}

static Long read_clock(ThreadId tid, Int clock)
{
	return begin_of(clock) + run_time(tid);
}

/* ---- deadlines ---- */

static Bool futex_deadline(ThreadId tid, struct deadline *d)
{
	UWord operation = pin_take(tid, PIN_SECOND);

	d->at = PIN_FOURTH;
	d->clock = operation & FUTEX_CLOCK_REALTIME ? REALTIME : MONOTONIC;
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_LOCK_PI:
		d->clock = REALTIME;
		return True;
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case 13: /* FUTEX_LOCK_PI2 */
		return True;
	}
	return False;
}

enum { ABSOLUTE = 1 };

/* Which of them has the call? */
static Bool find_deadline(ThreadId tid, UInt number, struct deadline *d)
{
	if (number == __NR_futex)
		return futex_deadline(tid, d);
	if (number != __NR_clock_nanosleep)
		return False;
	d->at = PIN_THIRD;
	d->clock = (Int)pin_take(tid, PIN_FIRST);
	return pin_take(tid, PIN_SECOND) & ABSOLUTE;
}

static Bool is_time(const struct timespec_ *t)
{
	return t->s >= 0 && t->s < FAR && t->ns >= 0 && t->ns < SECOND;
}

void pin_clock_before(ThreadId tid)
{
	struct deadline *d;
	const struct timespec_ *wanted;
	Long kernel;

	if (!pin.wanted)
		return;
	d = &pinned.deadlines[tid];
	d->stands = False;
	d->since = run_time(tid);
	if (!find_deadline(tid, (UInt)pin_take(tid, PIN_NUMBER), d))
		return;
	d->given = pin_take(tid, d->at);
	wanted = (const struct timespec_ *)d->given;
	if (d->given == (UWord)&d->replaced || kind_of(d->clock) == CPUTIME ||
		!VG_(am_is_valid_for_client)(d->given, sizeof(*wanted), VKI_PROT_READ) ||
		!is_time(wanted))
		return;
	d->until = wanted->s * SECOND + wanted->ns;
	kernel = kernel_now(d->clock) + d->until - read_clock(tid, d->clock);
	kernel = kernel < 0 ? 0 : kernel;
	d->replaced = (struct timespec_){kernel / SECOND, kernel % SECOND};
	pin_put(tid, d->at, (UWord)&d->replaced);
	d->stands = True;
}

static void sleep_until(ThreadId tid, const struct deadline *d)
{
	Long left = d->until - read_clock(tid, d->clock);

	if (left > 0)
		pinned.slept += left;
}

/* With the result in its register, which may be the first argument's. */
void pin_clock_behind(ThreadId tid)
{
	struct deadline *d = pin.wanted ? &pinned.deadlines[tid] : NULL;
	Word result;

	if (!d || !d->stands)
		return;
	d->stands = False;
	pin_put(tid, d->at, d->given);
	result = (Word)pin_take(tid, PIN_RESULT);
	if (result == 0 ? d->at == PIN_THIRD : result == -TIMED_OUT)
		sleep_until(tid, d);
}

/* ---- answers ---- */

static void tell_time(UWord to, Long ns, Long part)
{
	struct timespec_ *t = (struct timespec_ *)to;

	if (!to)
		return;
	t->s = ns / SECOND;
	t->ns = ns % SECOND / part;
}

enum { TICK = 10000000 }; /* ns: a clock tick of times(2) */

static void tell_times(ThreadId tid, const UWord *args)
{
	Word *to = (Word *)args[0];

	if (to) {
		to[0] = run_time(tid) / TICK;
		to[1] = to[2] = to[3] = 0;
	}
	pin_put(tid, PIN_RESULT, (UWord)(read_clock(tid, MONOTONIC) / TICK));
}

static void answer_call(ThreadId tid, UInt number, const UWord *args)
{
	switch (number) {
	case __NR_clock_gettime:
		tell_time(args[1], read_clock(tid, (Int)args[0]), 1);
		break;
	case __NR_gettimeofday:
		tell_time(args[0], read_clock(tid, REALTIME), 1000);
		break;
	case __NR_times:
		tell_times(tid, args);
		break;
#ifdef __NR_time
	case __NR_time:
		if (args[0])
			*(Word *)args[0] = read_clock(tid, REALTIME) / SECOND;
		pin_put(tid, PIN_RESULT, (UWord)(read_clock(tid, REALTIME) / SECOND));
		break;
#endif
	}
}

/* ---- waits that have a length ---- */

static Long read_length(UWord at, Long part)
{
	const struct timespec_ *t = (const struct timespec_ *)at;

	return at ? t->s * SECOND + t->ns * part : 0;
}

static Long of_milliseconds(UWord count)
{
	return (Int)count > 0 ? (Int)count * 1000000ll : 0;
}

/* How long one took that ended because its time was up. */
static Long time_waited(UInt number, const UWord *args)
{
	switch (number) {
	case __NR_nanosleep:
		return read_length(args[0], 1);
	case __NR_clock_nanosleep:
		return args[1] & ABSOLUTE ? 0 : read_length(args[2], 1);
	case __NR_ppoll:
		return read_length(args[2], 1);
	case __NR_pselect6:
		return read_length(args[4], 1);
	case __NR_epoll_pwait:
		return of_milliseconds(args[3]);
#ifdef __NR_poll
	case __NR_poll:
		return of_milliseconds(args[2]);
	case __NR_select:
		return read_length(args[4], 1000);
	case __NR_epoll_wait:
		return of_milliseconds(args[3]);
#endif
	}
	return 0;
}

static Long waited_in_vain(UInt number, const UWord *args, UWord error)
{
	if (number == __NR_futex && error == TIMED_OUT &&
		(args[1] & FUTEX_CMD_MASK) == FUTEX_WAIT)
		return read_length(args[3], 1);
	if (number == __NR_rt_sigtimedwait && error == VKI_EAGAIN)
		return read_length(args[2], 1);
	return 0;
}

void pin_clock_after(ThreadId tid, UInt number, const UWord *args, SysRes result)
{
	Long length = 0, left;

	if (sr_isError(result))
		length = waited_in_vain(number, args, sr_Err(result));
	else if (sr_Res(result) == 0)
		length = time_waited(number, args);
	left = length ? pinned.deadlines[tid].since + length - run_time(tid) : 0;
	if (left > 0)
		pinned.slept += left;
	if (!sr_isError(result))
		answer_call(tid, number, args);
}

/* ---- its beginning, and children ---- */

void pin_clock_start(HChar *const *envp)
{
	const HChar *text = pin_find(envp, "SOURCE_DATE_EPOCH");
	Long given = text ? VG_(strtoll10)(text, NULL) : 0;

	if (given > 0 && given < FAR)
		pinned.date = given * SECOND;
}

/* A child's instructions are counted from 0 on. */
static void on_fork(ThreadId tid)
{
	pinned.before_fork = run_time(tid);
}

static void on_fork_child(ThreadId tid)
{
	(void)tid;
	pinned.slept = pinned.before_fork;
}

void pin_start(void)
{
	if (!pin.wanted)
		return;
	pinned.deadlines = VG_(calloc)("pin", most_threads(), sizeof(*pinned.deadlines));
	VG_(atfork)(on_fork, NULL, on_fork_child);
}
