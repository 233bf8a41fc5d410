/* SPDX-License-Identifier: MIT
 * Prints what posix_spawn and posix_spawnp say of files that are no programs.
 */
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

extern char **environ;

int main(void)
{
	static const char *const paths[] = {"/no/such/program", "./nonexistent",
		"/etc/passwd", "/etc", "/etc/passwd/x", "/bin/true"};
	char *words[] = {"word", NULL};
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
	return 0;
}
