/* SPDX-License-Identifier: MIT
 *
 * A program that says, to whoever asks dl_iterate_phdr(3) as the library does, that it
 * needs x86-64-v4: a processor without AVX-512 starts it all the same.  It prints what
 * processor it is shown.
 */
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>

#ifndef GNU_PROPERTY_X86_ISA_1_V4
#define GNU_PROPERTY_X86_ISA_1_V4 (1u << 3)
#endif

static const struct {
	uint32_t head[3];
	char name[4];
	uint32_t type, size, value, padding;
} note = {{4, 16, NT_GNU_PROPERTY_TYPE_0}, "GNU", 0xc0008002, 4,
	GNU_PROPERTY_X86_ISA_1_V4, 0};

int dl_iterate_phdr(
	int (*callback)(struct dl_phdr_info *, size_t, void *), void *argument)
{
	ElfW(Phdr) header = {.p_type = PT_GNU_PROPERTY,
		.p_vaddr = (uintptr_t)&note,
		.p_memsz = sizeof(note)};
	struct dl_phdr_info info = {
		.dlpi_name = "", .dlpi_phdr = &header, .dlpi_phnum = 1};

	return callback(&info, sizeof(info), argument);
}

int main(void)
{
#ifdef __x86_64__
	unsigned a = 1, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	printf("processor %x\n", a);
#endif
	return 0;
}
