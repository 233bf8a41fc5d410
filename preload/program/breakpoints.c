/* SPDX-License-Identifier: MIT */
#include "preload/program/breakpoints.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/utsname.h>
#include <ucontext.h>

#include "base/engine/kernel.h"
#include "base/fd.h"
#include "base/syscall.h"
#include "base/text.h"
#include "preload/runtime.h"

#define OLDEST '6' /* Linux before 5.18 kills who has SIGTRAP blocked */
#define PROOF UINT32_MAX
#define MOST_TURNS 100000

/* As the kernel has it; libc's siginfo_t may not yet. */
#define CODE_PERF 6
#define ASYNCHRONOUS 1u

struct trap {
	int signal, error, code, unused;
	uintptr_t address;
	uint64_t data;
	uint32_t type, flags;
};

/* ---- a stop ---- */

#if defined(__x86_64__) && !defined(__ILP32__)

static uintptr_t place_of(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

static void enter_function(
	const struct cp_breakpoints *b, uint32_t number, const ucontext_t *context)
{
	const greg_t *registers = context->uc_mcontext.gregs;
	uintptr_t arguments[4] = {(uintptr_t)registers[REG_RDI],
		(uintptr_t)registers[REG_RSI], (uintptr_t)registers[REG_RDX],
		(uintptr_t)registers[REG_RCX]};
	uintptr_t frame = (uintptr_t)registers[REG_RSP];

	b->entered(number, (uintptr_t *)frame, arguments, frame);
}

bool cp_breakpoints_are_used(void)
{
	return true;
}

#else

static uintptr_t place_of(const ucontext_t *context)
{
	(void)context;
	return 0;
}

static void enter_function(
	const struct cp_breakpoints *b, uint32_t number, const ucontext_t *context)
{
	(void)b;
	(void)number;
	(void)context;
}

bool cp_breakpoints_are_used(void)
{
	return false;
}

#endif

static const struct cp_breakpoint *breakpoint_of(
	const struct cp_breakpoints *b, const struct trap *trap)
{
	for (unsigned i = 0; i < CP_BREAKPOINTS; i++)
		if (trap->code == CODE_PERF && trap->data == (uintptr_t)&b->all[i])
			return &b->all[i];
	return NULL;
}

bool cp_breakpoints_take(
	struct cp_breakpoints *b, const siginfo_t *info, const void *context)
{
	const struct cp_breakpoint *at;
	struct trap trap;
	int saved = errno;

	memcpy(&trap, info, sizeof(trap));
	at = breakpoint_of(b, &trap);
	if (!at)
		return false;
	if ((trap.flags & ASYNCHRONOUS) || place_of(context) != at->address)
		__atomic_fetch_add(&b->late, 1, __ATOMIC_RELAXED);
	else if (at->number != PROOF && b->entered)
		enter_function(b, at->number, context);
	__atomic_fetch_add(&b->seen, 1, __ATOMIC_RELEASE);
	errno = saved;
	return true;
}

/* ---- one of them ---- */

static int open_one(struct cp_breakpoint *at)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = at->address,
		.bp_len = sizeof(long),
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sigtrap = 1,
		.sig_data = (uintptr_t)at,
		.inherit = 1,
		.inherit_thread = 1,
		.remove_on_exec = 1,
	};
	int result;

	at->fd = cp_kernel_open(&attr, 0, -1);
	if (at->fd < 0) {
		result = at->fd;
		at->fd = -1;
		return result;
	}
	result = cp_fd_keep(&at->fd);
	if (result < 0) {
		cp_fd_close(at->fd);
		at->fd = -1;
	}
	return result;
}

static void close_one(struct cp_breakpoint *at)
{
	uint64_t count;

	if (at->fd >= 0 && cp_kernel_read(at->fd, &count, sizeof(count)) == sizeof(count))
		at->hits = count;
	cp_fd_drop(&at->fd);
}

/* ---- can there be any? ---- */

static bool is_old(void)
{
	struct utsname about;

	return cp_syscall(SYS_uname, &about) < 0 ||
	       (about.release[1] == '.' && about.release[0] < OLDEST);
}

static bool is_traced(void)
{
	static const char field[] = "\nTracerPid:\t";
	char status[4096];
	const char *at;

	if (!cp_read_file("/proc/self/status", status, sizeof(status)))
		return true;
	at = strstr(status, field);
	return !at || at[sizeof(field) - 1] != '0';
}

