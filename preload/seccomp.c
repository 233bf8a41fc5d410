/* SPDX-License-Identifier: MIT */
#include "preload/seccomp.h"

#include <elf.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/map.h"
#include "preload/engine/rusage.h"
#include "preload/fatal.h"
#include "preload/helper.h"
#include "preload/sampling/sampling.h"
#include "preload/runtime.h"
#include "preload/threads.h"

#define MAX_STEPS 4096 /* BPF_MAXINSNS: jumps go forward only */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0
#endif

/* What reading counters, growing the record and writing the report need. */
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

/* What fatal.c does about a signal. */
static const int needed_by_signals[] = {SYS_rt_sigaction, SYS_rt_tgsigqueueinfo,
	SYS_tgkill, SYS_rt_sigreturn, SYS_getpid, SYS_gettid};

/* ---- classic BPF, as far as seccomp takes it ---- */

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
	struct seccomp_data data;
	const struct sock_filter *at, *end;
};

static uint32_t load(const struct machine *machine, uint32_t offset)
{
	uint32_t word = 0;

	if (offset <= sizeof(machine->data) - sizeof(word))
		memcpy(&word, (const char *)&machine->data + offset, sizeof(word));
	return word;
}

/* BPF_LD and BPF_LDX. */
static uint32_t loaded(const struct machine *machine)
{
	switch (BPF_MODE(machine->at->code)) {
	case BPF_IMM:
		return machine->at->k;
	case BPF_MEM:
		return machine->memory[machine->at->k % BPF_MEMWORDS];
	case BPF_LEN:
		return sizeof(machine->data);
	default:
		return load(machine, machine->at->k);
	}
}

static void calculate(struct machine *machine, uint32_t operand)
{
	uint32_t *a = &machine->a;

	switch (BPF_OP(machine->at->code)) {
	case BPF_ADD:
		*a += operand;
		break;
	case BPF_SUB:
		*a -= operand;
		break;
	case BPF_MUL:
		*a *= operand;
		break;
	case BPF_DIV:
		*a = operand ? *a / operand : 0;
		break;
	case BPF_OR:
		*a |= operand;
		break;
	case BPF_AND:
		*a &= operand;
		break;
	case BPF_XOR:
		*a ^= operand;
		break;
	case BPF_LSH:
		*a = operand < 32 ? *a << operand : 0;
		break;
	case BPF_RSH:
		*a = operand < 32 ? *a >> operand : 0;
		break;
	case BPF_NEG:
		*a = -*a;
		break;
	}
}

static void jump(struct machine *machine, uint32_t operand)
{
	const struct sock_filter *at = machine->at;
	uint32_t a = machine->a;
	bool taken = false;

	switch (BPF_OP(at->code)) {
	case BPF_JA:
		machine->at += at->k < MAX_STEPS ? at->k : MAX_STEPS;
		return;
	case BPF_JEQ:
		taken = a == operand;
		break;
	case BPF_JGT:
		taken = a > operand;
		break;
	case BPF_JGE:
		taken = a >= operand;
		break;
	case BPF_JSET:
		taken = a & operand;
		break;
	}
	machine->at += taken ? at->jt : at->jf;
}

/* One instruction that does not return. */
static void step(struct machine *machine)
{
	const struct sock_filter *at = machine->at;
	uint32_t operand = BPF_SRC(at->code) == BPF_X ? machine->x : at->k;

	switch (BPF_CLASS(at->code)) {
	case BPF_LD:
		machine->a = loaded(machine);
		break;
	case BPF_LDX:
		machine->x = loaded(machine);
		break;
	case BPF_ST:
		machine->memory[at->k % BPF_MEMWORDS] = machine->a;
		break;
	case BPF_STX:
		machine->memory[at->k % BPF_MEMWORDS] = machine->x;
		break;
	case BPF_ALU:
		calculate(machine, operand);
		break;
	case BPF_JMP:
		jump(machine, operand);
		break;
	case BPF_MISC:
		if (BPF_MISCOP(at->code) == BPF_TAX)
			machine->x = machine->a;
		else
			machine->a = machine->x;
		break;
	}
	machine->at++;
}

static bool passes(const struct sock_fprog *program, int number)
{
	struct machine machine = {.data = {.nr = number, .arch = ARCH},
		.at = program->filter,
		.end = program->filter + program->len};

	while (machine.at < machine.end) {
		uint16_t code = machine.at->code;

		if (BPF_CLASS(code) == BPF_RET) {
			uint32_t value =
				BPF_RVAL(code) == BPF_A ? machine.a : machine.at->k;

			return (value & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ALLOW ||
			       (value & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_LOG;
		}
		step(&machine);
	}
	return false;
}

static bool all_pass(const struct sock_fprog *program, const int numbers[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!passes(program, numbers[i]))
			return false;
	return true;
}

#define ALL_PASS(program, numbers)                                                       \
	all_pass(program, numbers, sizeof(numbers) / sizeof((numbers)[0]))

/* ---- */

/* In strict mode even a look at the clock is deadly, and what is left to the
 * thread is to compute and to end: its counts end here. */
static void leave_strict_thread(void)
{
	cp_say("thread %d enters seccomp's strict mode: it is counted up to here. If no "
	       "report follows: `cachepeek report %s`",
		(int)gettid(), cp_runtime.directory);
	cp_thread_end();
}

void cp_seccomp_before(const struct sock_fprog *filter)
{
	if (!cp_counting() || getpid() != cp_runtime.pid)
		return;
	cp_helpers_stop(); /* they make system calls */
	cp_sampling_flush();
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
	if (!done || ALL_PASS(filter, needed))
		return;
	cp_log_only_write = true;
	cp_map_stop();
	cp_fd_limits_stop();
	cp_runtime.record.sealed = true;
	cp_rusage_stop();
	__atomic_store_n(&cp_runtime.confined, true, __ATOMIC_RELEASE);
}
