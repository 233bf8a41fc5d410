/* SPDX-License-Identifier: MIT
 *
 * Executes what no path leads to, in the way that is named: a copy of itself in memory,
 * by fexecve(3) or execveat(2), that is closed at exec or not; a script in memory; itself
 * by its link, after it was deleted.  What is executed says what it got.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static int copy_to_memory(const char *path, unsigned flags)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("payload", flags);
	char block[65536];
	ssize_t n;

	while ((n = read(from, block, sizeof(block))) > 0)
		if (write(to, block, (size_t)n) != n)
			return -1;
	close(from);
	return to;
}

static int script_in_memory(void)
{
	static const char text[] = "#!/bin/sh\necho a script got $1\n";
	int to = memfd_create("script", 0);

	return write(to, text, sizeof(text) - 1) < 0 ? -1 : to;
}

static int describe(int argc, char **argv)
{
	char link[4096];
	ssize_t length = readlink("/proc/self/exe", link, sizeof(link) - 1);
	int open_ones = 0;

	link[length > 0 ? length : 0] = '\0';
	for (int fd = 0; fd < 1000; fd++)
		open_ones += fcntl(fd, F_GETFD) >= 0;
	printf("%s got %d, runs %s, has %d descriptors\n", argv[0], argc, link,
		open_ones);
	return 7;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char *next[] = {"itself", "described", "x", NULL},
	     *script[] = {"sh", "one", NULL};

	if (strcmp(how, "described") == 0)
		return describe(argc, argv);
	if (strcmp(how, "memory") == 0)
		fexecve(copy_to_memory(argv[0], 0), next, environ);
	else if (strcmp(how, "memory-closed") == 0)
		fexecve(copy_to_memory(argv[0], MFD_CLOEXEC), next, environ);
	else if (strcmp(how, "execveat") == 0)
		syscall(SYS_execveat, copy_to_memory(argv[0], MFD_CLOEXEC), "", next,
			environ, AT_EMPTY_PATH);
	else if (strcmp(how, "script") == 0)
		fexecve(script_in_memory(), script, environ);
	else if (strcmp(how, "link") == 0)
		execv("/proc/self/exe", next);
	else if (strcmp(how, "deleted") == 0 && unlink(argv[0]) == 0)
		execv("/proc/self/exe", next);
	else if (strcmp(how, "deleted-raw") == 0 && unlink(argv[0]) == 0)
		syscall(SYS_execve, "/proc/self/exe", next, environ);
	else
		return 0;
	perror("exec");
	return 1;
}
