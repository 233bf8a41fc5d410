/* SPDX-License-Identifier: MIT
 *	own_signals kill|raw|forbidden
 * Sends itself 100 signals that it handles, in the region "signals": by kill(2), or by
 * the system call without the library's function.  forbidden: by raise(3), and since
 * before the region whoever asks what becomes of a signal is killed.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cachepeek.h"

static volatile sig_atomic_t handled;

static void handle(int number)
{
	(void)number;
	handled++;
}

static void forbid(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigaction, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		puts("no filter");
}

static void by_kill(void)
{
	kill(getpid(), SIGUSR1);
}

static void by_number(void)
{
	syscall(SYS_kill, getpid(), SIGUSR1);
}

static void by_raise(void)
{
	raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	void (*send)(void) = by_kill;

	if (argc > 1 && strcmp(argv[1], "raw") == 0)
		send = by_number;
	else if (argc > 1 && strcmp(argv[1], "forbidden") == 0)
		send = by_raise;
	signal(SIGUSR1, handle);
	if (send == by_raise)
		forbid();
	send();
	CACHEPEEK_BEGIN("signals");
	for (int i = 0; i < 100; i++)
		send();
	CACHEPEEK_END("signals");
	printf("%d signals\n", (int)handled);
	return 0;
}
