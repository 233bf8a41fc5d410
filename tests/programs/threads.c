/* SPDX-License-Identifier: MIT
 *	threads COUNT
 * COUNT threads, all alive at once, thread i adding up i + 1 lines of its own.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t all_alive;

static void *work(void *argument)
{
	uintptr_t index = (uintptr_t)argument, sum = 0;
	volatile unsigned char *line = calloc(index + 1, 64);

	pthread_barrier_wait(&all_alive);
	for (uintptr_t i = 0; i <= index; i++)
		sum += line[i * 64] + i;
	free((void *)line);
	return (void *)sum;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	pthread_t *thread = calloc(count, sizeof(*thread));
	pthread_attr_t attributes;
	uintptr_t total = 0;

	pthread_barrier_init(&all_alive, NULL, count);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 128 * 1024);
	for (uintptr_t i = 0; i < count; i++)
		if (pthread_create(&thread[i], &attributes, work, (void *)i)) {
			perror("pthread_create");
			return 1;
		}
	for (unsigned i = 0; i < count; i++) {
		void *sum;

		pthread_join(thread[i], &sum);
		total += (uintptr_t)sum;
	}
	printf("%u threads, sum %lu\n", count, (unsigned long)total);
	free(thread);
	return 0;
}
