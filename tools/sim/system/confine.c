/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * seccomp.  The kernel cannot tell the program's system calls from the simulator's: a
 * filter that allows a few only (sshd's, for what it does not trust) would kill the
 * process at the next call of the core's.  Such a filter is kept here, and asked before
 * each call that the program makes (--wrap); what it says is done as the kernel does it.
 * A filter that lets the simulator do what it needs is the kernel's, as ever.
 */
#include "system/confine.h"

#include <linux/prctl.h>
#include <linux/wait.h>

#include "base/bpf.h"
#include "base/syscall.h"
#include "pin/pin.h"
#include "system/clone.h"
#include "system/descriptors.h"
#include "system/hidden.h"
#include "system/newer.h"
#include "system/sent.h"
#include "system/registers.h"
#include "system/remap.h"
#include "system/space.h"
#include "heap.h"
#include "pointers.h"
#include "tool.h"

#include "pub_tool_vki.h"

void __real_vgPlain_client_syscall(ThreadId tid, UInt trace);
void __wrap_vgPlain_client_syscall(ThreadId tid, UInt trace);
void __wrap_vgPlain_kill_self(Int number); /* dying.c */

/* System calls of the core and the simulator while the program runs. */
static const int needed[] = {
	SYS_read,
	SYS_write,
	SYS_openat,
	SYS_close,
	SYS_fstat,
	SYS_lseek,
	SYS_mmap,
	SYS_munmap,
	SYS_mprotect,
	SYS_mremap,
	SYS_madvise,
	SYS_ioctl,
	SYS_pread64,
	SYS_fcntl,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigtimedwait,
	SYS_rt_sigreturn,
	SYS_rt_sigqueueinfo,
	SYS_rt_tgsigqueueinfo,
	SYS_getpid,
	SYS_gettid,
	SYS_tgkill,
	SYS_getrlimit,
	SYS_setrlimit,
	SYS_sched_yield,
	SYS_futex,
	SYS_clone,
	SYS_wait4,
	SYS_seccomp,
	SYS_exit,
	SYS_exit_group,
#ifdef SYS_open
	SYS_open,
	SYS_stat,
	SYS_poll,
	SYS_readlink,
#endif
};

/* ---- what was forbidden ---- */

struct filter {
	const struct filter *before; /* NULL: it is the first */
	struct sock_fprog program;
	Bool strict; /* no program, but strict mode */
};

static const struct filter **filters; /* of each thread; NULL: nothing is forbidden */

void confine_start(void)
{
	filters = VG_(calloc)("confine", most_threads(), sizeof(*filters));
}

void confine_thread(ThreadId parent, ThreadId child)
{
	if (filters)
		filters[child] = filters[parent];
}

/* ---- the program's call ---- */

static void read_call(ThreadId tid, struct seccomp_data *data)
{
	*data = (struct seccomp_data){(int)call_take(tid, CALL_NUMBER), CP_BPF_ARCH,
		call_take(tid, GUEST_EITHER(RIP, PC)),
		{call_take(tid, CALL_ARG1), call_take(tid, CALL_ARG2),
			call_take(tid, CALL_ARG3), call_take(tid, CALL_ARG4),
			call_take(tid, CALL_ARG5), call_take(tid, CALL_ARG6)}};
}

static int number_of(ThreadId tid)
{
	return (int)call_take(tid, CALL_NUMBER);
}

/* Not even looked at, mostly. */
static Bool is_special(int number)
{
	return number == SYS_prctl || number == SYS_seccomp || pointers_matter(number);
}

static void answer_call(ThreadId tid, long result)
{
	call_put(tid, CALL_RESULT, (UWord)result);
}

/* ---- a new filter ---- */

static Bool suits_simulator(const struct sock_fprog *program)
{
	for (UInt i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		struct seccomp_data data = {.nr = needed[i], .arch = CP_BPF_ARCH};
		UInt action = cp_bpf_run(program->filter, program->len, &data) &
			      SECCOMP_RET_ACTION_FULL;

		if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG)
			return False;
	}
	return True;
}

