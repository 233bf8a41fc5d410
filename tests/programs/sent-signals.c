/* SPDX-License-Identifier: MIT
 *
 * Signals that are sent, of each kind that an instruction may raise, too: what becomes of
 * them, where they are blocked, ignored or handled, and who waits for them.
 *
 * usage: sent-signals NUMBER HOW SEND TAKE, lists with commas: each combination is a
 * child HOW: blocked (and handled), ignored, ignored-blocked, handled, default SEND:
 * kill, tgkill, sigqueue, thread (pthread_sigqueue), raise, child (another process) TAKE:
 * wait (sigwaitinfo), timed (sigtimedwait), descriptor (signalfd), pending, mask (it is
 * unblocked), suspend (sigsuspend), reading (a thread that reads), exec (the next program
 * waits for it)
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int number, handled, value, code;
static const char *how, *sent, *taken;

static void handle(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	handled++;
	value = info->si_value.sival_int;
	code = info->si_code;
}

static int blocks(void)
{
	return strstr(how, "blocked") != NULL;
}

static void send_from_child(void)
{
	pid_t parent = getpid(), child = fork();

	if (child == 0) {
		kill(parent, number);
		_exit(0);
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static void send_it(int what)
{
	union sigval with = {.sival_int = what};
	int result = 0;

	if (strcmp(sent, "kill") == 0)
		result = kill(getpid(), number);
	else if (strcmp(sent, "tgkill") == 0)
		result = (int)syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
	else if (strcmp(sent, "sigqueue") == 0)
		result = sigqueue(getpid(), number, with);
	else if (strcmp(sent, "thread") == 0)
		result = pthread_sigqueue(pthread_self(), number, with);
	else if (strcmp(sent, "raise") == 0)
		result = raise(number);
	else
		send_from_child();
	if (result)
		printf("sent: %d\n", result);
}

static void show_info(const char *what, const siginfo_t *info, int result)
{
	int has_value = strcmp(sent, "sigqueue") == 0 || strcmp(sent, "thread") == 0;

	if (result != number)
		printf("%s: %d (%s)\n", what, result, strerrorname_np(errno));
	else
		printf("%s: %d code %d value %d from %s\n", what, result, info->si_code,
			has_value ? info->si_value.sival_int : 0,
			info->si_pid == getpid() ? "itself" : "another");
}

static void wait_for_it(const sigset_t *set)
{
	struct timespec soon = {0, 20000000};
	siginfo_t info;
	int result = sigtimedwait(set, &info, &soon);

	show_info("waited", &info, result);
	result = sigtimedwait(set, &info, &(struct timespec){0, 0});
	show_info("again", &info, result);
}

static void read_it(const sigset_t *set)
{
	struct signalfd_siginfo info[2];
	int fd = signalfd(-1, set, SFD_NONBLOCK);
	struct pollfd ready = {fd, POLLIN, 0};
	int n = poll(&ready, 1, 20);
	ssize_t size = read(fd, info, sizeof(info));

	printf("descriptor: %d, %zd", n, size < 0 ? -1 : size / (ssize_t)sizeof(*info));
	if (size > 0)
		printf(", %u code %d value %d", info->ssi_signo, info->ssi_code,
			strcmp(sent, "sigqueue") && strcmp(sent, "thread")
				? 0
				: info->ssi_int);
	puts("");
}

static void *read_pipe(void *fd)
{
	char byte;

	printf("read %zd\n", read(*(int *)fd, &byte, 1));
	return NULL;
}

static void take_it(const sigset_t *set, const sigset_t *before, char **argv)
{
	sigset_t pending;
	int fds[2];

	if (strcmp(taken, "timed") == 0 || strcmp(taken, "awaited") == 0) {
		wait_for_it(set);
	} else if (strcmp(taken, "wait") == 0) {
		sigset_t either = *set;
		siginfo_t info;

		sigaddset(&either, SIGALRM);
		sigprocmask(SIG_BLOCK, &either, NULL);
		alarm(2);
		show_info("got", &info, sigwaitinfo(&either, &info));
	} else if (strcmp(taken, "descriptor") == 0) {
		read_it(set);
	} else if (strcmp(taken, "suspend") == 0) {
		signal(SIGALRM, SIG_IGN);
		if (blocks() && strcmp(how, "blocked") == 0)
			printf("suspended: %d\n", sigsuspend(before));
	} else if (strcmp(taken, "reading") == 0) {
		pthread_t thread;

		if (pipe(fds) || pthread_create(&thread, NULL, read_pipe, &fds[0]))
			return;
		usleep(20000);
		send_it(9);
		if (write(fds[1], "x", 1) != 1)
			return;
		pthread_join(thread, NULL);
	} else if (strcmp(taken, "exec") == 0) {
		fflush(stdout);
		execl("/proc/self/exe", argv[0], argv[1], how, sent, "awaited", NULL);
	}
	sigpending(&pending);
	printf("pending: %d\n", sigismember(&pending, number));
}

static void run_one(char **argv)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, number);
	if (strcmp(how, "handled") == 0 || strcmp(how, "blocked") == 0)
		sigaction(number, &action, NULL);
	else if (strncmp(how, "ignored", 7) == 0)
		signal(number, SIG_IGN);
	sigprocmask(SIG_SETMASK, NULL, &before);
	if (blocks())
		sigprocmask(SIG_BLOCK, &set, &before);
	sigdelset(&before, number);
	if (strcmp(taken, "awaited") != 0) {
		send_it(7);
		send_it(8);
	}
	printf("handled %d\n", handled);
	fflush(stdout);
	take_it(&set, &before, argv);
	printf("handled %d, value %d, code %d\n", handled,
		strcmp(sent, "sigqueue") && strcmp(sent, "thread") ? 0 : value, code);
	fflush(stdout);
	sigprocmask(SIG_SETMASK, &before, NULL);
	printf("at last %d, value %d, code %d\n", handled,
		strcmp(sent, "sigqueue") && strcmp(sent, "thread") ? 0 : value, code);
}

/* One word of a list after the other. */
static char *next_of(char **list)
{
	char *word = strsep(list, ",");

	return word ? strdup(word) : NULL;
}

static void run_child(char **argv)
{
	int status;
	pid_t child;

	printf("-- %d %s %s %s\n", number, how, sent, taken);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		run_one(argv);
		exit(0);
	}
	while (waitpid(child, &status, 0) < 0)
		;
	printf("status %#x\n", status & ~0x80);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	number = atoi(argv[1]);
	if (strcmp(argv[4], "awaited") == 0) {
		how = argv[2];
		sent = argv[3];
		taken = argv[4];
		run_one(argv);
		return 0;
	}
	for (char *hows = strdup(argv[2]); (how = next_of(&hows));)
		for (char *sends = strdup(argv[3]); (sent = next_of(&sends));)
			for (char *takes = strdup(argv[4]); (taken = next_of(&takes));)
				run_child(argv);
	return 0;
}
