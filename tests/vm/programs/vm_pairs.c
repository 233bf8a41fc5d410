/* SPDX-License-Identifier: MIT
 *	vm_pairs PAIRS
 * A child runs PAIRS executions of the region "pair", nothing in it, between
 * two calls of getppid(2); its parent traces it, and prints how many system
 * calls there were in between.
 */
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

#include "cachepeek.h"

static void mark(void)
{
	syscall(SYS_getppid);
}

static void child(unsigned pairs)
{
	cachepeek_region region = cachepeek_region_register("pair");

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	/* The first makes the region's node. */
	cachepeek_begin(region);
	cachepeek_end(region);
	mark();
	for (unsigned i = 0; i < pairs; i++) {
		cachepeek_begin(region);
		cachepeek_end(region);
	}
	mark();
	exit(0);
}

/* The number of the call that the child stopped at the entry of, or -1. */
static long entered(pid_t pid)
{
	struct ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0 ||
		info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return -1;
	return (long)info.entry.nr;
}

/* Runs the child to its next stop at a system call; false: it ended. */
static int next_stop(pid_t pid)
{
	int status;

	ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
	return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);
}

int main(int argc, char **argv)
{
	unsigned pairs = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, marks = 0, calls = 0;
	pid_t pid = fork();

	if (pid == 0)
		child(pairs);
	waitpid(pid, NULL, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD);
	while (next_stop(pid)) {
		long number = entered(pid);

		if (number == SYS_getppid)
			marks++;
		else if (number >= 0 && marks == 1)
			calls++;
	}
	printf("marks %u calls %u\n", marks, calls);
	return 0;
}
