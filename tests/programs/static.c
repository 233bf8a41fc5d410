/* SPDX-License-Identifier: MIT
 * A program into which nothing can be preloaded.  With an argument it prints what it was
 * given, and what it is called.
 */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char name[17] = "", path[4096] = "";

	puts("static");
	if (argc == 1)
		return 17;
	for (char **given = argv; *given; given++)
		puts(*given);
	for (char **variable = environ; *variable; variable++)
		puts(*variable);
	prctl(PR_GET_NAME, name);
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return 1;
	printf("%s %s\n", name, path);
	return 17;
}
