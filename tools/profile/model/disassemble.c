/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/disassemble.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "base/text/table.h"

static csh handle;
static unsigned opened_for; /* EM_NONE: for nobody yet */

static bool open_for(unsigned machine)
{
	cs_err error = CS_ERR_ARCH;

	if (opened_for == machine)
		return true;
	if (opened_for != EM_NONE)
		cs_close(&handle);
	opened_for = EM_NONE;
	if (machine == EM_X86_64)
		error = cs_open(CS_ARCH_X86, CS_MODE_64, &handle);
	else if (machine == EM_AARCH64)
		error = cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &handle);
	if (error != CS_ERR_OK)
		return false;
	if (machine == EM_X86_64)
		cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	opened_for = machine;
	return true;
}

const char *cp_disassemble(struct cp_arena *arena, unsigned machine, const uint8_t *bytes,
	size_t size, uint64_t address)
{
	const char *text = "";
	cs_insn *instruction;

	if (!open_for(machine) ||
		cs_disasm(handle, bytes, size, address, 1, &instruction) != 1)
		return "";
	text = cp_text_format(arena, "%s %s", instruction->mnemonic, instruction->op_str);
	cs_free(instruction, 1);
	return text;
}

/* ---- p = p->next ---- */

#define NEAR 16 /* instructions */

/* The register that an instruction loads, and the one that its address is in. */
struct access {
	unsigned base, loaded; /* 0: none */
};

static struct access x86_access(const cs_x86 *x86)
{
	struct access access = {0};

	for (uint8_t i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM &&
			x86->operands[i].mem.index == X86_REG_INVALID)
			access.base = x86->operands[i].mem.base;
	if (x86->op_count == 2 && x86->operands[0].type == X86_OP_REG &&
		x86->operands[1].type == X86_OP_MEM)
		access.loaded = x86->operands[0].reg;
	else if (x86->op_count == 2 && x86->operands[1].type == X86_OP_REG &&
		 x86->operands[0].type == X86_OP_MEM &&
		 x86->operands[1].access & CS_AC_WRITE)
		access.loaded = x86->operands[1].reg;
	return access;
}

static struct access arm64_access(const cs_arm64 *arm)
{
	struct access access = {0};

	for (uint8_t i = 0; i < arm->op_count; i++)
		if (arm->operands[i].type == ARM64_OP_MEM)
			access.base = arm->operands[i].mem.base;
	if (access.base && arm->op_count == 2 && arm->operands[0].type == ARM64_OP_REG)
		access.loaded = arm->operands[0].reg;
	return access;
}

static struct access access_of(unsigned machine, const cs_insn *instruction)
{
	if (machine == EM_X86_64 &&
		(instruction->id == X86_INS_LEA || instruction->id == X86_INS_NOP))
		return (struct access){0};
	return machine == EM_X86_64 ? x86_access(&instruction->detail->x86)
				    : arm64_access(&instruction->detail->arm64);
}

static bool chases_pointers(unsigned machine, const cs_insn *code, size_t n, size_t at)
{
	unsigned base = access_of(machine, &code[at]).base;
	size_t from = at > NEAR ? at - NEAR : 0, to = at + NEAR < n ? at + NEAR : n;

	for (size_t i = from; base && i < to; i++) {
		struct access access = access_of(machine, &code[i]);

		if (access.base == base && access.loaded == base)
			return true;
	}
	return false;
}

/* ---- table[i]++ ---- */

#define NEAR_UPDATE 8 /* instructions */

/* Where in memory an instruction reads or writes, in terms of registers. */
struct spot {
	int64_t displacement;
	unsigned base, index, scale;
	bool reads, writes;
};

static struct spot x86_spot(const cs_x86 *x86)
{
	for (uint8_t i = 0; i < x86->op_count; i++) {
		const cs_x86_op *operand = &x86->operands[i];

		if (operand->type == X86_OP_MEM)
			return (struct spot){operand->mem.disp, operand->mem.base,
				operand->mem.index, (unsigned)operand->mem.scale,
				operand->access & CS_AC_READ,
				operand->access & CS_AC_WRITE};
	}
	return (struct spot){0};
}

static struct spot arm64_spot(const cs_arm64 *arm, bool stores)
{
	for (uint8_t i = 0; i < arm->op_count; i++) {
		const cs_arm64_op *operand = &arm->operands[i];

		if (operand->type == ARM64_OP_MEM)
			return (struct spot){operand->mem.disp, operand->mem.base,
				operand->mem.index, operand->shift.value, !stores,
				stores};
	}
	return (struct spot){0};
}

static struct spot spot_of(unsigned machine, const cs_insn *instruction)
{
	const struct spot none = {0};

	if (machine != EM_X86_64)
		return arm64_spot(&instruction->detail->arm64,
			strncmp(instruction->mnemonic, "st", 2) == 0);
	if (instruction->id == X86_INS_LEA || instruction->id == X86_INS_NOP)
		return none;
	return x86_spot(&instruction->detail->x86);
}

static bool updates_memory(unsigned machine, const cs_insn *code, size_t n, size_t at)
{
	struct spot spot = spot_of(machine, &code[at]);

	if (!spot.reads || spot.writes)
		return spot.reads;
	for (size_t i = at + 1; i < n && i <= at + NEAR_UPDATE; i++) {
		struct spot other = spot_of(machine, &code[i]);

		if (other.writes && other.base == spot.base &&
			other.index == spot.index && other.scale == spot.scale &&
			other.displacement == spot.displacement)
			return true;
	}
	return false;
}

/* ---- a function's code ---- */

static bool any_at(unsigned machine, const struct cp_code *in, uint64_t address,
	bool (*does)(unsigned machine, const cs_insn *code, size_t n, size_t at))
{
	bool found = false;
	cs_insn *code;
	size_t n;

	if (!open_for(machine))
		return false;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	n = cs_disasm(handle, in->bytes, in->size, in->start, 0, &code);
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_OFF);
	for (size_t i = 0; i < n && !found; i++)
		found = code[i].address == address && does(machine, code, n, i);
	if (n)
		cs_free(code, n);
	return found;
}

bool cp_disassemble_chases(unsigned machine, const struct cp_code *code, uint64_t address)
{
	return any_at(machine, code, address, chases_pointers);
}

bool cp_disassemble_updates(
	unsigned machine, const struct cp_code *code, uint64_t address)
{
	return any_at(machine, code, address, updates_memory);
}
