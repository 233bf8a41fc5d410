/* SPDX-License-Identifier: MIT
 * Prints what posix_spawn and posix_spawnp say of files that are no programs, and what a
 * vfork child leaves in the variables of its parent.
 */
#define _DEFAULT_SOURCE /* vfork */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *words[] = {"word", NULL};

static void act(const char *what, const posix_spawn_file_actions_t *actions)
{
	pid_t pid;

	printf("%s: %d\n", what,
		posix_spawn(&pid, "/bin/true", actions, NULL, words, environ));
	fflush(stdout);
}

static void act_in_vain(void)
{
	posix_spawn_file_actions_t actions;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 5, "/no/such/file", 0, 0);
	act("no file to open", &actions);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, 99, 5);
	act("no descriptor to duplicate", &actions);
	posix_spawn_file_actions_destroy(&actions);
}

/* Prints the error before, and what the child makes of it. */
static void from_vfork(const char *path)
{
	volatile int why = -1;
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		why = 0;
		execve(path, words, environ);
		why = errno;
		_exit(9);
	}
	waitpid(pid, &status, 0);
	printf("vfork, %s: %d, status %x\n", path, why, (unsigned)status);
	fflush(stdout);
}

/* The parent is not to go on before the child has made room for it. */
static void wait_for_vfork(void)
{
	int ends[2];
	char byte;

	if (pipe(ends) < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
		return;
	if (vfork() == 0) {
		usleep(100000);
		(void)!write(ends[1], "x", 1);
		_exit(0);
	}
	printf("after vfork: %s\n",
		read(ends[0], &byte, 1) == 1 ? "its child" : "nothing");
	wait(NULL);
}

int main(void)
{
	static const char *const paths[] = {"/no/such/program", "./nonexistent",
		"no-such-program", "/etc/passwd", "/etc", "/etc/passwd/x", "/bin/true"};
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addclose(&actions, 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int plain = posix_spawn(&pid, paths[i], NULL, NULL, words, environ),
		    acting = 0;
		int status = plain ? 0 : waitpid(pid, &status, 0) == pid ? status : -1;
		int searched = posix_spawnp(&pid, paths[i], NULL, NULL, words, environ);

		if (searched == 0)
			waitpid(pid, NULL, 0);
		if (paths[i][0] == '/') {
			acting = posix_spawn(
				&pid, paths[i], &actions, NULL, words, environ);
			if (acting == 0)
				waitpid(pid, NULL, 0);
		}
		printf("%s: %d, with actions %d, searched %d, status %x\n", paths[i],
			plain, acting, searched, (unsigned)status);
		fflush(stdout);
	}
	act_in_vain();
	from_vfork("/no/such/program");
	from_vfork("/etc/passwd");
	from_vfork("/bin/true");
	wait_for_vfork();
	return 0;
}
