/* SPDX-License-Identifier: MIT
 *
 * spins WAY THREADS ROUNDS: threads that wait for each other in loops.  Prints what they
 * have counted together.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#define HINT __builtin_ia32_pause()
#else
#define HINT __asm__ volatile("yield")
#endif

static atomic_int word, next, serving, arrived, sense, flags[64];
static pthread_spinlock_t spinlock;
static volatile long sum;
static int nthreads, rounds;

/* ---- locks ---- */

static void exchange_lock(int me)
{
	(void)me;
	while (atomic_exchange_explicit(&word, 1, memory_order_acquire))
		;
}

static void compare_lock(int me)
{
	int expected = 0;

	(void)me;
	while (!atomic_compare_exchange_weak(&word, &expected, 1))
		expected = 0;
}

static void test_first_lock(int me)
{
	(void)me;
	do
		while (atomic_load_explicit(&word, memory_order_relaxed))
			;
	while (atomic_exchange(&word, 1));
}

static void hint_lock(int me)
{
	(void)me;
	while (atomic_exchange(&word, 1))
		HINT;
}

/* Longer after each failure. */
static void backoff_lock(int me)
{
	int wait = 1;

	(void)me;
	for (; atomic_exchange(&word, 1); wait = wait < 64 ? 2 * wait : wait)
		for (int i = 0; i < wait; i++)
			HINT;
}

static void unlock(int me)
{
	(void)me;
	atomic_store_explicit(&word, 0, memory_order_release);
}

static void ticket_lock(int me)
{
	int mine = atomic_fetch_add(&next, 1);

	(void)me;
	while (atomic_load(&serving) != mine)
		;
}

static void ticket_unlock(int me)
{
	(void)me;
	atomic_store(&serving, atomic_load(&serving) + 1);
}

static void libc_lock(int me)
{
	(void)me;
	pthread_spin_lock(&spinlock);
}

static void libc_unlock(int me)
{
	(void)me;
	pthread_spin_unlock(&spinlock);
}

/* Each in its turn. */
static void wait_for_turn(int me)
{
	while (atomic_load_explicit(&word, memory_order_acquire) != me)
		;
}

static void pass_turn(int me)
{
	atomic_store_explicit(&word, (me + 1) % nthreads, memory_order_release);
}

/* Flags of their own, set by the one before. */
static void wait_for_flag(int me)
{
	while (!atomic_load(&flags[me]))
		HINT;
	atomic_store(&flags[me], 0);
}

static void pass_flag(int me)
{
	atomic_store(&flags[(me + 1) % nthreads], 1);
}

/* ---- loops of several basic blocks ---- */

static __attribute__((noinline)) int is_turn_of(int me)
{
	return atomic_load_explicit(&word, memory_order_acquire) == me;
}

static __attribute__((noinline)) void rest(void)
{
	__asm__ volatile("" ::: "memory");
}

static int (*volatile test)(int) = is_turn_of;

static void wait_by_call(int me)
{
	while (!is_turn_of(me))
		;
}

static void wait_by_pointer(int me)
{
	while (!test(me))
		for (int i = 0; i < 3; i++)
			rest();
}

static void ticket_by_call(int me)
{
	int mine = atomic_fetch_add(&next, 1);

	(void)me;
	while (atomic_load(&serving) != mine)
		rest();
}

/* Both copies of a number that a writer changes, until they are the same, and mine. */
static void wait_for_both(int me)
{
	int before, behind;

	do {
		before = atomic_load(&word);
		rest();
		behind = atomic_load(&flags[0]);
		if (before != behind)
			rest();
	} while (before != behind || before % nthreads != me);
}

static void pass_both(int me)
{
	int now = atomic_load(&word) + 1;

	(void)me;
	atomic_store(&word, now);
	atomic_store(&flags[0], now);
}

static void wait_by_clock(int me)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec < 0 || !is_turn_of(me));
}

/* A barrier, and then one of them. */
static void reach(int me)
{
	int now = !atomic_load(&sense);

	(void)me;
	if (atomic_fetch_add(&arrived, 1) == nthreads - 1) {
		atomic_store(&arrived, 0);
		atomic_store(&sense, now);
	} else {
		while (atomic_load(&sense) != now)
			;
	}
	exchange_lock(me);
}

static const struct way {
	const char *name;
	void (*lock)(int me), (*unlock)(int me);
} ways[] = {
	{"exchange", exchange_lock, unlock},
	{"compare", compare_lock, unlock},
	{"test-first", test_first_lock, unlock},
	{"hint", hint_lock, unlock},
	{"backoff", backoff_lock, unlock},
	{"ticket", ticket_lock, ticket_unlock},
	{"libc", libc_lock, libc_unlock},
	{"turn", wait_for_turn, pass_turn},
	{"flag", wait_for_flag, pass_flag},
	{"barrier", reach, unlock},
	{"call", wait_by_call, pass_turn},
	{"pointer", wait_by_pointer, pass_turn},
	{"ticket-call", ticket_by_call, ticket_unlock},
	{"both", wait_for_both, pass_both},
	{"clock", wait_by_clock, pass_turn},
};

static const struct way *way;

static void *work(void *number)
{
	int me = (int)(long)number;

	for (int i = 0; i < rounds; i++) {
		way->lock(me);
		sum = sum + 1;
		way->unlock(me);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];

	if (argc < 4) {
		for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
			puts(ways[i].name);
		return 0;
	}
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(ways[i].name, argv[1]) == 0)
			way = &ways[i];
	nthreads = atoi(argv[2]);
	rounds = atoi(argv[3]);
	if (!way || nthreads < 1 || nthreads > 64)
		return 2;
	flags[0] = strcmp(way->name, "both") != 0;
	pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
	for (long i = 0; i < nthreads; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	printf("%s %d %d: %ld\n", argv[1], nthreads, rounds, sum);
	return 0;
}
