/* SPDX-License-Identifier: MIT
 * The region "long" stores to 100 pages, ten times with a pause of 60 ms.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cachepeek.h"

#define PAGES 1000
#define EACH 100

int main(void)
{
	char *pages = mmap(NULL, PAGES * 4096ul, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return 1;
	madvise(pages, PAGES * 4096ul, MADV_NOHUGEPAGE);
	CACHEPEEK_BEGIN("long");
	for (long i = 0; i < PAGES; i++) {
		for (long k = 0; k < 4096; k += 64)
			*(volatile char *)&pages[4096 * i + k] = 1;
		if (i % EACH == EACH - 1)
			usleep(60000);
	}
	CACHEPEEK_END("long");
	return 0;
}
