/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/disassemble.h"

#include <capstone/capstone.h>
#include <elf.h>
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

/* ---- for (p = table[i]; ...; p = p->next) ---- */

#define NEAR_TABLE 48 /* instructions */
#define MOST_COPIES 8u

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

/* The registers that have the first node, or what it points to. */
struct nodes {
	unsigned n, in[MOST_COPIES];
};

static bool has_node(const struct nodes *nodes, unsigned reg)
{
	for (unsigned i = 0; reg && i < nodes->n; i++)
		if (is_same_register(nodes->in[i], reg))
			return true;
	return false;
}

/* The register that a move from register to register reads; 0: it is no such move. */
static unsigned source_of_copy(unsigned machine, const cs_insn *instruction)
{
	cs_regs read, written;
	uint8_t nread, nwritten;

	if ((machine == EM_X86_64 ? strncmp(instruction->mnemonic, "mov", 3)
				  : strcmp(instruction->mnemonic, "mov")) != 0 ||
		cs_regs_access(handle, instruction, read, &nread, written, &nwritten) !=
			CS_ERR_OK ||
		nread != 1 || nwritten != 1)
		return 0;
	return read[0];
}

/* The register that this one copies a node's address to; 0: none. */
static unsigned copy_of_node(
	unsigned machine, const struct nodes *nodes, const cs_insn *instruction)
{
	unsigned source = source_of_copy(machine, instruction);
	cs_regs read, written;
	uint8_t nread, nwritten;

	if (!has_node(nodes, source) || cs_regs_access(handle, instruction, read, &nread,
						written, &nwritten) != CS_ERR_OK)
		return 0;
	return written[0];
}

/* A value that it loads by the node's address is a node, too, as far as it knows. */
static void pass_instruction(
	unsigned machine, struct nodes *nodes, const cs_insn *instruction)
{
	struct access access = access_of(machine, instruction);
	unsigned more = has_node(nodes, access.base)
				? access.loaded
				: copy_of_node(machine, nodes, instruction);

	for (unsigned i = 0; i < nodes->n; i++)
		if (writes(instruction, nodes->in[i]))
			nodes->in[i--] = nodes->in[--nodes->n];
	if (more && nodes->n < MOST_COPIES)
		nodes->in[nodes->n++] = more;
}

static bool begins_in_array(unsigned machine, const cs_insn *code, size_t n, size_t at)
{
	unsigned base = access_of(machine, &code[at]).base;
	struct nodes nodes = {0};

	for (size_t i = at > NEAR_TABLE ? at - NEAR_TABLE : 0; i < at && i < n; i++)
		if (loads_by_index(machine, &code[i]))
			nodes = (struct nodes){1, {access_of(machine, &code[i]).loaded}};
		else
			pass_instruction(machine, &nodes, &code[i]);
	return has_node(&nodes, base);
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

/* ---- for (i = 0; i < n; i++) array[i]->x ---- */

#define MOST_STEPS 4u /* from the address to what it is reckoned from */

struct loop {
	unsigned machine;
	const cs_insn *code;
	size_t from, to; /* its instructions */
};

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

/* The innermost one: of the jumps behind the instruction that go back, the one that goes
 * least far.  Empty: there is none. */
static struct loop loop_around(unsigned machine, const cs_insn *code, size_t n, size_t at)
{
	struct loop loop = {machine, code, at, at};
	uint64_t begin = code[0].address;

	for (size_t i = at; i < n; i++) {
		uint64_t target = jump_target(machine, &code[i]);

		if (target < begin || target > code[at].address)
			continue;
		begin = target;
		loop.to = i + 1;
	}
	while (loop.to > at && loop.from && code[loop.from].address > begin)
		loop.from--;
	return loop;
}

/* Optimized code keeps on its stack mostly what loops count by. */
static bool is_stack_pointer(unsigned machine, unsigned reg)
{
	return machine == EM_X86_64 && reg == X86_REG_RSP;
}

/* As where there is no next node, on a path of its own: it says nothing of the others. */
static bool clears(const struct loop *loop, const cs_insn *instruction)
{
	const cs_x86 *x86 = &instruction->detail->x86;

	return loop->machine == EM_X86_64 && instruction->id == X86_INS_XOR &&
	       x86->operands[0].type == X86_OP_REG &&
	       x86->operands[1].type == X86_OP_REG &&
	       x86->operands[0].reg == x86->operands[1].reg;
}

/* The instruction that wrote the register last before that one, in its loop or in the
 * round before; loop->to: none does. */
static size_t last_write(const struct loop *loop, size_t before, unsigned reg)
{
	size_t length = loop->to - loop->from;

	for (size_t back = 1; back <= length; back++) {
		size_t at = loop->from + (before - loop->from + length - back) % length;

		if (writes(&loop->code[at], reg) && !clears(loop, &loop->code[at]))
			return at;
	}
	return loop->to;
}

enum origin {
	STAYS,    /* in the loop */
	RECKONED, /* by arithmetic, or loaded from where that says */
	LOADED,   /* from a variable, or by what was loaded before, however far back */
};

static enum origin origin_of(
	const struct loop *loop, size_t before, unsigned reg, unsigned steps);

/* The origin of what an instruction loads from there. */
static enum origin origin_of_load(
	const struct loop *loop, size_t at, struct spot from, unsigned steps)
{
	enum origin base = origin_of(loop, at, from.base, steps),
		    index = origin_of(loop, at, from.index, steps);

	if (is_stack_pointer(loop->machine, from.base))
		return RECKONED;
	return base != LOADED && index != LOADED && base + index != STAYS ? RECKONED
									  : LOADED;
}

static enum origin origin_of(
	const struct loop *loop, size_t before, unsigned reg, unsigned steps)
{
	size_t at = reg ? last_write(loop, before, reg) : loop->to;
	unsigned source;
	struct spot from;

	if (at == loop->to)
		return STAYS;
	if (!steps)
		return LOADED;
	from = spot_of(loop->machine, &loop->code[at]);
	if (from.reads && !from.writes)
		return origin_of_load(loop, at, from, steps - 1);
	source = source_of_copy(loop->machine, &loop->code[at]);
	return source ? origin_of(loop, at, source, steps - 1) : RECKONED;
}

static bool is_in_array(unsigned machine, const cs_insn *code, size_t n, size_t at)
{
	struct loop loop = loop_around(machine, code, n, at);
	unsigned base = access_of(machine, &code[at]).base;
	size_t written = base ? last_write(&loop, at, base) : loop.to;

	return written < loop.to && spot_of(machine, &code[written]).reads &&
	       origin_of(&loop, at, base, MOST_STEPS) == RECKONED;
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
	return any_at(machine, code, address, begins_in_array);
}

bool cp_disassemble_indexes(
	unsigned machine, const struct cp_code *code, uint64_t address)
{
	return any_at(machine, code, address, is_in_array);
}

bool cp_disassemble_updates(
	unsigned machine, const struct cp_code *code, uint64_t address)
{
	return any_at(machine, code, address, updates_memory);
}
