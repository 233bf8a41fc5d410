/* SPDX-License-Identifier: MIT */
#include "base/text/instruction_set.h"

#include <stdbool.h>
#include <string.h>

/* --- x86-64 --- */

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 ||
	       byte == 0xf0 || byte == 0x2e || byte == 0x36 || byte == 0x3e ||
	       byte == 0x26 || byte == 0x64 || byte == 0x65 || (byte & 0xf0) == 0x40;
}

static const char *vex_set(const uint8_t *code)
{
	uint8_t map = code[1] & 0x1f, opcode = code[3];

	if (map == 2 && (opcode == 0x49 || opcode == 0x4b || opcode == 0x5c ||
				opcode == 0x5e || opcode == 0x6c))
		return "AMX";
	if (map == 3 && ((opcode >= 0x5c && opcode <= 0x5f) ||
				(opcode >= 0x68 && opcode <= 0x6f) ||
				(opcode >= 0x78 && opcode <= 0x7f)))
		return "FMA4";
	return "AVX";
}

static const char *legacy_set(const uint8_t *code)
{
	if (code[1] == 0x0f)
		return "3DNow!";
	if (code[1] == 0x38 && code[2] >= 0xc8 && code[2] <= 0xcd)
		return "SHA";
	if (code[1] == 0x38 && code[2] == 0xcf)
		return "GFNI";
	if (code[1] == 0xc7 && (code[2] >> 3 & 7) == 4 && code[2] < 0xc0)
		return "XSAVEC";
	return NULL;
}

/* POP is 8F with a first field of 0, XOP has a map of 8 at least there. */
const char *cp_instruction_set_x86(const uint8_t *code, size_t size)
{
	for (; size && is_prefix(*code); size--)
		code++;
	if (size < 4)
		return NULL;
	switch (*code) {
	case 0x62:
		return "AVX-512";
	case 0xc4:
		return vex_set(code);
	case 0xc5:
		return "AVX";
	case 0xd5:
		return "APX";
	case 0x8f:
		return (code[1] & 0x1f) >= 8 ? "XOP" : NULL;
	case 0x0f:
		return legacy_set(code);
	default:
		return NULL;
	}
}

/* --- AArch64: the manual's top level of encodings --- */

const char *cp_instruction_set_arm64(uint32_t word)
{
	switch (word >> 25 & 15) {
	case 0:
		return word >> 31 ? "SME" : NULL;
	case 2:
		return "SVE";
	case 7:
	case 15:
		return "floating point and SIMD";
	default:
		return NULL;
	}
}

const char *cp_instruction_set(const uint8_t *code, size_t size)
{
#if defined(__x86_64__)
	return cp_instruction_set_x86(code, size);
#elif defined(__aarch64__)
	uint32_t word;

	if (size < sizeof(word))
		return NULL;
	memcpy(&word, code, sizeof(word));
	return cp_instruction_set_arm64(word);
#else
	(void)code, (void)size;
	return NULL;
#endif
}
