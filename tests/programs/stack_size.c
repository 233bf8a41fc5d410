/* SPDX-License-Identifier: MIT
 *	stack_size ANYTHING
 * Prints the bytes from its first argument to the end of what the kernel put
 * above the stack, that is of the environment, whatever was done to environ and
 * argv[0] since: they move everything below.
 */
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

int main(int argc, char **argv)
{
	const char *end = (const char *)getauxval(AT_EXECFN);

	if (argc != 2)
		return 2;
	printf("%ld\n", (long)(end + strlen(end) + 1 - argv[1]));
	return 0;
}
