/* SPDX-License-Identifier: MIT
 *	many_threads THREADS FILES
 * Opens FILES files while THREADS threads live.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t started;

static void *wait_at_gate(void *unused)
{
	pthread_barrier_wait(&started);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return unused;
}

static int open_files(int count)
{
	int opened = 0;

	for (int i = 0; i < count; i++)
		opened += open("/dev/null", O_RDONLY) >= 0;
	return opened;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 10,
	    files = argc > 2 ? atoi(argv[2]) : 10;
	pthread_t *thread = calloc((size_t)threads, sizeof(*thread));
	pthread_attr_t small;

	pthread_barrier_init(&started, NULL, (unsigned)threads + 1);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_mutex_lock(&gate);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], &small, wait_at_gate, NULL))
			return 1;
	pthread_barrier_wait(&started);
	printf("%d threads, %d files\n", threads, open_files(files));
	pthread_mutex_unlock(&gate);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return 0;
}
