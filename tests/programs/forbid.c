/* SPDX-License-Identifier: MIT
 * forbid: allows itself, by a filter, everything but some calls that it makes, each with
 * another action, and one that a simulator makes; prints what becomes of them, in its
 * threads, its children, and the program that it executes.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOAD(field)                                                                      \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define IF(value, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1), RETURN(action)
#define ERRNO(number) (SECCOMP_RET_ERRNO | (number))

static int pipes[2];

static void load(const struct sock_filter *code, size_t count)
{
	struct sock_fprog program = {
		(unsigned short)count, (struct sock_filter *)(uintptr_t)code};

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		printf("no filter: %d\n", errno);
}

static void forbid(void)
{
	static const struct sock_filter code[] = {
		LOAD(nr),
		IF(SYS_getppid, ERRNO(77)),
		IF(SYS_rt_sigtimedwait, ERRNO(79)),
		IF(SYS_getsid, SECCOMP_RET_KILL_PROCESS),
		IF(SYS_sched_getparam, SECCOMP_RET_TRACE),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 4),
		LOAD(args[0]),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 3),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 1, 0, 1),
		RETURN(ERRNO(78)),
		RETURN(SECCOMP_RET_ALLOW),
	};

	load(code, sizeof(code) / sizeof(code[0]));
}

static void forbid_more(void)
{
	static const struct sock_filter code[] = {
		LOAD(nr),
		IF(SYS_sched_getscheduler, ERRNO(80)),
		IF(SYS_rt_sigtimedwait, ERRNO(81)),
		IF(SYS_getppid, SECCOMP_RET_LOG),
		RETURN(SECCOMP_RET_ALLOW),
	};

	load(code, sizeof(code) / sizeof(code[0]));
}

static void show(const char *who)
{
	long ppid, process, group, more;

	errno = 0;
	ppid = syscall(SYS_getppid) < 0 ? errno : 0;
	process = syscall(SYS_getpriority, 0, 0) < 0 ? errno : 0;
	group = syscall(SYS_getpriority, 1, 0) < 0 ? errno : 0;
	more = syscall(SYS_sched_getscheduler, 0) < 0 ? errno : 0;
	printf("%s: %ld %ld %ld %ld, %s, mode %d\n", who, ppid, process, group, more,
		syscall(SYS_sched_getparam, 0, NULL) < 0 && errno == ENOSYS ? "not there"
									    : "there",
		prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
	fflush(stdout);
}

static void *older(void *unused)
{
	char byte;

	if (read(pipes[0], &byte, 1) == 1)
		show("a thread from before");
	return unused;
}

static void *newer(void *unused)
{
	show("a thread from after");
	return unused;
}

static void children(void)
{
	int status;

	if (fork() == 0) {
		show("a child");
		_exit(4);
	}
	wait(&status);
	printf("ended %x\n", (unsigned)status);
	fflush(stdout);
	if (fork() == 0) {
		syscall(SYS_getsid, 0);
		_exit(5);
	}
	wait(&status);
	printf("ended %x\n", (unsigned)status & 0x7f);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1) {
		show("the next program");
		return 6;
	}
	if (pipe(pipes) < 0 || pthread_create(&thread, NULL, older, NULL) != 0 ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return 1;
	forbid();
	show("the program");
	if (write(pipes[1], "x", 1) != 1 || pthread_join(thread, NULL) != 0)
		return 1;
	forbid_more();
	show("with two filters");
	if (pthread_create(&thread, NULL, newer, NULL) != 0 ||
		pthread_join(thread, NULL) != 0)
		return 1;
	children();
	fflush(stdout);
	execl(argv[0], argv[0], "next", (char *)NULL);
	return 2;
}
