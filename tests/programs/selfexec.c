/* SPDX-License-Identifier: MIT
 * Executes itself through /proc/self/exe, three images deep, and then reads
 * what that link says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 0;
	char next[16], path[4096] = "";

	printf("%d %s\n", depth, argv[0]);
	fflush(stdout);
	if (depth < 2) {
		snprintf(next, sizeof(next), "%d", depth + 1);
		execl("/proc/self/exe", "another-name", next, NULL);
		perror("execl");
		return 1;
	}
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return 2;
	printf("%s\n", strrchr(path, '/') + 1);
	return 5;
}
