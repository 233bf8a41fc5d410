/* SPDX-License-Identifier: MIT
 *
 * An instruction of SVE, which the simulated PMU has not, whatever the processor has:
 * at once, or only if the program was told of it.
 */
#include <stdio.h>
#include <sys/auxv.h>

#define SVE (1ul << 22)

int main(int argc, char **argv)
{
	int told = (getauxval(AT_HWCAP) & SVE) != 0;

	(void)argv;
	printf("SVE is %s\n", told ? "there" : "not there");
	fflush(stdout);
	if (argc > 1 || told) {
#ifdef __aarch64__
		/* add z0.b, z0.b, z0.b */
		__asm__ volatile(".inst 0x04200000");
#endif
		printf("executed\n");
	}
	return 0;
}
