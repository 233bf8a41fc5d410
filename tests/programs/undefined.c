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

int main(void)
{
	undefined();
	return 0;
}
