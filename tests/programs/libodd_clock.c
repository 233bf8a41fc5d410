/* SPDX-License-Identifier: MIT
 * Preloaded: clock_gettime() of a host whose clock cannot be relied on.  ODD_CLOCK=none:
 * it may not be read; jumps: more than a second passes between two readings, now more
 * and now less; leaps: twenty seconds do.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *to)
{
	static uint64_t now = 1000000000, state = 1;
	const char *how = getenv("ODD_CLOCK");

	(void)clock;
	if (how && strcmp(how, "none") == 0) {
		errno = EPERM;
		return -1;
	}
	state = state * 6364136223846793005u + 1442695040888963407u;
	now += how && strcmp(how, "leaps") == 0 ? 20000000000
						: 1000000000 + (state >> 34);
	to->tv_sec = (time_t)(now / 1000000000);
	to->tv_nsec = (long)(now % 1000000000);
	return 0;
}
