/* SPDX-License-Identifier: MIT
 * A program into which nothing can be preloaded.  "given" prints what it was given, and
 * what it is called; "executes" makes it itself without arguments; "killed" ends by
 * SIGKILL of another process, behind a child that has ended by itself.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int show_given(char **argv)
{
	char name[17] = "", path[4096] = "";

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

static int end_killed(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	if (fork() == 0)
		_exit(kill(getppid(), SIGKILL));
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "executes") == 0)
		execl(argv[0], argv[0], (char *)NULL);
	if (argc > 1 && strcmp(argv[1], "killed") == 0)
		return end_killed();
	puts("static");
	return argc > 1 ? show_given(argv) : 17;
}
