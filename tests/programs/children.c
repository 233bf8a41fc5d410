/* SPDX-License-Identifier: MIT
 *	children HOW [bare]
 * Starts itself as "children leaf" in one of the ways in which programs start
 * others, waits for it, and returns its status; bare: with no environment.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char path[4096], command[5000];
static char *leaf[] = {path, "leaf", NULL};
static char *none[] = {NULL};
static char **env;

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

static int by_fork(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execve(path, leaf, env);
		_exit(99);
	}
	return status_of(pid);
}

static int by_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execve("/nowhere/at/all", leaf, env); /* as a shell searches */
		execve(path, leaf, env);
		_exit(99);
	}
	return status_of(pid);
}

static int by_spawn(void)
{
	pid_t pid;

	if (posix_spawn(&pid, path, NULL, NULL, leaf, env))
		return 98;
	return status_of(pid);
}

static int by_popen(void)
{
	char line[64];
	FILE *pipe = popen(command, "r");

	if (!pipe)
		return 97;
	while (fgets(line, sizeof(line), pipe))
		fputs(line, stdout);
	return WEXITSTATUS(pclose(pipe));
}

/* A child that leaves its parent, which does not wait for it but for the pipe. */
static int by_daemon(void)
{
	int end[2];
	char byte;

	if (pipe(end) < 0)
		return 96;
	if (fork() == 0) {
		if (daemon(1, 1) == 0) {
			execve(path, leaf, env);
			_exit(99);
		}
		_exit(95);
	}
	close(end[1]);
	while (read(end[0], &byte, 1) > 0)
		;
	wait(NULL);
	return 17;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "leaf";
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *again[] = {path, "chain", "2", NULL};

	if (length > 0)
		path[length] = '\0';
	snprintf(command, sizeof(command), "%s leaf; exit 17", path);
	env = argc > 2 && !strcmp(argv[2], "bare") ? none : environ;
	setvbuf(stdout, NULL, _IONBF, 0);
	if (!strcmp(how, "leaf")) {
		printf("leaf of %d variables\n", environ && *environ ? 1 : 0);
		return 17;
	}
	if (!strcmp(how, "fork"))
		return by_fork();
	if (!strcmp(how, "vfork"))
		return by_vfork();
	if (!strcmp(how, "spawn"))
		return by_spawn();
	if (!strcmp(how, "popen"))
		return by_popen();
	if (!strcmp(how, "system"))
		return WEXITSTATUS(system(command));
	if (!strcmp(how, "daemon"))
		return by_daemon();
	if (!strcmp(how, "exec"))
		execve(path, leaf, env);
	if (!strcmp(how, "chain") && argc > 2 && !strcmp(argv[2], "2"))
		execve(path, leaf, environ);
	if (!strcmp(how, "chain"))
		execve(path, again, environ);
	return 94;
}
