/* SPDX-License-Identifier: MIT
 *	fork_faults THREADS
 * Forks after so many threads: prints how many pages the child has taken, copies of its
 * parent's among them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void *nothing(void *unused)
{
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1000;
	struct rusage usage;
	pthread_t thread;

	while (threads-- > 0)
		if (pthread_create(&thread, NULL, nothing, NULL) == 0)
			pthread_join(thread, NULL);
	if (fork() == 0) {
		getrusage(RUSAGE_SELF, &usage);
		printf("%ld\n", usage.ru_minflt);
		return 0;
	}
	wait(NULL);
	return 0;
}
