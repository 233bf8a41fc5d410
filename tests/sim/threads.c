/* SPDX-License-Identifier: MIT
 *
 * N threads at once, or one after the other, each adding to its own line.
 * Usage: threads N [serial] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t all_here;
static struct {
	long value, unused[7];
} cell[5000];

static void *work(void *p)
{
	long *value = p;

	pthread_barrier_wait(&all_here);
	for (int i = 0; i < 1000; i++)
		*value += i;
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 4, serial = argc > 2;
	static pthread_t thread[5000];
	pthread_attr_t small;
	long sum = 0;

	pthread_barrier_init(&all_here, NULL, serial ? 1 : (unsigned)n);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < n; i++) {
		if (pthread_create(&thread[i], &small, work, &cell[i].value))
			return 1;
		if (serial)
			pthread_join(thread[i], NULL);
	}
	for (int i = 0; i < n; i++) {
		if (!serial)
			pthread_join(thread[i], NULL);
		sum += cell[i].value;
	}
	printf("%ld\n", sum);
	return 0;
}