/* A signal in the place of a call only the kernel can send. */
static Bool may_trap(const struct sock_fprog *program)
{
	for (UInt i = 0; i < program->len; i++) {
		const struct sock_filter *at = &program->filter[i];

		if (BPF_CLASS(at->code) == BPF_RET &&
			(BPF_RVAL(at->code) == BPF_A ||
				(at->k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_TRAP))
			return True;
	}
	return False;
}

/* Returns the kernel's answer, found by a child that may do nothing any more then. */
static long try_filter(const struct sock_fprog *program)
{
	static const struct vki_rlimit no_core = {0, 0};
	static const UWord default_action[8];
	volatile long result = 0;
	long child = cp_syscall(SYS_clone, (long)(VKI_CLONE_VM | VKI_CLONE_VFORK), 0);

	if (child == 0) {
		cp_syscall(SYS_rt_sigaction, (long)VKI_SIGILL, default_action, NULL,
			sizeof(UWord));
		cp_syscall(SYS_setrlimit, (long)VKI_RLIMIT_CORE, &no_core);
		result = cp_syscall(
			SYS_seccomp, (long)SECCOMP_SET_MODE_FILTER, 0, program);
		cp_syscall(SYS_exit, 0);
		__builtin_trap();
	}
	/* No process more (RLIMIT_NPROC): of what a program says the kernel asks that,
	 * too. */
	if (child < 0)
		return cp_syscall(SYS_prctl, (long)PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1
			       ? 0
			       : -VKI_EACCES;
	cp_syscall(SYS_wait4, child, NULL, (long)__WALL, NULL);
	return result;
}

static void keep_filter(ThreadId tid, const struct sock_fprog *program)
{
	struct filter *filter = VG_(calloc)("confine", 1, sizeof(*filter));

	filter->before = filters[tid];
	filter->strict = program == NULL;
	if (program) {
		SizeT size = program->len * sizeof(*program->filter);

		filter->program.len = program->len;
		filter->program.filter = VG_(malloc)("confine", size);
		VG_(memcpy)(filter->program.filter, program->filter, size);
	}
	filters[tid] = filter;
}

/* ASKS: of what there is, or for what there is not; the kernel answers. */
enum { STRICT, FILTER, ASKS, OTHER };

/* Flags of seccomp(2): for all threads, and others that are the kernel's alone.  A
 * listener is refused, as on a kernel before 5.0. */
enum { FOR_ALL = 1, LOG = 2, SPECULATES = 4, OR_FAILS = 16 };

static int kind_of(const struct seccomp_data *data, UWord *program)
{
	if (data->nr == SYS_prctl && data->args[0] == VKI_PR_SET_SECCOMP) {
		*program = data->args[2];
		return data->args[1] == SECCOMP_MODE_STRICT   ? STRICT
		       : data->args[1] == SECCOMP_MODE_FILTER ? FILTER
							      : OTHER;
	}
	if (data->nr != SYS_seccomp)
		return OTHER;
	*program = data->args[2];
	if (data->args[0] == SECCOMP_SET_MODE_STRICT && !data->args[1] && !*program)
		return STRICT;
	return data->args[0] == SECCOMP_SET_MODE_FILTER ? FILTER : ASKS;
}

static Bool is_for_all(const struct seccomp_data *data)
{
	return data->nr == SYS_seccomp && data->args[1] & FOR_ALL;
}

static Bool is_listener(const struct seccomp_data *data)
{
	return data->nr == SYS_seccomp &&
	       data->args[1] & ~(UWord)(FOR_ALL | LOG | SPECULATES | OR_FAILS);
}

/* prctl(PR_GET_SECCOMP) */
static Bool tells_mode(ThreadId tid, const struct seccomp_data *data)
{
	if (data->nr != SYS_prctl || data->args[0] != PR_GET_SECCOMP || !filters[tid])
		return False;
	answer_call(tid, SECCOMP_MODE_FILTER); /* in strict mode nobody may ask */
	return True;
}

/* If not, the kernel refuses it: so programs ask whether there are filters. */
static Bool is_program(const struct sock_fprog *program)
{
	return can_read((UWord)program, sizeof(*program)) && program->len &&
	       can_read((UWord)program->filter, program->len * sizeof(*program->filter));
}

static Bool next_thread(ThreadId *tid)
{
	Addr lowest, highest;

	return VG_(thread_stack_next)(tid, &lowest, &highest);
}

/* Is there a thread with another filter than those of this one, whose it cannot have? */
static Bool is_another(ThreadId tid)
{
	ThreadId other;

	VG_(thread_stack_reset_iter)(&other);
	while (next_thread(&other)) {
		const struct filter *filter = filters[tid];

		while (filter && filter != filters[other])
			filter = filter->before;
		if (filter != filters[other])
			return True;
	}
	return False;
}

static Bool is_for_kernel(const struct sock_fprog *program)
{
	return !is_program(program) || may_trap(program) || suits_simulator(program);
}

static long keep(ThreadId tid, const struct sock_fprog *program)
{
	long result = program ? try_filter(program) : 0;

	if (result == 0)
		keep_filter(tid, program);
	return result;
}

static void give_all(ThreadId tid)
{
	ThreadId other;

	VG_(thread_stack_reset_iter)(&other);
	while (next_thread(&other))
		filters[other] = filters[tid];
}

/* The kernel has filters of its threads, too: where it gets none, one that allows all. */
static long take_for_all(ThreadId tid, UWord flags, const struct sock_fprog *program)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog harmless = {1, &allow};
	Bool kernels = is_for_kernel(program);
	long result = kernels ? 0 : try_filter(program);

	if (result == 0 && is_another(tid))
		result = -VKI_ESRCH;
	if (result == 0)
		result = cp_syscall(SYS_seccomp, (long)SECCOMP_SET_MODE_FILTER, flags,
			kernels ? program : &harmless);
	if (result)
		return result;
	if (!kernels)
		keep_filter(tid, program);
	give_all(tid);
	return 0;
}

/* True: it is taken, or refused, here. */
static Bool takes_filter(ThreadId tid, const struct seccomp_data *data)
{
	const struct sock_fprog *program;
	UWord at = 0;
	int kind = kind_of(data, &at);
	long result;

	if (kind == OTHER)
		return False;
	program = kind == STRICT ? NULL : (const struct sock_fprog *)at;
	if (kind == FILTER && is_listener(data))
		result = -VKI_EINVAL;
	else if (kind == FILTER && is_for_all(data))
		result = take_for_all(tid, data->args[1], program);
	else if (kind == ASKS || (kind == FILTER && is_for_kernel(program)))
		result =
			cp_syscall(data->nr, data->args[0], data->args[1], data->args[2]);
	else
		result = keep(tid, program);
	answer_call(tid, result);
	return True;
}

/* ---- what is done about a call ---- */

static UInt strict_action(int number)
{
	return number == SYS_read || number == SYS_write || number == SYS_exit ||
			       number == SYS_rt_sigreturn
		       ? SECCOMP_RET_ALLOW
		       : SECCOMP_RET_KILL_PROCESS;
}

/* The strictest of all, and of those the newest; strict: it is strict mode's. */
static UInt ask_filter(
	const struct filter *filter, const struct seccomp_data *data, Bool *strict)
{
	UInt worst = SECCOMP_RET_ALLOW;

	for (; filter; filter = filter->before) {
		UInt action = filter->strict ? strict_action(data->nr)
					     : cp_bpf_run(filter->program.filter,
						       filter->program.len, data);

		if ((Int)(action & SECCOMP_RET_ACTION_FULL) >=
			(Int)(worst & SECCOMP_RET_ACTION_FULL))
			continue;
		worst = action;
		*strict = filter->strict;
	}
	return worst;
}

static Bool is_allowed(ThreadId tid, const struct seccomp_data *data)
{
	Bool strict = False;
	UInt action = ask_filter(filters[tid], data, &strict),
	     why = action & SECCOMP_RET_DATA;

	switch (action & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return True;
	case SECCOMP_RET_ERRNO:
		answer_call(tid, -(long)(why < 4095 ? why : 4095));
		return False;
	case SECCOMP_RET_TRACE: /* nobody traces */
	case SECCOMP_RET_USER_NOTIF:
		answer_call(tid, -VKI_ENOSYS);
		return False;
	}
	threads_sync();
	__wrap_vgPlain_kill_self(strict ? VKI_SIGKILL : VKI_SIGSYS);
	return False;
}

static Bool fails_by_pointers(ThreadId tid, const struct seccomp_data *data)
{
	long result;

	if (!pointers_are_bad(data, &result))
		return False;
	answer_call(tid, result);
	return True;
}

static void ask_core(ThreadId tid, UInt trace)
{
	Int number = number_of(tid);
	struct space_call space = space_look(tid, number);
	struct clone_call clone = clone_before(tid, number);
	struct hidden_call hidden = hidden_before(tid, number);

	pin_before(tid, number);
	if (!hidden_answers(tid, number, &hidden) && !descriptors_refuse(tid, number) &&
		!space_refuses(tid, &space) && !remap_answers(tid, number)) {
		hidden_links(tid, number, &hidden);
		__real_vgPlain_client_syscall(tid, trace);
	}
	if (space_change(tid, &space))
		__real_vgPlain_client_syscall(tid, trace);
	space_restore(tid, &space);
	hidden_behind(tid, number, &hidden);
	clone_behind(tid, &clone);
	pin_behind(tid);
}

static void make_call(ThreadId tid, UInt trace)
{
	UWord heap_end;
	long result;

	if (newer_answers(tid, (UInt)number_of(tid), &result))
		answer_call(tid, result);
	else if (space_is_full(number_of(tid)))
		answer_call(tid, -VKI_ENOMEM);
	else if (sent_refuses(tid, number_of(tid)))
		answer_call(tid, -VKI_EINVAL);
	else if (heap_changes(tid, number_of(tid), &heap_end))
		answer_call(tid, (long)heap_end);
	else
		ask_core(tid, trace);
}

void __wrap_vgPlain_client_syscall(ThreadId tid, UInt trace)
{
	struct seccomp_data data;

	if (!filters[tid] && !is_special(number_of(tid))) {
		make_call(tid, trace);
		return;
	}
	read_call(tid, &data);
	/* The library knows what it may do (preload/program/seccomp.c). */
	if (filters[tid] && !is_allowed(tid, &data))
		return;
	if (!tells_mode(tid, &data) && !takes_filter(tid, &data) &&
		!fails_by_pointers(tid, &data))
		make_call(tid, trace);
}

/* From the first to the last, as the program had them. */
static void give_filter(const struct filter *filter)
{
	if (!filter)
		return;
	give_filter(filter->before);
	if (!filter->strict)
		cp_syscall(
			SYS_seccomp, (long)SECCOMP_SET_MODE_FILTER, 0, &filter->program);
}

void confine_exec(ThreadId tid)
{
	give_filter(filters[tid]);
}