static bool is_blocked(void)
{
	uint64_t mask = 0;

	return cp_syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask)) < 0 ||
	       (mask >> (SIGTRAP - 1) & 1);
}

static void __attribute__((noinline)) stop_here(void)
{
	__asm__ volatile("");
}

/* Some virtual machines open them, and never stop at one. */
static const char *try_one(struct cp_breakpoints *b)
{
	struct cp_breakpoint *at = &b->all[0];
	bool stopped;

	*at = (struct cp_breakpoint){.address = (uintptr_t)stop_here, .number = PROOF};
	b->error = -open_one(at);
	if (b->error)
		return b->error == ENOSPC ? "others have all of them"
					  : "the kernel refuses them";
	stop_here();
	cp_fd_drop(&at->fd);
	stopped = b->seen == 1 && b->late == 0;
	b->seen = b->late = 0;
	return stopped ? NULL : "this CPU does not stop at them";
}

static const char *why_none(struct cp_breakpoints *b)
{
	if (is_old())
		return "that takes Linux 6.0";
	if (is_traced())
		return "a debugger is attached";
	if (is_blocked())
		return "SIGTRAP is blocked";
	return try_one(b);
}

bool cp_breakpoint_set(struct cp_breakpoints *b, uintptr_t address, uint32_t number)
{
	struct cp_breakpoint *at = &b->all[b->count];

	if (!b->tried)
		b->why = why_none(b);
	b->tried = true;
	if (!b->why && b->count == b->room)
		b->why = "the CPU has no more of them";
	if (b->why || cp_once_was(&b->stopped))
		return false;
	*at = (struct cp_breakpoint){.address = address, .number = number};
	b->error = -open_one(at);
	if (b->error)
		b->why = b->error == ENOSPC ? "the CPU has no more of them"
					    : "the kernel refuses them";
	b->count += !b->error;
	return !b->error;
}

/* ---- the end ---- */

static uint64_t count_hits(const struct cp_breakpoints *b)
{
	uint64_t hits = 0, count;

	for (unsigned i = 0; i < b->count; i++) {
		if (b->all[i].fd >= 0 && cp_kernel_read(b->all[i].fd, &count,
						 sizeof(count)) == sizeof(count))
			hits += count;
		else
			hits += b->all[i].hits;
	}
	return hits;
}

/* Other threads may have stopped, and not have the signal yet.  It never comes to those
 * that block it. */
static void wait_for_signals(struct cp_breakpoints *b)
{
	for (int i = 0; i < MOST_TURNS &&
			count_hits(b) > __atomic_load_n(&b->seen, __ATOMIC_ACQUIRE);
		i++)
		cp_syscall(SYS_sched_yield);
}

void cp_breakpoints_stop(struct cp_breakpoints *b, const char *why)
{
	if (!b->count || !cp_is_this_process() || !cp_once(&b->stopped))
		return;
	b->given_up = why;
	for (unsigned i = 0; i < b->count; i++) {
		if (b->all[i].fd < 0)
			b->given_up = "the program needs all of its descriptors";
		else
			cp_kernel_enable(b->all[i].fd, false);
	}
	wait_for_signals(b);
	for (unsigned i = 0; i < b->count; i++)
		close_one(&b->all[i]);
}

uint64_t cp_breakpoints_missed(const struct cp_breakpoints *b)
{
	uint64_t hits = count_hits(b), taken = b->seen - b->late;

	return hits > taken ? hits - taken : 0;
}

/* ---- fork ---- */

void cp_breakpoints_forget(struct cp_breakpoints *b)
{
	for (unsigned i = 0; i < b->count; i++) {
		cp_fd_drop(&b->all[i].fd);
		b->all[i].hits = 0;
	}
	b->seen = b->late = 0;
}

void cp_breakpoints_reopen(struct cp_breakpoints *b)
{
	for (unsigned i = 0; i < b->count && !cp_once_was(&b->stopped); i++)
		if (b->all[i].fd < 0 && open_one(&b->all[i]) < 0) {
			cp_once(&b->stopped);
			b->given_up = "the kernel refuses them after fork(2)";
		}
}
