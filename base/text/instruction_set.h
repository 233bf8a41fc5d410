/* SPDX-License-Identifier: MIT
 *
 * The name of the set that an instruction belongs to which a program could not execute,
 * as compilers' options and CPUID have it.
 */
#ifndef CACHEPEEK_BASE_TEXT_INSTRUCTION_SET_H
#define CACHEPEEK_BASE_TEXT_INSTRUCTION_SET_H

#include <stddef.h>
#include <stdint.h>

/* NULL: it is none of those, or bytes are missing. */
const char *cp_instruction_set_x86(const uint8_t *code, size_t size);
const char *cp_instruction_set_arm64(uint32_t word);
/* The same for this machine's instructions. */
const char *cp_instruction_set(const uint8_t *code, size_t size);

#endif
