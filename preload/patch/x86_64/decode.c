/* SPDX-License-Identifier: MIT */
#include "preload/patch/x86_64/decode.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"

/* ---- memory: capstone's comes from ours, and is kept ---- */

/* The decoder, which only the thread uses that patches. */
static struct {
	struct cp_store store;
	csh handle;
	cs_insn *instruction;
} decoder;

static void *take_memory(size_t size)
{
	size_t *block = cp_store_take(&decoder.store, size + 16);

	if (!block)
		return NULL;
	*block = size;
	return block + 2;
}

static void *take_many(size_t count, size_t size)
{
	size_t total;

	return __builtin_mul_overflow(count, size, &total) ? NULL : take_memory(total);
}

static void *take_more(void *old, size_t size)
{
	size_t had = old ? ((size_t *)old)[-2] : 0;
	void *grown = take_memory(size);

	if (grown && had)
		memcpy(grown, old, had < size ? had : size);
	return grown;
}

static void keep_memory(void *memory)
{
	(void)memory;
}

/* Texts of instructions are read by nobody. */
static int print_nothing(char *to, size_t size, const char *format, va_list arguments)
{
	(void)format;
	(void)arguments;
	if (size > 0)
		*to = '\0';
	return 0;
}

int cp_decode_start(void)
{
	cs_opt_mem memory = {
		take_memory, take_many, take_more, keep_memory, print_nothing};

	if (cs_option(0, CS_OPT_MEM, (size_t)&memory) != CS_ERR_OK ||
		cs_open(CS_ARCH_X86, CS_MODE_64, &decoder.handle) != CS_ERR_OK ||
		cs_option(decoder.handle, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK)
		return -ENOMEM;
	decoder.instruction = cs_malloc(decoder.handle);
	return decoder.instruction ? 0 : -ENOMEM;
}

/* ---- what an instruction is ---- */

static bool is_in(const cs_insn *i, unsigned group)
{
	for (unsigned g = 0; g < i->detail->groups_count; g++)
		if (i->detail->groups[g] == group)
			return true;
	return false;
}

static bool is_relative(const cs_insn *i)
{
	const cs_x86 *x86 = &i->detail->x86;

	return x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;
}

static bool is_padding(const cs_insn *i)
{
	return i->id == X86_INS_NOP || i->id == X86_INS_INT3 ||
	       (i->id == X86_INS_XCHG && i->size == 2 && i->bytes[0] == 0x66 &&
		       i->bytes[1] == 0x90);
}

static bool ends_path(const cs_insn *i)
{
	return is_in(i, X86_GRP_RET) || is_in(i, X86_GRP_IRET) || i->id == X86_INS_UD2 ||
	       i->id == X86_INS_HLT;
}

/* Behind prefixes. */
static const uint8_t *opcode_of(const cs_insn *i)
{
	const uint8_t *at = i->bytes;

	while (at < i->bytes + i->size - 1 &&
		(*at == 0xf2 || *at == 0xf3 || *at == 0x3e || *at == 0x2e || *at == 0x66))
		at++;
	return at;
}

/* Jumps and branches whose long forms are told by their first bytes. */
static enum cp_instruction_kind kind_of_jump(const cs_insn *i, uint8_t *condition)
{
	const uint8_t *op = opcode_of(i);

	if (*op == 0xeb || *op == 0xe9)
		return CP_JUMP;
	*condition = *op == 0x0f ? op[1] & 0xf : *op & 0xf;
	if ((*op & 0xf0) == 0x70 || (*op == 0x0f && (op[1] & 0xf0) == 0x80))
		return CP_BRANCH;
	return CP_RELATIVE;
}

static enum cp_instruction_kind kind_of(const cs_insn *i, uint8_t *condition)
{
	if (is_padding(i))
		return CP_PADDING;
	if (is_in(i, X86_GRP_CALL))
		return !is_relative(i)         ? CP_CALL_INDIRECT
		       : *opcode_of(i) == 0xe8 ? CP_CALL
					       : CP_RELATIVE;
	if (is_in(i, X86_GRP_JUMP) && !is_relative(i))
		return CP_END;
	if (i->id == X86_INS_XBEGIN)
		return CP_RELATIVE;
	if (is_in(i, X86_GRP_JUMP) || is_in(i, X86_GRP_BRANCH_RELATIVE))
		return kind_of_jump(i, condition);
	return ends_path(i) ? CP_END : CP_PLAIN;
}

/* Capstone's immediate is the target itself. */
static uintptr_t target_of(const cs_insn *i)
{
	return is_relative(i) ? (uintptr_t)i->detail->x86.operands[0].imm : 0;
}

static void look_at_memory(const cs_insn *i, struct cp_instruction *to)
{
	const cs_x86 *x86 = &i->detail->x86;

	for (unsigned o = 0; o < x86->op_count; o++) {
		const cs_x86_op *operand = &x86->operands[o];

		if (operand->type == X86_OP_REG && operand->reg == X86_REG_RSP)
			to->uses_stack_pointer = true;
		if (operand->type != X86_OP_MEM)
			continue;
		if (operand->mem.base == X86_REG_RSP)
			to->uses_stack_pointer = true;
		if (operand->mem.base == X86_REG_RIP)
			to->displacement_at = x86->encoding.disp_offset;
		if (operand->mem.base == X86_REG_EIP)
			to->kind = CP_RELATIVE;
	}
}

struct cp_instruction cp_decode(const uint8_t *code, size_t size, uintptr_t address)
{
	struct cp_instruction result = {.kind = CP_NO_INSTRUCTION};
	uint64_t at = address;

	if (!cs_disasm_iter(decoder.handle, &code, &size, &at, decoder.instruction))
		return result;
	result.size = (uint8_t)decoder.instruction->size;
	result.kind = kind_of(decoder.instruction, &result.condition);
	result.target = target_of(decoder.instruction);
	look_at_memory(decoder.instruction, &result);
	return result;
}
