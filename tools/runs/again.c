/* SPDX-License-Identifier: MIT */
#include "tools/runs/again.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/runs/watch.h"

long cp_keep_input(void)
{
	char buffer[65536];
	ssize_t n;
	int copy;

	if (isatty(STDIN_FILENO) || lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0)
		return lseek(STDIN_FILENO, 0, SEEK_CUR);
	copy = memfd_create("cachepeek-input", MFD_CLOEXEC);
	while (copy >= 0 && (n = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0)
		if (write(copy, buffer, (size_t)n) != n)
			break;
	if (copy < 0)
		return -1;
	lseek(copy, 0, SEEK_SET);
	dup2(copy, STDIN_FILENO);
	close(copy);
	return 0;
}

static void silence_output(int saved[2])
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(NULL);
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		/* One that could not be kept could not be restored. */
		saved[fd - 1] = nowhere < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 10);
		if (saved[fd - 1] >= 0)
			dup2(nowhere, fd);
	}
	if (nowhere >= 0)
		close(nowhere);
}

static void restore_output(const int saved[2])
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		if (saved[fd - 1] < 0)
			continue;
		dup2(saved[fd - 1], fd);
		close(saved[fd - 1]);
	}
}

void cp_again_begin(struct cp_again *again, long input, bool seen)
{
	*again = (struct cp_again){{-1, -1}};
	if (input >= 0)
		lseek(STDIN_FILENO, input, SEEK_SET);
	if (!seen)
		silence_output(again->saved);
}

void cp_again_end(const struct cp_again *again)
{
	restore_output(again->saved);
}

int cp_run_again(struct cp_launch *launch, const char *directory, char *const argv[],
	const char *what, long input, bool seen)
{
	struct cp_again again;
	struct cp_watch watch;
	int result;

	setenv("CACHEPEEK__LAUNCHER", directory, 1);
	unsetenv("CACHEPEEK__SCOPE"); /* no report but ours */
	cp_again_begin(&again, input, seen);
	cp_watch_start(&watch, directory, what);
	result = cp_launch(launch, argv, &watch);
	cp_again_end(&again);
	if (result == 0)
		cp_launch_note(launch, directory);
	return result;
}
