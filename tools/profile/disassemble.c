/* SPDX-License-Identifier: MIT */
#include "tools/profile/disassemble.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdbool.h>

#include "output/table.h"

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
