/* SPDX-License-Identifier: MIT
 *	coexist trap|timer|fork_in_handler [ADDRESS]|fork_from_thread|fork_often
 * Markers in signal handlers, and forks, at the worst moments.  With the trap
 * flag set the CPU raises SIGTRAP after each instruction: a handler that runs
 * then has interrupted a marker, or a hook, everywhere in turn.  ADDRESS, of a
 * function in the library's file: more of the steps from its first call on.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "cachepeek.h"

enum { ROUNDS = 4, ROUNDS_OF_DESTRUCTORS = 4 };

static cachepeek_region names[ROUNDS + 1], in_handler;
static volatile unsigned long handled, worked, refused;
static void (*in_trap)(int inside); /* the library? */
static uintptr_t watched;
static unsigned long watched_since; /* a step; 0: not yet */
static pid_t parent;

#ifdef __x86_64__
#define HAVE_TRAP 1
#define TRAP_AT(context)                                                                 \
	((uintptr_t)((ucontext_t *)(context))->uc_mcontext.gregs[REG_RIP])
#define TRAP_OFF(context)                                                                \
	(((ucontext_t *)(context))->uc_mcontext.gregs[REG_EFL] &= ~0x100l)
static void set_trap(void)
{
	__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq" : : : "memory", "cc");
}
static void clear_trap(void)
{
	__asm__ volatile("pushfq; andl $~0x100, (%%rsp); popfq" : : : "memory", "cc");
}
#else
#define HAVE_TRAP 0
#define TRAP_AT(context) ((void)(context), (uintptr_t)0)
#define TRAP_OFF(context) ((void)(context))
static void set_trap(void)
{
}
static void clear_trap(void)
{
}
#endif

/* Where the library's code is, and libc's pthread_create, which may not be
 * interrupted by a trap: it blocks signals. */
static uintptr_t library, code_begin, code_end, create_begin;

static int find_library(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	if (!strstr(info->dlpi_name, "libcachepeek"))
		return 0;
	library = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_flags & PF_X) {
			code_begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			code_end = code_begin + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

static void find_code(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	dl_iterate_phdr(find_library, NULL);
	create_begin = (uintptr_t)dlsym(libc, "pthread_create");
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	uintptr_t at = TRAP_AT(context);

	(void)number, (void)info;
	if (at == create_begin)
		TRAP_OFF(context);
	handled++;
	if (at == watched && !watched_since)
		watched_since = handled;
	if (in_trap)
		in_trap(at >= code_begin && at < code_end);
	if (!in_trap)
		TRAP_OFF(context);
}

static void handle(int number)
{
	struct sigaction action = {
		.sa_sigaction = on_signal, .sa_flags = SA_RESTART | SA_SIGINFO};

	find_code();
	sigaction(number, &action, NULL);
}

/* ---- a marker in a handler: it works, or it is refused ---- */

static void mark(int inside)
{
	uint64_t value;

	(void)inside;
	cachepeek_begin(in_handler);
	if (cachepeek_read("perf::CONTEXT-SWITCHES", &value) == 0 ||
		cachepeek_read("instructions", &value) == 0)
		worked++;
	else
		refused++;
	cachepeek_end(in_handler);
}

/* Each round opens a region that is new. */
static void regions(void)
{
	char name[32];

	for (unsigned i = 0; i < ROUNDS; i++) {
		cachepeek_begin(names[i]);
		cachepeek_begin(names[ROUNDS]);
		cachepeek_end(names[ROUNDS]);
		cachepeek_end(names[i]);
		snprintf(name, sizeof(name), "late-%u", i);
		cachepeek_begin(cachepeek_region_register(name));
		cachepeek_end(cachepeek_region_register(name));
	}
}

static void register_names(void)
{
	char name[32];

	for (unsigned i = 0; i < ROUNDS; i++) {
		snprintf(name, sizeof(name), "round-%u", i);
		names[i] = cachepeek_region_register(name);
	}
	names[ROUNDS] = cachepeek_region_register("inner");
	in_handler = cachepeek_region_register("handler");
}

static int trap(void)
{
	in_trap = mark;
	handle(SIGTRAP);
	set_trap();
	regions();
	clear_trap();
	printf("%d %lu\n", handled > 0, worked);
	return handled != worked + refused;
}

static int timer(void)
{
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};

	in_trap = mark;
	handle(SIGALRM);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned i = 0; i < 20000 || handled < 100; i++) {
		cachepeek_begin(names[i % ROUNDS]);
		cachepeek_end(names[i % ROUNDS]);
		cachepeek_begin(names[ROUNDS]);
		cachepeek_end(names[ROUNDS]);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d %lu\n", handled > 0, worked);
	return handled != worked + refused;
}

/* ---- fork, while the library is at work ---- */

static int armed;

static void *thread_work(void *argument)
{
	clear_trap();
	CACHEPEEK_BEGIN("thread");
	CACHEPEEK_END("thread");
	if (armed && argument)
		set_trap(); /* the thread's end; last_destructor is after the library's */
	return argument;
}

