/* SPDX-License-Identifier: MIT
 *	ends HOW [FD]
 * Ends in one of the ways in which processes end, while four threads are
 * running regions.  Each thread i completes "work" 10 + i times before the end
 * comes, and is then inside "open".
 */
#include <assert.h>
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "cachepeek.h"
#include "raw_exit.h"

enum { THREADS = 4 };

static pthread_barrier_t ready;
static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
static volatile int released, linger;
static void (*end_in_thread)(void);

static void *work(void *argument)
{
	unsigned index = (unsigned)(size_t)argument;

	for (unsigned i = 0; i < 10 + index; i++) {
		CACHEPEEK_BEGIN("work");
		CACHEPEEK_BEGIN("inner");
		CACHEPEEK_END("inner");
		CACHEPEEK_END("work");
	}
	CACHEPEEK_BEGIN("open");
	pthread_barrier_wait(&ready);
	if (index == 0 && end_in_thread)
		end_in_thread();
	while (!released)
		usleep(1000);
	usleep(linger);
	CACHEPEEK_END("open");
	return NULL;
}

static void start(void)
{
	pthread_t thread;

	pthread_barrier_init(&ready, NULL, THREADS + 1);
	pthread_mutex_lock(&never);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	pthread_barrier_wait(&ready);
}

static void wait_for_ever(void)
{
	for (;;)
		pause();
}

static int overflow(volatile char *outer)
{
	volatile char frame[4096];

	frame[0] = *outer;
	if (frame[0])
		return 0;
	return overflow(frame) + frame[0];
}

static void exit_9(void)
{
	exit(9);
}
static void exit_11(void)
{
	_exit(11);
}
static void abort_now(void)
{
	abort();
}
static void fault(void)
{
	*(volatile int *)8 = 1;
}

static void overflow_now(void)
{
	volatile char first = 0;

	overflow(&first);
}

static void on_signal(int number)
{
	_exit(100 + number);
}

static void default_again(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static void default_by_sigaction(int number)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	sigaction(number, &action, NULL);
	raise(number);
}

static void by_kill(int number)
{
	kill(getpid(), number);
}

static void by_pthread_kill(int number)
{
	pthread_kill(pthread_self(), number);
}

static void by_tgkill(int number)
{
	tgkill(getpid(), gettid(), number);
}

static void by_raise(int number)
{
	raise(number);
}

static const struct {
	const char *name;
	void (*send)(int);
} senders[] = {{"once_raise", by_raise}, {"once_kill", by_kill},
	{"once_pthread_kill", by_pthread_kill}, {"once_tgkill", by_tgkill}};

/* A handler that the kernel takes away when it runs, and that sends the signal again. */
static void die_by(void (*send)(int))
{
	struct sigaction action = {.sa_handler = send, .sa_flags = (int)SA_RESETHAND};

	sigaction(SIGTERM, &action, NULL);
	raise(SIGTERM);
}

/* A stack for signals, given and taken back again. */
static void overflow_without_stack(void)
{
	static char memory[1 << 16];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};

	sigaltstack(&stack, NULL);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	overflow_now();
}

static void in_thread(void (*end)(void))
{
	end_in_thread = end;
	start();
	wait_for_ever();
}

static void divide(void)
{
	volatile int zero = 0, one = 1;

#ifdef __x86_64__
	zero = one / zero;
#else
	(void)zero, (void)one;
	raise(SIGFPE);
#endif
}

static void use_cpu(void)
{
	struct rlimit limit = {1, RLIM_INFINITY};

	setrlimit(RLIMIT_CPU, &limit);
	for (;;)
		;
}

static int child(int fast)
{
	pid_t pid = fast ? vfork() : fork();
	int status;

	if (pid == 0)
		_exit(13 + fast);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void write_to_nobody(void)
{
	int end[2];

	if (pipe(end) == 0) {
		close(end[0]);
		if (write(end[1], "", 1) < 0)
			_exit(99);
	}
}

static void main_leaves(void)
{
	linger = 200000; /* so that the main thread is not the last */
	released = 1;
	syscall(SYS_exit, 24);
}

static void quietly(const char *how)
{
	if (!strcmp(how, "return"))
		return;
	if (!strcmp(how, "exit"))
		exit(4);
	if (!strcmp(how, "_exit"))
		_exit(5);
	if (!strcmp(how, "_Exit"))
		_Exit(6);
	if (!strcmp(how, "quick_exit"))
		quick_exit(7);
	if (!strcmp(how, "quick_handler")) {
		at_quick_exit(exit_11);
		quick_exit(7);
	}
	if (!strcmp(how, "syscall"))
		syscall(SYS_exit_group, 8);
	if (!strcmp(how, "raw"))
		raw_exit(22);
	if (!strcmp(how, "atexit")) {
		atexit(exit_11);
		exit(10);
	}
	if (!strcmp(how, "err"))
		err(12, "said");
	if (!strcmp(how, "pthread_exit")) {
		released = 1;
		pthread_exit(NULL);
	}
	if (!strcmp(how, "thrd_exit")) {
		released = 1;
		thrd_exit(0);
	}
	if (!strcmp(how, "SYS_exit"))
		main_leaves();
	if (!strcmp(how, "fork"))
		exit(child(0));
	if (!strcmp(how, "vfork"))
		exit(child(1));
	if (!strcmp(how, "exec"))
		execl("/bin/sh", "sh", "-c", "exit 12", NULL);
	if (!strcmp(how, "daemon") && daemon(1, 1) == 0)
		exit(33);
}

static void by_signal(const char *how)
{
	int number = atoi(how);

	if (number > 0) {
		raise(number);
		wait_for_ever();
	}
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "assert"))
		assert(!how);
	if (!strcmp(how, "segv"))
		fault();
	if (!strcmp(how, "overflow"))
		overflow_now();
	if (!strcmp(how, "overflow_without_stack"))
		overflow_without_stack();
	if (!strcmp(how, "divide"))
		divide();
	if (!strcmp(how, "cpu"))
		use_cpu();
	if (!strcmp(how, "alarm")) {
		alarm(1);
		wait_for_ever();
	}
	if (!strcmp(how, "pipe"))
		write_to_nobody();
	if (!strcmp(how, "handled")) {
		signal(SIGTERM, on_signal);
		raise(SIGTERM);
	}
	if (!strcmp(how, "default_again")) {
		signal(SIGTERM, default_again);
		raise(SIGTERM);
	}
	for (size_t i = 0; i < sizeof(senders) / sizeof(senders[0]); i++)
		if (!strcmp(how, senders[i].name))
			die_by(senders[i].send);
	if (!strcmp(how, "default_by_sigaction")) {
		signal(SIGTERM, default_by_sigaction);
		raise(SIGTERM);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";

	if (!strcmp(how, "thread"))
		in_thread(exit_9);
	if (!strcmp(how, "thread_abort"))
		in_thread(abort_now);
	if (!strcmp(how, "thread_segv"))
		in_thread(fault);
	if (!strcmp(how, "thread_overflow"))
		in_thread(overflow_now);
	start();
	quietly(how);
	by_signal(how);
	return 3;
}
