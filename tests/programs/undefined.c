/* SPDX-License-Identifier: MIT
 * An instruction that no processor has.
 */
__attribute__((noinline, visibility("default"))) void undefined(void);

void undefined(void)
{
#ifdef __x86_64__
	__asm__ volatile("ud2");
#else
	__builtin_trap();
#endif
}

/* An instruction of the form of AVX-512's, in a map that has none. */
static void undefined_wide(void)
{
#ifdef __x86_64__
	__asm__ volatile(".byte 0x62, 0xf7, 0x7d, 0x48, 0x58, 0xc0");
#else
	__builtin_trap();
#endif
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		undefined_wide();
	undefined();
	return 0;
}
