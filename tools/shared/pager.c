/* SPDX-License-Identifier: MIT */
#include "tools/shared/pager.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager;

bool cp_pager_on(void)
{
	return pager > 0;
}

/* NULL: none is wanted. */
static const char *wanted_pager(void)
{
	const char *command = getenv("PAGER");

	if (!command)
		command = "less";
	return !*command || strcmp(command, "cat") == 0 ? NULL : command;
}

static bool is_there(const char *command)
{
	char find[512];

	snprintf(find, sizeof(find), "command -v %.*s > /dev/null 2>&1",
		(int)strcspn(command, " "), command);
	return system(find) == 0; /* NOLINT(cert-env33-c): it is the user's own */
}

/* As the users of git know it: it ends by itself where all fits on the screen, leaves
 * the text there, and shows colours.  Settings of theirs come first. */
_Noreturn static void become_pager(const char *command, const int *ends)
{
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* The pager has the terminal until it ends. */
static void wait_for_pager(void)
{
	fflush(stdout);
	close(STDOUT_FILENO);
	waitpid(pager, NULL, 0);
}

void cp_pager_start(void)
{
	const char *command = wanted_pager();
	int ends[2];

	if (pager || !command || !isatty(STDOUT_FILENO) || !is_there(command) ||
		pipe(ends) < 0)
		return;
	pager = fork();
	if (pager == 0)
		become_pager(command, ends);
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		/* Ctrl-C is the pager's: without it the terminal would be left as the
		 * pager has set it. */
		signal(SIGINT, SIG_IGN);
		atexit(wait_for_pager);
	}
	close(ends[0]);
	close(ends[1]);
}
