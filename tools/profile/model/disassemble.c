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

/* Does it copy this register to that one, if only on some condition? */
static bool x86_copies(const cs_x86 *x86, unsigned from, unsigned to)
{
	const cs_x86_op *one = &x86->operands[0], *other = &x86->operands[1];

	if (x86->op_count != 2 || one->type != X86_OP_REG || other->type != X86_OP_REG)
		return false;
	return one->access & CS_AC_WRITE ? one->reg == to && other->reg == from
					 : one->reg == from && other->reg == to;
}

static bool arm64_copies(const cs_arm64 *arm, unsigned from, unsigned to)
{
	if (arm->op_count < 2 || arm->operands[0].type != ARM64_OP_REG ||
		arm->operands[0].reg != to)
		return false;
	for (uint8_t i = 1; i < arm->op_count; i++)
		if (arm->operands[i].type == ARM64_OP_REG && arm->operands[i].reg == from)
			return true;
	return false;
}

static bool copies(
	unsigned machine, const cs_insn *instruction, unsigned from, unsigned to)
{
	const char *name = instruction->mnemonic;

	if (machine == EM_X86_64)
		return (strncmp(name, "mov", 3) == 0 || strncmp(name, "cmov", 4) == 0) &&
		       x86_copies(&instruction->detail->x86, from, to);
	return (strcmp(name, "mov") == 0 || strcmp(name, "csel") == 0) &&
	       arm64_copies(&instruction->detail->arm64, from, to);
}

/* Are they one register, or the halves of one: rax and eax, r8 and r8d, x0 and w0? */
static bool is_same_register(unsigned one, unsigned other)
{
	const char *a = cs_reg_name(handle, one) + 1, *b = cs_reg_name(handle, other) + 1;
	size_t same = strspn(a, "0123456789");

	return strcmp(a, b) == 0 ||
	       (same && strncmp(a, b, same) == 0 && strspn(b, "0123456789") == same);
}

static bool writes(const cs_insn *instruction, unsigned reg)
{
	cs_regs read, written;
	uint8_t nread, nwritten;

	if (cs_regs_access(handle, instruction, read, &nread, written, &nwritten) !=
		CS_ERR_OK)
		return true;
	for (uint8_t i = 0; i < nwritten; i++)
		if (is_same_register(written[i], reg))
			return true;
	return false;
}

/* Where it jumps to; 0: it does not, or elsewhere. */
static uint64_t jump_target(unsigned machine, const cs_insn *instruction)
{
	const cs_detail *detail = instruction->detail;

	if (!cs_insn_group(handle, instruction, CS_GRP_JUMP))
		return 0;
	if (machine == EM_X86_64)
		return detail->x86.operands[0].type == X86_OP_IMM
			       ? (uint64_t)detail->x86.operands[0].imm
			       : 0;
	for (uint8_t i = 0; i < detail->arm64.op_count; i++)
		if (detail->arm64.operands[i].type == ARM64_OP_IMM)
			return (uint64_t)detail->arm64.operands[i].imm;
	return 0;
}

enum follow { IS_LOADED, IS_ADDRESS, IS_LOST };

/* Of these instructions: what is loaded becomes the address, before it is something else,
 * and stays that. */
static enum follow follow_loaded(unsigned machine, const cs_insn *code, size_t from,
	size_t to, struct access access, enum follow how)
{
	for (size_t i = from; i < to; i++) {
		if (copies(machine, &code[i], access.loaded, access.base))
			how = IS_ADDRESS;
		else if (writes(&code[i],
				 how == IS_ADDRESS ? access.base : access.loaded))
			return IS_LOST;
	}
	return how;
}

/* The first instruction behind the load's loop, where target is its beginning; 0: no
 * jump goes there. */
static size_t end_of_loop(
	unsigned machine, const cs_insn *code, size_t at, size_t end, uint64_t *target)
{
	for (size_t i = at + 1; i < end; i++) {
		*target = jump_target(machine, &code[i]);
		if (*target >= code[0].address && *target <= code[at].address)
			return i + 1;
	}
	*target = 0;
	return end;
}

