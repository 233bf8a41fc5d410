/* SPDX-License-Identifier: MIT
 *
 * Filters of seccomp: classic BPF, as far as the kernel takes it.  For the library, and
 * for the simulated PMU, which has no libc.
 */
#ifndef CACHEPEEK_BASE_BPF_H
#define CACHEPEEK_BASE_BPF_H

#include <elf.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define CP_BPF_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CP_BPF_ARCH AUDIT_ARCH_AARCH64
#else
#define CP_BPF_ARCH 0
#endif

struct cp_bpf_machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
	const struct seccomp_data *data;
	const struct sock_filter *at, *end;
};

static inline uint32_t cp_bpf_load(const struct cp_bpf_machine *machine, uint32_t offset)
{
	uint32_t word = 0;

	if (offset <= sizeof(*machine->data) - sizeof(word))
		__builtin_memcpy(
			&word, (const char *)machine->data + offset, sizeof(word));
	return word;
}

/* BPF_LD and BPF_LDX. */
static inline uint32_t cp_bpf_loaded(const struct cp_bpf_machine *machine)
{
	switch (BPF_MODE(machine->at->code)) {
	case BPF_IMM:
		return machine->at->k;
	case BPF_MEM:
		return machine->memory[machine->at->k % BPF_MEMWORDS];
	case BPF_LEN:
		return sizeof(*machine->data);
	default:
		return cp_bpf_load(machine, machine->at->k);
	}
}

static inline void cp_bpf_calculate(struct cp_bpf_machine *machine, uint32_t operand)
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

static inline void cp_bpf_jump(struct cp_bpf_machine *machine, uint32_t operand)
{
	const struct sock_filter *at = machine->at;
	uint32_t a = machine->a;
	bool taken = false;

	switch (BPF_OP(at->code)) {
	case BPF_JA:
		machine->at += at->k < BPF_MAXINSNS ? at->k : BPF_MAXINSNS;
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
static inline void cp_bpf_step(struct cp_bpf_machine *machine)
{
	const struct sock_filter *at = machine->at;
	uint32_t operand = BPF_SRC(at->code) == BPF_X ? machine->x : at->k;

	switch (BPF_CLASS(at->code)) {
	case BPF_LD:
		machine->a = cp_bpf_loaded(machine);
		break;
	case BPF_LDX:
		machine->x = cp_bpf_loaded(machine);
		break;
	case BPF_ST:
		machine->memory[at->k % BPF_MEMWORDS] = machine->a;
		break;
	case BPF_STX:
		machine->memory[at->k % BPF_MEMWORDS] = machine->x;
		break;
	case BPF_ALU:
		cp_bpf_calculate(machine, operand);
		break;
	case BPF_JMP:
		cp_bpf_jump(machine, operand);
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

/* Runs the filter on a system call; returns its action and the action's data.  Jumps go
 * forward only. */
static inline uint32_t cp_bpf_run(
	const struct sock_filter *filter, size_t length, const struct seccomp_data *data)
{
	struct cp_bpf_machine machine = {
		.data = data, .at = filter, .end = filter + length};

	while (machine.at < machine.end) {
		uint16_t code = machine.at->code;

		if (BPF_CLASS(code) == BPF_RET)
			return BPF_RVAL(code) == BPF_A ? machine.a : machine.at->k;
		cp_bpf_step(&machine);
	}
	return SECCOMP_RET_KILL_PROCESS;
}

#endif
