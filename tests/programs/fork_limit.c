/* SPDX-License-Identifier: MIT
 *	fork_limit CHILDREN
 * Forks while other threads begin threads, for each of which the library needs
 * descriptors: prints in how many children the limit of open files is not the
 * program's.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* On a busy machine they would begin ever more threads, and no child had a turn. */
#define MOST_THREADS 20000

static int stop;  /* atomic */
static int begun; /* atomic */

static void *nothing(void *unused)
{
	return unused;
}

static void *begin_threads(void *unused)
{
	pthread_t thread;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) &&
		__atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED) <= MOST_THREADS)
		if (pthread_create(&thread, NULL, nothing, NULL) == 0)
			pthread_join(thread, NULL);
	return unused;
}

static rlim_t limit(void)
{
	struct rlimit files;

	return getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur : 0;
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 100, wrong = 0, status;
	struct rlimit files = {256, 0};
	pthread_t threads[8];

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = 256;
	setrlimit(RLIMIT_NOFILE, &files);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, begin_threads, NULL);
	while (children-- > 0) {
		pid_t child = fork();

		if (child == 0)
			_exit(limit() != 256);
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			wrong++;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", wrong);
	return 0;
}