static void create_thread(void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_work, argument) == 0)
		pthread_join(thread, NULL);
}

static struct rlimit files;

static rlim_t file_limit(void)
{
	struct rlimit now;

	prlimit(0, RLIMIT_NOFILE, NULL, &now);
	return now.rlim_cur;
}

/* A child that takes every lock of the library, and does not wait for ever. */
static void use_everything(void)
{
	armed = 0;
	alarm(100);
	if (file_limit() != files.rlim_cur)
		_exit(3);
	regions();
	create_thread(NULL);
	create_thread(NULL);
	exit(0);
}

static void expect_success(pid_t pid)
{
	int status = 0;

	if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
		return;
	fprintf(stderr, "child at step %lu: status %#x\n", handled, status);
	_exit(1);
}

/* Few of many steps, since forks are slow; primes, to meet every place of a
 * loop. */
enum { STRIDE = 61, LONG_STRIDE = 211, WATCHED_STRIDE = 2, WATCHED_STEPS = 500 };

static int is_time_to_fork(void)
{
	if (watched_since && handled - watched_since < WATCHED_STEPS)
		return handled % WATCHED_STRIDE == 0;
	return handled % LONG_STRIDE == 0;
}

static void fork_and_go_on(int inside)
{
	pid_t pid;

	if (!inside || !is_time_to_fork())
		return;
	pid = fork();
	if (pid > 0) {
		expect_success(pid);
		return;
	}
	alarm(100);
	in_trap = NULL;
}

static int fork_in_handler(void)
{
	in_trap = fork_and_go_on;
	handle(SIGTRAP);
	if (watched)
		watched += library;
	set_trap();
	regions();
	clear_trap();
	if (getpid() != parent)
		use_everything();
	puts("all well");
	return 0;
}

/* A thread is stopped inside the library, never inside libc, whose own locks
 * fork waits for, and the main thread forks. */
static sem_t stopped, forked;
static volatile int finished;

static void let_fork(int inside)
{
	if (!inside || (handled % STRIDE && file_limit() == files.rlim_cur))
		return;
	sem_post(&stopped);
	while (sem_wait(&forked) < 0)
		;
}

/* libstep.so calls this when the library opens or closes a thread's counters. */
void coexist_step(void);
void coexist_step(void)
{
	if (armed && gettid() != getpid())
		set_trap();
}

static pthread_key_t key;

static void last_destructor(void *rounds)
{
	if ((uintptr_t)rounds < ROUNDS_OF_DESTRUCTORS)
		pthread_setspecific(key, (void *)((uintptr_t)rounds + 1));
	else
		clear_trap();
}

static void *last_thread(void *argument)
{
	pthread_setspecific(key, (void *)1);
	return thread_work(argument);
}

static void *stepper(void *argument)
{
	pthread_t thread;

	armed = 1;
	set_trap();
	if (pthread_create(&thread, NULL, last_thread, argument) == 0) {
		clear_trap();
		pthread_join(thread, NULL);
	}
	set_trap();
	regions();
	clear_trap();
	armed = 0;
	finished = 1;
	sem_post(&stopped);
	return argument;
}

static int fork_from_thread(void)
{
	pthread_t thread;

	in_trap = let_fork;
	handle(SIGTRAP);
	pthread_key_create(&key, last_destructor);
	pthread_create(&thread, NULL, stepper, &parent);
	while (sem_wait(&stopped) == 0 && !finished) {
		pid_t pid = fork();

		if (pid == 0)
			use_everything();
		expect_success(pid);
		sem_post(&forked);
	}
	pthread_join(thread, NULL);
	puts("all well");
	return 0;
}

/* ---- fork, wherever the other threads happen to be ---- */

static void *busy(void *argument)
{
	while (!finished) {
		regions();
		create_thread(NULL);
	}
	return argument;
}

static int fork_often(void)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, busy, NULL);
	for (int i = 0; i < 30; i++) {
		pid_t pid = fork();

		if (pid == 0)
			use_everything();
		expect_success(pid);
	}
	finished = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	puts("all well");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
	int traps;
} ways[] = {
	{"trap", trap, 1},
	{"timer", timer, 0},
	{"fork_in_handler", fork_in_handler, 1},
	{"fork_from_thread", fork_from_thread, 1},
	{"fork_often", fork_often, 0},
};

int main(int argc, char **argv)
{
	parent = getpid();
	watched = argc > 2 ? strtoul(argv[2], NULL, 16) : 0;
	register_names();
	sem_init(&stopped, 0, 0);
	sem_init(&forked, 0, 0);
	prlimit(0, RLIMIT_NOFILE, NULL, &files);
	if (files.rlim_cur > 1000) { /* so that there is a reason to raise it */
		files.rlim_cur = 1000;
		prlimit(0, RLIMIT_NOFILE, &files, NULL);
	}
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (argc < 2 || strcmp(ways[i].name, argv[1]))
			continue;
		if (ways[i].traps && !HAVE_TRAP)
			return 77;
		return ways[i].run();
	}
	return 2;
}
