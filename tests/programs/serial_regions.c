/* SPDX-License-Identifier: MIT
 * Three times the regions "one" and "two", within "both": each writes 12,000 lines of its
 * own five times, which takes several intervals of the simulator on any host.
 */
#include "cachepeek.h"

static char ones[64 * 12000], twos[64 * 12000];

static void write_lines(volatile char *at)
{
	for (int line = 0; line < 5 * 12000; line++)
		for (int i = 0; i < 60; i++)
			at[64 * (line % 12000) + i]++;
}

int main(void)
{
	CACHEPEEK_BEGIN("both");
	for (int round = 0; round < 3; round++) {
		CACHEPEEK_BEGIN("one");
		write_lines(ones);
		CACHEPEEK_END("one");
		CACHEPEEK_BEGIN("two");
		write_lines(twos);
		CACHEPEEK_END("two");
	}
	CACHEPEEK_END("both");
	return 0;
}
