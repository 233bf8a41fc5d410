/* SPDX-License-Identifier: MIT
 *
 * Calls with an argument that the kernel refuses, and with upper halves of arguments that
 * it does not look at.  Prints what comes of each.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EPOLL_PWAIT2 = 441, PI2 = 13, RIGHT = 8 };

/* In the upper half of an argument that has only a lower one. */
#define UPPER 0x5a5a5a5a00000000

static void say(const char *what, long result)
{
	int error = errno;

	printf("%s: %s\n", what,
		result == -1 ? strerrorname_np(error)
		: result     ? "more"
			     : "0");
}

#define TRY(name, ...) say(#name, syscall(SYS_##name, ##__VA_ARGS__))

static const struct timespec now;
static unsigned long set;

/* ---- sets of a size that none has ---- */

static void wait_for(int epoll, long size)
{
	struct epoll_event event;
	struct {
		const unsigned long *mask;
		long size;
	} mask = {&set, size}, none = {NULL, size};

	TRY(pselect6, 0, NULL, NULL, NULL, &now, &mask);
	TRY(pselect6, 0, NULL, NULL, NULL, &now, &none);
	TRY(ppoll, NULL, 0l, &now, &set, size);
	TRY(ppoll, NULL, 0l, &now, NULL, size);
	TRY(epoll_pwait, epoll, &event, 1, 0, &set, size);
	TRY(epoll_pwait, epoll, &event, 1, 0, NULL, size);
	say("epoll_pwait2", syscall(EPOLL_PWAIT2, epoll, &event, 1, &now, &set, size));
	TRY(rt_sigtimedwait, &set, NULL, &now, size);
	if (size != RIGHT)
		TRY(rt_sigsuspend, &set, size);
}

static void with_size(int epoll, long size)
{
	unsigned long action[4] = {0}, other[16];

	printf("sets of %ld bytes\n", size);
	TRY(rt_sigaction, SIGUSR1, NULL, other, size);
	TRY(rt_sigaction, SIGUSR1, action, NULL, size);
	TRY(rt_sigprocmask, SIG_BLOCK, &set, other, size);
	TRY(rt_sigpending, other, size);
	TRY(signalfd4, -1, &set, size, 0);
	TRY(set_robust_list, other, size);
	wait_for(epoll, size);
}

/* ---- upper halves ---- */

static void with_upper_halves(int file, void *page)
{
	unsigned base[2];
	int word = 0;

	TRY(fcntl, file, UPPER | F_GETFD);
	TRY(fcntl, UPPER | (unsigned)file, F_GETFL);
	TRY(futex, &word, UPPER | FUTEX_WAKE, 1, NULL, NULL, 0);
	TRY(futex, &word, UPPER | FUTEX_WAIT, 1, NULL, NULL, 0);
	TRY(mprotect, page, 4096, UPPER | PROT_READ);
	TRY(madvise, page, 4096, UPPER | MADV_NORMAL);
#ifdef SYS_arch_prctl
	TRY(arch_prctl, UPPER | 0x1003, base); /* ARCH_GET_FS */
#else
	(void)base;
#endif
}

/* ---- the rest ---- */

static void lock(int *word)
{
	say("futex", syscall(SYS_futex, word, PI2 | FUTEX_PRIVATE_FLAG, 0, NULL));
	printf("taken: %d\n", (*word & FUTEX_TID_MASK) == gettid());
	TRY(futex, word, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL);
}

/* Executes a file that is no program. */
static void execute(int file)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	TRY(execve, path, NULL, NULL);
	TRY(execveat, AT_FDCWD, path, NULL, NULL, 1);
	TRY(execveat, AT_FDCWD, path, NULL, NULL, AT_SYMLINK_NOFOLLOW);
}

int main(void)
{
	static const long sizes[] = {RIGHT, 0, 4, 7, 16, 128, -1};
	int epoll = epoll_create1(0), file = memfd_create("refused", 0), word = 0;
	void *page = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	fchmod(file, 0600);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		with_size(epoll, sizes[i]);
	with_upper_halves(file, page);
	lock(&word);
	execute(file);
	TRY(pkey_alloc, 0, 4);
	TRY(pkey_alloc, 1, 0);
	TRY(restart_syscall);
	return 0;
}
