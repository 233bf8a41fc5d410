/* SPDX-License-Identifier: MIT
 * Makes system calls of Linux 5.1 and newer, by their numbers, and older ones that
 * Valgrind does not know either: prints what the kernel says of each without sense, and
 * then uses some.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where a header is older than the kernel. */
enum {
	PIDFD_SEND_SIGNAL = 424,
	PIDFD_OPEN = 434,
	EPOLL_PWAIT2 = 441,
	LANDLOCK_CREATE_RULESET = 444
};

static const int numbers[] = {424, 428, 429, 430, 431, 432, 433, 434, 438, 440, 441, 442,
	443, 444, 445, 446, 447, 448, 449, 450, 451, 452, 454, 455, 456, 457, 458, 459,
	460, 461, 463, 464, 465, 466, 467, 468, 469,
#ifdef SYS_ustat
	SYS_ustat, SYS_sysfs,
#endif
	SYS_migrate_pages, SYS_io_pgetevents,
	/* Known: what the kernel looks at before the descriptor, which is none. */
	SYS_splice, SYS_tee, SYS_timerfd_settime, SYS_preadv, SYS_pwritev, SYS_signalfd4};

static volatile sig_atomic_t handled;
static int pipes[2];

static void handle(int number)
{
	(void)number;
	handled++;
}

static void without_sense(void)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		errno = 0;
		syscall(numbers[i], -1L, -1L, -1L, -1L, -1L, -1L);
		printf("%d: %d\n", numbers[i], errno);
	}
	printf("landlock %ld\n", syscall(LANDLOCK_CREATE_RULESET, NULL, 0L, 1L));
}

static void use_older(void)
{
	unsigned long context = 0, node = 1;
	char event[32];

	printf("migrated %ld\n", syscall(SYS_migrate_pages, 0, 8L, &node, &node));
	syscall(SYS_io_setup, 1, &context);
	printf("events %ld\n", syscall(SYS_io_pgetevents, context, 0L, 1L, event,
				       &(long[2]){0, 1000}, NULL));
#ifdef SYS_sysfs
	printf("file systems %ld\n", syscall(SYS_sysfs, 3));
#endif
}

static void signal_itself(void)
{
	int self = (int)syscall(PIDFD_OPEN, getpid(), 0);
	long sent;

	signal(SIGUSR1, handle);
	sent = syscall(PIDFD_SEND_SIGNAL, self, SIGUSR1, NULL, 0);
	printf("sent %ld, handled %d\n", sent, (int)handled);
	close(self);
}

/* For as long as it takes: the other thread has to go on meanwhile. */
static void *wait_for_byte(void *unused)
{
	struct epoll_event event = {.events = EPOLLIN};
	int events = epoll_create1(0);

	epoll_ctl(events, EPOLL_CTL_ADD, pipes[0], &event);
	printf("waited %ld\n", syscall(EPOLL_PWAIT2, events, &event, 1, NULL, NULL, 0));
	close(events);
	return unused;
}

static void wait_in_thread(void)
{
	pthread_t thread;

	if (pipe(pipes) < 0 || pthread_create(&thread, NULL, wait_for_byte, NULL) != 0)
		return;
	usleep(100000);
	(void)!write(pipes[1], "x", 1);
	pthread_join(thread, NULL);
}

static void use_up_descriptors(void)
{
	int next = (int)syscall(PIDFD_OPEN, getpid(), 0);
	struct rlimit limit;
	long last, none;

	close(next);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = (rlim_t)next + 1;
	setrlimit(RLIMIT_NOFILE, &limit);
	last = syscall(PIDFD_OPEN, getpid(), 0);
	none = syscall(PIDFD_OPEN, getpid(), 0);
	printf("the last %d, then %ld: %s\n", last == next, none, strerror(errno));
	close((int)last);
	limit.rlim_cur = 1;
	setrlimit(RLIMIT_NOFILE, &limit);
	printf("landlock %ld\n", syscall(LANDLOCK_CREATE_RULESET, NULL, 0L, 1L));
}

int main(void)
{
	without_sense();
	use_older();
	signal_itself();
	wait_in_thread();
	use_up_descriptors();
	return 3;
}
