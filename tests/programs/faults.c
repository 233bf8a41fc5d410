/* SPDX-License-Identifier: MIT
 *	faults LOG K VARIANT COMMAND...
 * Runs the command and lets the Kth system call that is made from within
 * libcachepeek.so (or from a function of libc that it called: not seen) fail, in
 * whichever process or thread, with the VARIANTth errno that is likely for it.
 * Writes what it was to LOG: "NAME ERRNO", "past N" if there were only N, or "no
 * such variant".  Ends as the command does.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
#include <sys/user.h>

#define CALL(name, ...)                                                                  \
	{                                                                                \
		SYS_##name, #name,                                                       \
		{                                                                        \
			__VA_ARGS__                                                      \
		}                                                                        \
	}

/* Calls that end the process, or cannot fail, have no errno. */
static const struct {
	long number;
	const char *name;
	int errors[5];
} calls[] = {
	CALL(clock_gettime, EINVAL),
	CALL(close, EIO, EBADF),
	CALL(faccessat, EACCES, ENOENT),
	CALL(faccessat2, ENOSYS, EACCES),
	CALL(fallocate, ENOSPC, EOPNOTSUPP, EINTR, EIO),
	CALL(fcntl, EMFILE, EINVAL, EBADF),
	CALL(fstat, EIO, EBADF),
	CALL(ftruncate, EIO),
	CALL(getcwd, ENOENT),
	CALL(getdents64, EIO, ENOENT),
	CALL(getpid),
	CALL(getppid),
	CALL(getrandom, EAGAIN, ENOSYS),
	CALL(gettid),
	CALL(ioctl, EINVAL, EBADF, ENOTTY),
	CALL(kill, ESRCH, EPERM),
	CALL(lseek, ESPIPE),
	CALL(mkdir, EACCES, ENOSPC, EROFS, ENOENT),
	CALL(mmap, ENOMEM, EACCES, EAGAIN),
	CALL(mremap, ENOMEM),
	CALL(munmap, EINVAL),
	CALL(newfstatat, EACCES, ENOENT),
	CALL(openat, EMFILE, EACCES, ENOENT, ENOSPC, EINTR),
	CALL(perf_event_open, EACCES, EMFILE, ENOSYS, EINVAL, EBUSY),
	CALL(pread64, EIO, EINTR),
	CALL(prlimit64, EPERM),
	CALL(read, EIO, EINTR, EBADF),
	CALL(readlinkat, EACCES, ENOENT),
	CALL(renameat2, EACCES, EXDEV),
	CALL(sched_yield),
	CALL(symlinkat, EEXIST, EPERM),
	CALL(uname, EFAULT),
	CALL(unlinkat, EACCES, ENOENT),
	CALL(write, EIO, ENOSPC, EINTR, EPIPE),
};

static const char *log_path;
static unsigned long wanted, variant, seen;

static void note(const char *what, long number)
{
	int fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	dprintf(fd, "%s %ld\n", what, number);
	close(fd);
}

/* The code of the library in this process; read again until it is there. */
static int inside(pid_t pid, unsigned long at)
{
	char path[64], line[600];
	unsigned long low, high;
	int found = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "r");
	while (maps && !found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%lx-%lx r-x", &low, &high) == 2 && at >= low &&
			at < high && strstr(line, "libcachepeek.so");
	if (maps)
		fclose(maps);
	return found;
}

static int error_of(long number, const char **name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number) {
			*name = calls[i].name;
			return variant < 5 ? calls[i].errors[variant] : 0;
		}
	*name = "unknown";
	return 0;
}

/* At the entry of a call; the error that it is to end with, or 0. */
static int entry(pid_t tid)
{
	struct user_regs_struct registers;
	const char *name;
	int error;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &registers) < 0 ||
		!inside(tid, registers.rip) || ++seen != wanted)
		return 0;
	error = error_of((long)registers.orig_rax, &name);
	if (!error) {
		note("no such variant of", (long)registers.orig_rax);
		return 0;
	}
	note(name, error);
	registers.orig_rax = (unsigned long)-1;
	ptrace(PTRACE_SETREGS, tid, NULL, &registers);
	return error;
}

static void leave(pid_t tid, int error)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &registers) < 0)
		return;
	registers.rax = (unsigned long)-(long)error;
	ptrace(PTRACE_SETREGS, tid, NULL, &registers);
}

/* Which threads are inside a call; pids are below 2^22. */
static unsigned char in_call[1 << 22];
static int failing[1 << 22];

static int on_stop(pid_t tid, int status)
{
	int number = WSTOPSIG(status);

	if (status >> 16)
		return 0;
	if (number == (SIGTRAP | 0x80)) {
		in_call[tid] ^= 1;
		if (in_call[tid])
			failing[tid] = entry(tid);
		else if (failing[tid])
			leave(tid, failing[tid]);
		return 0;
	}
	return number == SIGSTOP ? 0 : number;
}

static int trace(pid_t child)
{
	int status, result = -1;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXEC << 8)))
				in_call[tid] = 1; /* its exit is still to come */
			ptrace(PTRACE_SYSCALL, tid, NULL, on_stop(tid, status));
			continue;
		}
		in_call[tid] = 0;
		failing[tid] = 0;
		if (tid == child)
			result = status;
	}
	return result;
}

static void end_as(int status)
{
	struct rlimit none = {0, 0};

	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
}

int main(int argc, char **argv)
{
	int status;
	pid_t child;

	if (argc < 5)
		return 2;
	log_path = argv[1];
	wanted = strtoul(argv[2], NULL, 10);
	variant = strtoul(argv[3], NULL, 10);
	child = fork();
	if (child == 0) {
		raise(SIGSTOP);
		execvp(argv[4], argv + 4);
		_exit(127);
	}
	if (child < 0 || ptrace(PTRACE_SEIZE, child, NULL,
				 PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE |
					 PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
					 PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0)
		return 3;
	waitpid(child, &status, WUNTRACED);
	kill(child, SIGCONT);
	ptrace(PTRACE_SYSCALL, child, NULL, 0);
	status = trace(child);
	if (seen < wanted)
		note("past", (long)seen);
	end_as(status);
	return 3;
}
#else
int main(void)
{
	return 77;
}
#endif
