/* SPDX-License-Identifier: MIT */
#include "preload/program/seccomp.h"

#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bpf.h"
#include "base/log.h"
#include "preload/program/fatal.h"
#include "preload/life.h"
#include "preload/program/readable.h"
#include "preload/report.h"
#include "preload/runtime.h"
#include "preload/threads/threads.h"
#include "preload/run.h"

/* System calls that reading counters, growing the record and writing the report need,
 * which is written by another process under the same filter. */
static const int needed[] = {SYS_read, SYS_write, SYS_openat, SYS_close, SYS_getdents64,
	SYS_pread64, SYS_mmap, SYS_munmap, SYS_fcntl, SYS_ioctl, SYS_getpid, SYS_gettid,
	SYS_sched_yield, SYS_fallocate, SYS_pwrite64, SYS_ftruncate, SYS_flock,
	SYS_prlimit64, SYS_perf_event_open, SYS_uname, SYS_fstat, SYS_getrusage,
#ifdef SYS_newfstatat
	SYS_newfstatat,
#endif
#ifdef SYS_mkdir
	SYS_mkdir,
#endif
	SYS_faccessat, SYS_renameat2, SYS_unlinkat, SYS_rt_sigprocmask, SYS_sigaltstack};

/* And those by which that begins; and by which one is asked that began before. */
static const int needed_to_start[] = {
	SYS_clone,
	SYS_execve,
	SYS_wait4,
	SYS_dup3,
	SYS_brk,
	SYS_mprotect,
	SYS_set_tid_address,
	SYS_exit_group,
#ifdef SYS_arch_prctl
	SYS_arch_prctl,
#endif
};
static const int needed_to_ask[] = {SYS_sendto, SYS_wait4};

/* System calls of fatal.c's handler. */
static const int needed_by_signals[] = {SYS_rt_sigaction, SYS_rt_tgsigqueueinfo,
	SYS_tgkill, SYS_rt_sigreturn, SYS_getpid, SYS_gettid};

/* ---- would a filter let them pass? ---- */

static bool lets_pass(const struct sock_fprog *program, int number)
{
	struct seccomp_data data = {.nr = number, .arch = CP_BPF_ARCH};
	uint32_t action = cp_bpf_run(program->filter, program->len, &data) &
			  SECCOMP_RET_ACTION_FULL;

	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

static bool all_pass(const struct sock_fprog *program, const int numbers[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!lets_pass(program, numbers[i]))
			return false;
	return true;
}

#define ALL_PASS(program, numbers)                                                       \
	all_pass(program, numbers, sizeof(numbers) / sizeof((numbers)[0]))

/* ---- */

bool cp_seccomp_is_filter(const struct sock_fprog *filter)
{
	return cp_can_read(filter, sizeof(*filter)) &&
	       cp_can_read(filter->filter, filter->len * sizeof(*filter->filter));
}

/* In strict mode even a look at the clock is deadly, and what is left to the
 * thread is to compute and to end: its counts end here. */
static void leave_strict_thread(void)
{
	cp_say("thread %d enters seccomp's strict mode: it is counted up to here. "
	       "If no report follows: `cachepeek report %s`",
		(int)gettid(), cp_run.directory);
	cp_thread_end();
}

void cp_seccomp_before(const struct sock_fprog *filter)
{
	if (!cp_counting() || getpid() != cp_runtime.pid)
		return;
	if (filter && ALL_PASS(filter, needed) && !ALL_PASS(filter, needed_to_start) &&
		ALL_PASS(filter, needed_to_ask))
		cp_report_before_confined();
	cp_life(before_confined);
	if (!filter)
		leave_strict_thread();
	else if (!ALL_PASS(filter, needed_by_signals))
		cp_fatal_stop(); /* the wait status counts for more than our readings */
}

void cp_seccomp_after(const struct sock_fprog *filter, bool done)
{
	if (!filter || !cp_counting())
		return;
	if (!done)
		cp_fatal_start();
	if (!done)
		return;
	if (!ALL_PASS(filter, needed_to_start))
		cp_runtime.starts_nothing = true;
	if (ALL_PASS(filter, needed))
		return;
	cp_life(confined);
	__atomic_store_n(&cp_runtime.confined, true, __ATOMIC_RELEASE);
}
