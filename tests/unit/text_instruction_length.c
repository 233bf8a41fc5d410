/* SPDX-License-Identifier: MIT
 * Where instructions end.
 */
#include <string.h>

#include "base/text/instruction_length.h"
#include "tests/tap/tap.h"

/* As binutils assembles them. */
static const struct {
	const char *what;
	size_t length, prefixes;
	uint8_t code[15];
} cases[] = {
	{"ret", 1, 0, {0xc3}},
	{"ret $8", 3, 0, {0xc2, 8}},
	{"push %rbp", 1, 0, {0x55}},
	{"mov %rsp, %rbp", 3, 1, {0x48, 0x89, 0xe5}},
	{"mov 8(%rsp), %rax", 5, 1, {0x48, 0x8b, 0x44, 0x24, 8}},
	{"mov 0x100(%rsp), %rax", 8, 1, {0x48, 0x8b, 0x84, 0x24, 0, 1}},
	{"mov (,%rax,8), %eax", 7, 0, {0x8b, 0x04, 0xc5}},
	{"mov (%rax,%rbx), %eax", 3, 0, {0x8b, 0x04, 0x18}},
	{"mov x(%rip), %eax", 6, 0, {0x8b, 0x05}},
	{"mov 8(%rbp), %eax", 3, 0, {0x8b, 0x45, 8}},
	{"mov $1, %eax", 5, 0, {0xb8, 1}},
	{"mov $1, %ax", 4, 1, {0x66, 0xb8, 1}},
	{"movabs $1, %rax", 10, 1, {0x48, 0xb8, 1}},
	{"movabs 1, %eax", 9, 0, {0xa1, 1}},
	{"addr32 movabs 1, %eax", 6, 1, {0x67, 0xa1, 1}},
	{"mov $1, %al", 2, 0, {0xb0, 1}},
	{"add $1, %al", 2, 0, {0x04, 1}},
	{"add $1, %eax", 5, 0, {0x05, 1}},
	{"add $0x1000, %rsp", 7, 1, {0x48, 0x81, 0xc4, 0, 0x10}},
	{"add $8, %rsp", 4, 1, {0x48, 0x83, 0xc4, 8}},
	{"movl $1, (%rdi)", 6, 0, {0xc7, 0x07, 1}},
	{"movw $1, (%rdi)", 5, 1, {0x66, 0xc7, 0x07, 1}},
	{"test $1, %al", 2, 0, {0xa8, 1}},
	{"testl $1, (%rdi)", 6, 0, {0xf7, 0x07, 1}},
	{"testb $1, (%rdi)", 3, 0, {0xf6, 0x07, 1}},
	{"negl (%rdi)", 2, 0, {0xf7, 0x1f}},
	{"imul $1, %eax, %eax", 6, 0, {0x69, 0xc0, 1}},
	{"push $1", 2, 0, {0x6a, 1}},
	{"push $0x1000", 5, 0, {0x68, 0, 0x10}},
	{"call", 5, 0, {0xe8}},
	{"jmp, short", 2, 0, {0xeb, 1}},
	{"jne", 6, 0, {0x0f, 0x85}},
	{"jne, short", 2, 0, {0x75, 1}},
	{"enter $8, $0", 4, 0, {0xc8, 8}},
	{"endbr64", 4, 1, {0xf3, 0x0f, 0x1e, 0xfa}},
	{"nopw %cs:0(%rax,%rax)", 10, 2, {0x66, 0x2e, 0x0f, 0x1f, 0x84}},
	{"lock cmpxchg %ecx, (%rdx)", 4, 1, {0xf0, 0x0f, 0xb1, 0x0a}},
	{"mov %fs:0x28, %rax", 9, 2, {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28}},
	{"syscall", 2, 0, {0x0f, 0x05}},
	{"cpuid", 2, 0, {0x0f, 0xa2}},
	{"bswap %eax", 2, 0, {0x0f, 0xc8}},
	{"bt $1, %eax", 4, 0, {0x0f, 0xba, 0xe0, 1}},
	{"shld $1, %eax, %ebx", 4, 0, {0x0f, 0xa4, 0xc3, 1}},
	{"pshufd $1, %xmm0, %xmm1", 5, 1, {0x66, 0x0f, 0x70, 0xc8, 1}},
	{"emms", 2, 0, {0x0f, 0x77}},
	{"pshufb %xmm1, %xmm0", 5, 1, {0x66, 0x0f, 0x38, 0, 0xc1}},
	{"palignr $1, %xmm1, %xmm0", 6, 1, {0x66, 0x0f, 0x3a, 0x0f, 0xc1, 1}},
	{"pfadd %mm1, %mm0", 4, 0, {0x0f, 0x0f, 0xc1, 0x9e}},
	{"fldt (%rdi)", 2, 0, {0xdb, 0x2f}},
	{"vzeroupper", 3, 0, {0xc5, 0xf8, 0x77}},
	{"vaddps %ymm2, %ymm1, %ymm0", 4, 0, {0xc5, 0xf4, 0x58, 0xc2}},
	{"kmovq %k1, %rax", 5, 0, {0xc4, 0xe1, 0xfb, 0x93, 0xc1}},
	{"vpalignr $1, %ymm2, %ymm1, %ymm0", 6, 0, {0xc4, 0xe3, 0x75, 0x0f, 0xc2, 1}},
	{"vpxord %zmm1, %zmm1, %zmm1", 6, 0, {0x62, 0xf1, 0x75, 0x48, 0xef, 0xc9}},
	{"vmovups 64(%rdi), %zmm0", 7, 0, {0x62, 0xf1, 0x7c, 0x48, 0x10, 0x47, 1}},
	{"vpternlogd $1, %zmm2, %zmm1, %zmm0", 7, 0,
		{0x62, 0xf3, 0x75, 0x48, 0x25, 0xc2, 1}},
	{"vaddph %zmm1, %zmm1, %zmm1", 6, 0, {0x62, 0xf5, 0x74, 0x48, 0x58, 0xc9}},
	{"XOP is not told", 0, 0, {0x8f, 0xe9, 0x78, 0xc1, 0xc1}},
	{"pop (%rsi)", 2, 0, {0x8f, 0x06}},
	{"a map that nothing is in", 0, 0, {0x62, 0xf7, 0x75, 0x48, 0xef, 0xc9}},
};

enum { CASES = sizeof(cases) / sizeof(*cases) };

int main(void)
{
	plan(3 * CASES);
	for (size_t i = 0; i < CASES; i++) {
		size_t length = cases[i].length, most = sizeof(cases[i].code);

		is_u64(cp_instruction_length(cases[i].code, most), length, "%s",
			cases[i].what);
		is_u64(cp_instruction_prefixes(cases[i].code, most), cases[i].prefixes,
			"its prefixes");
		is_u64(cp_instruction_length(cases[i].code, length ? length - 1 : 0), 0,
			"and none if a byte is missing");
	}
	return 0;
}
