/* SPDX-License-Identifier: MIT
 * The set of instructions that one belongs to, by its bytes.
 */
#include "base/text/instruction_set.h"
#include "tests/tap/tap.h"

/* As binutils assembles them. */
static void test_x86(void)
{
	static const struct {
		const char *set, *what;
		uint8_t code[8];
	} cases[] = {
		{"AVX-512", "vpxord %zmm1, %zmm1, %zmm1",
			{0x62, 0xf1, 0x75, 0x48, 0xef, 0xc9}},
		{"AMX", "tdpbssd %tmm2, %tmm1, %tmm0", {0xc4, 0xe2, 0x6b, 0x5e, 0xc1}},
		{"AMX", "tilezero %tmm0", {0xc4, 0xe2, 0x7b, 0x49, 0xc0}},
		{"FMA4", "vfmaddps %ymm3, %ymm2, %ymm1, %ymm0",
			{0xc4, 0xe3, 0xf5, 0x68, 0xc3, 0x20}},
		{"AVX", "vfmadd231ps %ymm2, %ymm1, %ymm0",
			{0xc4, 0xe2, 0x75, 0xb8, 0xc2}},
		{"AVX", "vaddps %ymm2, %ymm1, %ymm0", {0xc5, 0xf4, 0x58, 0xc2}},
		{"XOP", "vphaddbw %xmm1, %xmm0", {0x8f, 0xe9, 0x78, 0xc1, 0xc1}},
		{NULL, "popq (%rsi)", {0x8f, 0x06}},
		{"3DNow!", "pfadd %mm1, %mm0", {0x0f, 0x0f, 0xc1, 0x9e}},
		{"SHA", "sha1msg1 %xmm9, %xmm8", {0x45, 0x0f, 0x38, 0xc9, 0xc1}},
		{"GFNI", "gf2p8mulb %xmm1, %xmm0", {0x66, 0x0f, 0x38, 0xcf, 0xc1}},
		{"XSAVEC", "xsavec (%rdi)", {0x0f, 0xc7, 0x27}},
		{NULL, "rdrand %edi", {0x0f, 0xc7, 0xf7}},
		{NULL, "xsave (%rdi)", {0x0f, 0xae, 0x27}},
		{NULL, "ud2", {0x0f, 0x0b}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is_string(cp_instruction_set_x86(cases[i].code, 8), cases[i].set, "%s",
			cases[i].what);
	is_string(cp_instruction_set_x86(cases[0].code, 3), NULL, "not all of it");
}

static void test_arm64(void)
{
	is_string(cp_instruction_set_arm64(0x04200000), "SVE", "add z0.b, z0.b, z0.b");
	is_string(cp_instruction_set_arm64(0xa5404000), "SVE",
		"ld1w { z0.s }, p0/z, [x0, x0, lsl #2]");
	is_string(cp_instruction_set_arm64(0xc00800ff), "SME", "zero {za}");
	is_string(cp_instruction_set_arm64(0x6e40ec00), "floating point and SIMD",
		"bfmmla v0.4s, v0.8h, v0.8h");
	is_string(cp_instruction_set_arm64(0x00000000), NULL, "udf #0");
	is_string(cp_instruction_set_arm64(0x8b000000), NULL, "add x0, x0, x0");
}

int main(void)
{
	plan(22);
	test_x86();
	test_arm64();
	return 0;
}
