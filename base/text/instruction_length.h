/* SPDX-License-Identifier: MIT
 *
 * Where instructions of x86-64 end, in 64-bit mode.
 */
#ifndef CACHEPEEK_BASE_TEXT_INSTRUCTION_LENGTH_H
#define CACHEPEEK_BASE_TEXT_INSTRUCTION_LENGTH_H

#include <stddef.h>
#include <stdint.h>

/* The prefixes before the opcode, or before what AVX begins with (C4, C5, 62). */
size_t cp_instruction_prefixes(const uint8_t *code, size_t size);

/* 0: there is no such instruction, or some of it lies behind size. */
size_t cp_instruction_length(const uint8_t *code, size_t size);

#endif
