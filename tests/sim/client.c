/* SPDX-License-Identifier: MIT
 *
 * The program under test for client.t: does things with known counts and
 * prints what the simulated PMU says about them, one "name value" per line.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ask.h"
#include "request.h"

#define LINES 512 /* 32 KB: with 64-byte lines in 8 ways of 64 sets */

typedef uint64_t counts[CP_SIM_NALL];

/* Never inlined, so that all requests write the same stack line. */
static __attribute__((noinline)) unsigned long ask(
	unsigned long request, const void *a, const void *b)
{
	return CP_SIM_ASK(request, a, b, 0, 0);
}

static void show(const char *test, const counts before, const counts after)
{
#define X(name, meaning)                                                                 \
	printf("%s.%s %llu\n", test, #name,                                              \
		(unsigned long long)(after[CP_SIM_##name] - before[CP_SIM_##name]));
	CP_SIM_COUNTERS (X)
#undef X
}

static char *pages(size_t size)
{
	return mmap(
		NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* One load, and nothing else in memory. */
static inline __attribute__((always_inline)) void load(const volatile char *p)
{
	__asm__ volatile("movb (%0), %%al" ::"r"(p) : "eax", "memory");
}

static inline __attribute__((always_inline)) void load8(const volatile char *p)
{
	__asm__ volatile("movq (%0), %%rax" ::"r"(p) : "rax", "memory");
}

static inline __attribute__((always_inline)) void store(volatile char *p)
{
	__asm__ volatile("movb $1, (%0)" ::"r"(p) : "memory");
}

static inline __attribute__((always_inline)) void increment(volatile char *p)
{
	__asm__ volatile("addl $1, (%0)" ::"r"(p) : "memory", "cc");
}

static inline __attribute__((always_inline)) void locked(volatile char *p)
{
	__asm__ volatile("lock addl $1, (%0)" ::"r"(p) : "memory", "cc");
}

#define MEASURE(test, body)                                                              \
	do {                                                                             \
		static counts before, after;                                             \
		for (int warm = 0; warm < 2; warm++) {                                   \
			if (warm)                                                        \
				ask(CP_SIM_READ, before, 0);                             \
			if (warm)                                                        \
				body;                                                    \
		}                                                                        \
		ask(CP_SIM_READ, after, 0);                                              \
		show(test, before, after);                                               \
	} while (0)

static void lines(void)
{
	char *p = pages(64 * 4096);

	MEASURE("loads", for (int n = 0; n < 10; n++) for (int i = 0; i < 100; i++)
				 load(p + 64 * i));
	p = pages(64 * 4096);
	MEASURE("stores", for (int n = 0; n < 10; n++) for (int i = 0; i < 100; i++)
				  store(p + 64 * i));
	p = pages(64 * 4096);
	MEASURE("straddles", for (int i = 0; i < 100; i++) load8(p + 128 * i + 60));
	p = pages(64 * 4096);
	MEASURE("rmw", for (int i = 0; i < 100; i++) increment(p + 64 * i));
	p = pages(64 * 4096);
	MEASURE("locked", for (int i = 0; i < 100; i++) locked(p + 64 * i));
	p = pages(64 * 4096);
	MEASURE("nothing", (void)0);
	p = pages(512 * 4096);
	MEASURE("pages", for (int i = 0; i < 500; i++) load(p + 4096 * i));
}

/* Dirties 400 lines, then walks over many clean ones. */
static void write_backs(void)
{
	char *p = pages(64 * 4096), *q = pages(256 * 4096);

	MEASURE("writebacks", {
		for (int i = 0; i < 400; i++)
			store(p + 64 * i);
		for (int i = 0; i < 4096; i++)
			load(q + 64 * i);
	});
}

static void pauses(void)
{
	char *p = pages(64 * 4096);

	for (int i = 0; i < 50; i++)
		load(p + 64 * i);
	MEASURE("paused", {
		ask(CP_SIM_PAUSE, 0, 0);
		ask(CP_SIM_PAUSE, 0, 0);
		for (int i = 0; i < 1000; i++)
			load(p + 64 * i);
		ask(CP_SIM_RESUME, 0, 0);
		for (int i = 0; i < 1000; i++)
			store(p + 64 * i);
		ask(CP_SIM_RESUME, 0, 0);
		for (int i = 0; i < 50; i++)
			load(p + 64 * i);
	});
	MEASURE("resumed", for (int i = 50; i < 150; i++) load(p + 64 * i));
}

/* In a section of its own, so that its bounds are known. */
static __attribute__((noinline, section("own_code"))) void own(char *p)
{
	for (int i = 0; i < 300; i++)
		load(p + 64 * i);
}

extern char __start_own_code[], __stop_own_code[];

static void own_code(void)
{
	char *p = pages(64 * 4096), *q = pages(64 * 4096);

	own(q);
	MEASURE("before_own_code", own(p));
	p = pages(64 * 4096);
	printf("own_code.answer %lu\n",
		ask(CP_SIM_OWN_CODE, __start_own_code, __stop_own_code));
	MEASURE("own_code", own(p));
	MEASURE("after_own_code", for (int i = 0; i < 300; i++) load(p + 64 * i));
}

static counts *thread_mirror, *process_mirror;

static void *worker(void *p)
{
	ask(CP_SIM_BIND, *thread_mirror, 0);
	for (int i = 0; i < 10000; i++)
		load(p);
	return NULL;
}

static const counts zero;

static void threads(void)
{
	static counts own_before, own_after, all_before, all_after;
	pthread_t t;

	thread_mirror = (counts *)pages(4096);
	process_mirror = (counts *)pages(4096);
	ask(CP_SIM_BIND_PROCESS, *process_mirror, 0);
	ask(CP_SIM_READ, own_before, 0);
	ask(CP_SIM_READ_PROCESS, all_before, 0);
	pthread_create(&t, NULL, worker, pages(4096));
	pthread_join(t, NULL);
	ask(CP_SIM_READ, own_after, 0);
	ask(CP_SIM_READ_PROCESS, all_after, 0);
	show("thread", zero, *thread_mirror);
	show("creator", own_before, own_after);
	show("both", all_before, all_after);
	show("process_mirror", all_after, *process_mirror);
	/* its number is used again: the next one starts at zero */
	memset(*thread_mirror, 0, sizeof(counts));
	pthread_create(&t, NULL, worker, pages(4096));
	pthread_join(t, NULL);
	show("second_thread", zero, *thread_mirror);
}

static char *shared_line;
static volatile int turn;

static void *writer(void *unused)
{
	for (int i = 0; i < 10; i++) {
		while (turn != 2 * i + 1)
			sched_yield();
		store(shared_line);
		turn++;
	}
	return unused;
}

static void sharing(void)
{
	static counts before, after;
	pthread_t t;

	shared_line = pages(4096);
	pthread_create(&t, NULL, writer, NULL);
	ask(CP_SIM_READ_PROCESS, before, 0);
	for (int i = 0; i < 10; i++) {
		while (turn != 2 * i)
			sched_yield();
		store(shared_line);
		turn++;
	}
	pthread_join(t, NULL);
	ask(CP_SIM_READ_PROCESS, after, 0);
	show("sharing", before, after);
}

static void forks(void)
{
	static counts parent_before, parent_after, child;
	counts *mirror = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *p = pages(64 * 4096);
	int status = 0;

	for (int i = 0; i < 100; i++)
		load(p + 64 * i);
	fflush(stdout);
	ask(CP_SIM_BIND_PROCESS, *mirror, 0);
	ask(CP_SIM_READ, parent_before, 0);
	if (fork() == 0) {
		static counts before, after;

		ask(CP_SIM_READ_PROCESS, child, 0);
		show("child_start", zero, child);
		ask(CP_SIM_READ, before, 0);
		for (int i = 0; i < 100; i++)
			load(p + 64 * i);
		ask(CP_SIM_READ, after, 0);
		show("child", before, after);
		fflush(stdout);
		for (int i = 0; i < 1000000; i++)
			load(p);
		_exit(7);
	}
	wait(&status);
	ask(CP_SIM_SYNC, 0, 0);
	ask(CP_SIM_READ, parent_after, 0);
	printf("fork.status %d\n", WEXITSTATUS(status));
	show("parent", parent_before, parent_after);
	show("parent_mirror", parent_before, *mirror);
	munmap(mirror, 4096); /* the tool must notice */
	getppid();
}

int main(void)
{
	printf("hello %lu\n", ask(CP_SIM_HELLO, 0, 0));
	printf("bad_pointer %lu\n", ask(CP_SIM_READ, (void *)8, 0));
	lines();
	write_backs();
	pauses();
	own_code();
	threads();
	sharing();
	forks();
	return 0;
}
