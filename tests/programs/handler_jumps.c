/* SPDX-License-Identifier: MIT
 *	handler_jumps TIMES
 * Enters the region "short" again and again, while another thread sends it signals whose
 * handler leaves by siglongjmp, TIMES times; then 1,000 times the region "after", and
 * ends by SIGTERM.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cachepeek.h"

static sigjmp_buf back;
static volatile sig_atomic_t may_jump, jumps, is_over;
static pthread_t first;

static void leave(int number)
{
	(void)number;
	if (!may_jump)
		return;
	may_jump = 0;
	jumps++;
	siglongjmp(back, 1);
}

static void *send_signals(void *data)
{
	while (!is_over)
		pthread_kill(first, SIGUSR1);
	return data;
}

int main(int argc, char **argv)
{
	volatile int times = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t sender;

	signal(SIGUSR1, leave);
	first = pthread_self();
	if (pthread_create(&sender, NULL, send_signals, NULL) != 0)
		return 1;
	while (jumps < times) {
		if (sigsetjmp(back, 1))
			continue;
		may_jump = 1;
		while (may_jump) {
			CACHEPEEK_BEGIN("short");
			CACHEPEEK_END("short");
		}
	}
	is_over = 1;
	pthread_join(sender, NULL);
	for (int i = 0; i < 1000; i++) {
		CACHEPEEK_BEGIN("after");
		CACHEPEEK_END("after");
	}
	printf("%d jumps\n", (int)jumps);
	fflush(stdout);
	kill(getpid(), SIGTERM);
	return 1;
}
