/* SPDX-License-Identifier: MIT
 *
 * sharing HOW ROUNDS: two threads that write words next to each other (false), a line
 * apart (padded), the same word (true); or hand items through a queue (queue), where
 * the words of each side lie in one line, but both sides use them.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64
#define SLOTS 16

/* Compilers order variables as they like. */
__asm__(".pushsection .data\n"
	".balign 64\n"
	".type first_counter, %object\n.size first_counter, 8\nfirst_counter: .quad 0\n"
	".type second_counter, %object\n.size second_counter, 8\nsecond_counter: .quad "
	"0\n"
	".zero 48\n"
	".popsection\n");
extern volatile long first_counter __attribute__((visibility("hidden")));
extern volatile long second_counter __attribute__((visibility("hidden")));

static struct {
	volatile long counter __attribute__((aligned(LINE)));
} padded[2];

static volatile long common __attribute__((aligned(LINE)));

static struct {
	volatile long item[SLOTS] __attribute__((aligned(LINE)));
	volatile long head, tail;
} queue;

static long rounds;

/* Else one thread may have ended before the other begins. */
static pthread_barrier_t both;

static void *count(void *counter)
{
	pthread_barrier_wait(&both);
	for (long i = 0; i < rounds; i++) {
		long value = *(volatile long *)counter;

		/* Compilers may make one instruction of what loads and stores. */
		__asm__ volatile("" : "+r"(value));
		*(volatile long *)counter = value + 1;
	}
	return NULL;
}

static void *produce(void *unused)
{
	for (long i = 0; i < rounds; i++) {
		while (__atomic_load_n(&queue.head, __ATOMIC_ACQUIRE) -
				__atomic_load_n(&queue.tail, __ATOMIC_ACQUIRE) ==
			SLOTS)
			sched_yield();
		queue.item[i % SLOTS] = i;
		__atomic_store_n(&queue.head, i + 1, __ATOMIC_RELEASE);
	}
	return unused;
}

static void *consume(void *unused)
{
	for (long i = 0; i < rounds; i++) {
		while (__atomic_load_n(&queue.head, __ATOMIC_ACQUIRE) ==
			__atomic_load_n(&queue.tail, __ATOMIC_ACQUIRE))
			sched_yield();
		if (queue.item[i % SLOTS] != i)
			abort();
		__atomic_store_n(&queue.tail, i + 1, __ATOMIC_RELEASE);
	}
	return unused;
}

static void run(void *(*one)(void *), void *first, void *(*other)(void *), void *second)
{
	pthread_t thread[2];

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread[0], NULL, one, first);
	pthread_create(&thread[1], NULL, other, second);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
}

/* Words of one block. */
static void count_in_heap(void)
{
	char *block = aligned_alloc(LINE, LINE);
	long *small = (long *)(void *)block;

	memset(block, 0, LINE);
	run(count, &small[0], count, &small[4]);
	free(block);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "false";

	rounds = argc > 2 ? atol(argv[2]) : 10000;
	if (strcmp(how, "false") == 0)
		run(count, (void *)&first_counter, count, (void *)&second_counter);
	else if (strcmp(how, "padded") == 0)
		run(count, (void *)&padded[0], count, (void *)&padded[1]);
	else if (strcmp(how, "true") == 0)
		run(count, (void *)&common, count, (void *)&common);
	else if (strcmp(how, "queue") == 0)
		run(produce, NULL, consume, NULL);
	else if (strcmp(how, "heap") == 0)
		count_in_heap();
	else
		return 2;
	return 0;
}
