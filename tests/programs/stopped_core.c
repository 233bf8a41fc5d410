/* SPDX-License-Identifier: MIT
 *
 *	stopped_core ADDRESS PROGRAM ARGUMENT...
 * Runs the program, whose first word of output is the process to be traced, and has that
 * process call the function at the address, with a string.  Its status is the program's.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
#define PC(registers) (registers).rip
#define SP(registers) (registers).rsp
#define FIRST(registers) (registers).rdi
enum { PUSHED = 8 }; /* a return address, below what is aligned */
#else
#define PC(registers) (registers).pc
#define SP(registers) (registers).sp
#define FIRST(registers) (registers).regs[0]
enum { PUSHED = 0 };
#endif

static int go_on_at(pid_t pid, unsigned long address)
{
	struct user_regs_struct registers;
	struct iovec all = {&registers, sizeof(registers)};
	unsigned long word;
	int status;

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) < 0 ||
		waitpid(pid, &status, 0) != pid ||
		ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &all) < 0)
		return -1;
	SP(registers) = ((SP(registers) - 1024) & ~15ul) - PUSHED;
	FIRST(registers) = SP(registers) + 512;
	memcpy(&word, "by test", sizeof(word));
	if (ptrace(PTRACE_POKEDATA, pid, (void *)FIRST(registers), (void *)word) < 0)
		return -1;
	PC(registers) = address;
	if (ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &all) < 0)
		return -1;
	return (int)ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

int main(int argc, char **argv)
{
	int ends[2], pid = 0, status;
	pid_t child;
	FILE *said;

	if (argc < 3 || pipe(ends) < 0)
		return 2;
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	close(ends[1]);
	said = fdopen(ends[0], "r");
	if (!said || fscanf(said, "%d", &pid) != 1 ||
		go_on_at(pid, strtoul(argv[1], NULL, 16)) < 0) {
		perror("stopped_core");
		return 3;
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
