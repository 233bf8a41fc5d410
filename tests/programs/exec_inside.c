/* SPDX-License-Identifier: MIT
 *	exec_inside [fail] [leave] [thread] [pause]
 * Loads 6,000 lines in the region "outer" and 3,000 in "inner", inside it, and executes
 * another program there.  fail: first one that is not there, 3 times; and none then.
 * leave: it ends inside the regions.  thread: in another thread the region "waiting"
 * is open meanwhile.  pause: 3,000 lines more, which nobody counts.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cachepeek.h"

static char lines[6000 * 64];
static pthread_barrier_t begun;

static void load(long n)
{
	for (long i = 0; i < n; i++)
		(void)*(volatile char *)&lines[64 * i];
}

static void *waiting(void *argument)
{
	CACHEPEEK_BEGIN("waiting");
	pthread_barrier_wait(&begun);
	pause();
	CACHEPEEK_END("waiting");
	return argument;
}

static int has(char **words, const char *word)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argc;
	if (has(argv, "thread")) {
		pthread_barrier_init(&begun, NULL, 2);
		pthread_create(&thread, NULL, waiting, NULL);
		pthread_barrier_wait(&begun);
	}
	CACHEPEEK_BEGIN("outer");
	load(6000);
	CACHEPEEK_BEGIN("inner");
	load(3000);
	if (has(argv, "pause")) {
		cachepeek_pause();
		load(3000);
	}
	for (int i = 0; has(argv, "fail") && i < 3; i++)
		execl("/nonexistent/program", "program", (char *)NULL);
	if (!has(argv, "fail"))
		execl("/bin/true", "true", (char *)NULL);
	if (has(argv, "leave"))
		return 0;
	CACHEPEEK_END("inner");
	CACHEPEEK_END("outer");
	return 0;
}
