/* SPDX-License-Identifier: MIT
 *	daemon_children FILE N
 * Ends at once, and leaves a daemon behind that makes FILE.begun, waits until FILE is
 * there, has N children, one after the other, and removes both.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void serve(const char *file, int n)
{
	char begun[4096];

	snprintf(begun, sizeof(begun), "%s.begun", file);
	close(open(begun, O_CREAT | O_WRONLY, 0600));
	while (access(file, F_OK) < 0)
		usleep(20000);
	for (int i = 0; i < n; i++) {
		pid_t child = fork();

		if (child == 0)
			exit(0);
		waitpid(child, NULL, 0);
	}
	unlink(begun);
	unlink(file);
}

int main(int argc, char **argv)
{
	if (argc < 3 || fork() != 0)
		return argc < 3;
	setsid();
	serve(argv[1], atoi(argv[2]));
	return 0;
}
