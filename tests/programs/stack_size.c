/* SPDX-License-Identifier: MIT
 * Prints the bytes of arguments and environment that the kernel put above the
 * stack, whatever was done to environ since: they move everything below.
 */
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

int main(int argc, char **argv)
{
	const char *end = (const char *)getauxval(AT_EXECFN);

	(void)argc;
	printf("%ld\n", (long)(end + strlen(end) + 1 - argv[0]));
	return 0;
}
