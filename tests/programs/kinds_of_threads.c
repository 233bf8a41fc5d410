/* SPDX-License-Identifier: MIT
 * Threads that begin or end in unusual ways, one of each: joined, C11, ended
 * by pthread_exit, cancelled, detached and gone, detached and still running
 * when main returns; and one whose destructor of thread-specific data works.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <unistd.h>

static sem_t gone, stays;
static pthread_key_t key;
static volatile unsigned long sink;

static void spin(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		sink = i;
}

static void *plain(void *unused)
{
	pthread_setname_np(pthread_self(), "plain");
	spin(1000);
	return unused;
}

static int c11(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "c11");
	spin(1000);
	return 7;
}

static void *exits(void *unused)
{
	pthread_setname_np(pthread_self(), "exits");
	spin(1000);
	pthread_exit(unused);
}

static void *cancelled(void *unused)
{
	pthread_setname_np(pthread_self(), "cancelled");
	for (;;)
		pause();
	return unused;
}

static void *leaves(void *unused)
{
	pthread_setname_np(pthread_self(), "leaves");
	spin(1000);
	sem_post(&gone);
	return unused;
}

static void *remains(void *unused)
{
	pthread_setname_np(pthread_self(), "remains");
	spin(1000);
	sem_post(&stays);
	for (;;)
		pause();
	return unused;
}

static void destroy(void *unused)
{
	(void)unused;
	spin(1000);
	printf("destructor\n");
}

static void *with_data(void *unused)
{
	pthread_setname_np(pthread_self(), "with_data");
	pthread_setspecific(key, &key);
	return unused;
}

static void *join(void *(*start)(void *))
{
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, start, NULL);
	if (start == cancelled)
		pthread_cancel(thread);
	pthread_join(thread, &result);
	return result;
}

static void detach(void *(*start)(void *), sem_t *done)
{
	pthread_t thread;

	sem_init(done, 0, 0);
	pthread_create(&thread, NULL, start, NULL);
	pthread_detach(thread);
	sem_wait(done);
}

int main(void)
{
	thrd_t thread;
	int result;

	pthread_key_create(&key, destroy);
	join(plain);
	thrd_create(&thread, c11, NULL);
	thrd_join(thread, &result);
	printf("c11 %d\n", result);
	join(exits);
	printf("cancelled %d\n", join(cancelled) == PTHREAD_CANCELED);
	join(with_data);
	detach(leaves, &gone);
	detach(remains, &stays);
	return 0;
}
