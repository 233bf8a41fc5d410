/* SPDX-License-Identifier: MIT
 * Passes pointers that nobody can read or write to functions that leave it to the kernel
 * to say so, and prints what it says.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char *volatile bad = (char *)8;
static char *plain[] = {(char *)"word", NULL};

static void say(const char *what, long result)
{
	printf("%s: %ld %d\n", what, result, errno);
	fflush(stdout);
	errno = 0;
}

/* The value of errno then is the child's matter. */
static void say_spawn(const char *what, int result)
{
	errno = 0;
	say(what, result);
}

/* A page, at whose end things can be put, and none behind it. */
static char *last_page(void)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(pages + PAGE, PAGE, PROT_NONE);
	return pages;
}

static void execute(const char *what, char *const envp[])
{
	pid_t pid;
	int fd = open("/bin/true", O_RDONLY);

	printf("%s\n", what);
	say("execve", execve("/bin/true", plain, envp));
	say("execvpe", execvpe("true", plain, envp));
	say("fexecve", fexecve(fd, plain, envp));
	say("execveat", execveat(fd, "", plain, envp, AT_EMPTY_PATH));
	say("syscall", syscall(SYS_execve, "/bin/true", plain, envp));
	say_spawn("posix_spawn", posix_spawn(&pid, "/bin/true", NULL, NULL, plain, envp));
	say_spawn("posix_spawnp", posix_spawnp(&pid, "true", NULL, NULL, plain, envp));
	close(fd);
}

static void try_environments(void)
{
	char *entry[] = {bad, NULL}, *second[] = {(char *)"A=1", bad, NULL};
	char *page = last_page(), **endless = (char **)(page + PAGE) - 2;
	char *text[] = {page + PAGE - 12, NULL};

	execute("no array", (char **)bad);
	execute("no first variable", entry);
	execute("no second variable", second);
	endless[0] = endless[1] = (char *)"A=1";
	execute("an array without an end", endless);
	say("no end of arguments", execve("/bin/true", endless, plain));
	memcpy(text[0], "LD_PRELOAD=/", 12);
	execute("a variable without an end", text);
	memcpy(text[0], "CACHEPEEK__R", 12);
	execute("another without an end", text);
}

static void try_paths(void)
{
	char *path = last_page() + PAGE - 6;
	pid_t pid;

	memcpy(path, "/proc/", 6);
	say("no path", execve(bad, plain, plain));
	say("no end of a path", execve(path, plain, plain));
	say("execv", execv(bad, plain));
	say("execveat", execveat(AT_FDCWD, path, plain, plain, 0));
	say("syscall", syscall(SYS_execve, bad, plain, plain));
	say_spawn("posix_spawn", posix_spawn(&pid, path, NULL, NULL, plain, plain));
}

/* With NULL, programs ask whether the kernel has filters. */
static void try_filters(void)
{
	struct sock_fprog nowhere = {4, (struct sock_filter *)(void *)bad};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	say("prctl, NULL", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL));
	say("prctl, bad", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, bad));
	say("prctl, nowhere", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &nowhere));
	say("seccomp, NULL", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL));
	say("seccomp, bad", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, bad));
	say("seccomp, nowhere",
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &nowhere));
	say("prctl, no mode", prctl(PR_SET_SECCOMP, 77, NULL));
	say("mode", prctl(PR_GET_SECCOMP));
}

static void try_others(void)
{
	say("prlimit64", syscall(SYS_prlimit64, 0, 7, bad, NULL));
	say("bpf", syscall(SYS_bpf, 0, bad, 8));
	say("io_submit", syscall(SYS_io_submit, 8, 1, bad));
}

static void try_stacks(void)
{
	say("sigaltstack, new", sigaltstack((stack_t *)(void *)bad, NULL));
	say("sigaltstack, old", sigaltstack(NULL, (stack_t *)(void *)bad));
}

int main(void)
{
	try_environments();
	try_paths();
	try_filters();
	try_others();
	try_stacks();
	return 3;
}