/* Behind the load, to the end of its loop, and from the beginning of that. */
static bool becomes_address(unsigned machine, const cs_insn *code, size_t end, size_t at,
	struct access access)
{
	uint64_t target;
	size_t behind = end_of_loop(machine, code, at, end, &target), first = 0;
	enum follow how = follow_loaded(machine, code, at + 1, behind, access, IS_LOADED);

	if (how == IS_LOST || !target)
		return how == IS_ADDRESS;
	while (code[first].address < target)
		first++;
	return follow_loaded(machine, code, first, at, access, how) == IS_ADDRESS;
}

/* The load near that one by which its address is what is loaded by that address,
 * p = p->next; or by way of another register, next = p->next; p = next; it may read the
 * one or the other.  n: none. */
static size_t load_of_next(unsigned machine, const cs_insn *code, size_t n, size_t at)
{
	unsigned base = access_of(machine, &code[at]).base;
	size_t from = at > NEAR ? at - NEAR : 0, to = at + NEAR < n ? at + NEAR : n;

	for (size_t i = from; base && i < to; i++) {
		struct access access = access_of(machine, &code[i]);

		if (access.loaded && access.base &&
			(access.base == base || is_same_register(access.loaded, base)) &&
			(is_same_register(access.loaded, access.base) ||
				becomes_address(machine, code, to, i, access)))
			return i;
	}
	return n;
}

/* ---- for (p = table[i]; ...; p = p->next) ---- */

#define NEAR_TABLE 32 /* instructions */

static bool x86_scales(const cs_x86 *x86)
{
	for (uint8_t i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM &&
			x86->operands[i].mem.index != X86_REG_INVALID)
			return x86->operands[i].mem.scale >= 4;
	return false;
}

static bool arm64_scales(const cs_arm64 *arm)
{
	for (uint8_t i = 0; i < arm->op_count; i++)
		if (arm->operands[i].type == ARM64_OP_MEM &&
			arm->operands[i].mem.index != ARM64_REG_INVALID)
			return arm->operands[i].shift.value >= 2;
	return false;
}

static bool loads_by_index(unsigned machine, const cs_insn *instruction)
{
	return access_of(machine, instruction).loaded &&
	       (machine == EM_X86_64 ? x86_scales(&instruction->detail->x86)
				     : arm64_scales(&instruction->detail->arm64));
}

/* Where the node is from whose successor is loaded at `next`: what is loaded at `from`,
 * or a copy of it, or what that points to? */
static bool begins_chain(unsigned machine, const cs_insn *code, size_t from, size_t next)
{
	unsigned base = access_of(machine, &code[next]).base,
		 head = access_of(machine, &code[from]).loaded;

	for (size_t i = from + 1; i < next && !is_same_register(head, base); i++) {
		struct access access = access_of(machine, &code[i]);

		if (copies(machine, &code[i], head, base))
			return true;
		if (access.loaded && access.base && is_same_register(access.base, head))
			head = access.loaded;
		else if (writes(&code[i], head))
			return false;
	}
	return is_same_register(head, base);
}

static bool chases_from_table(unsigned machine, const cs_insn *code, size_t n, size_t at)
{
	size_t next = load_of_next(machine, code, n, at);

	for (size_t i = next < n && next > NEAR_TABLE ? next - NEAR_TABLE : 0;
		next < n && i < next; i++)
		if (loads_by_index(machine, &code[i]) &&
			begins_chain(machine, code, i, next))
			return true;
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
	for (size_t i = 0; i < n && !found; i++)
		found = code[i].address == address && does(machine, code, n, i);
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_OFF);
	if (n)
		cs_free(code, n);
	return found;
}

bool cp_disassemble_chains(unsigned machine, const struct cp_code *code, uint64_t address)
{
	return any_at(machine, code, address, chases_from_table);
}

bool cp_disassemble_updates(
	unsigned machine, const struct cp_code *code, uint64_t address)
{
	return any_at(machine, code, address, updates_memory);
}
