/* SPDX-License-Identifier: MIT
 *	two_sets LOADS
 * So many loads in each of two phases: the first goes around 10 pages, the second
 * around 1000, a load from each page in turn.  The loops touch nothing else.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "fresh.h"

static __attribute__((noinline)) void around(
	const volatile char *area, unsigned pages, long loads)
{
	while (loads > 0)
		for (unsigned i = 0; i < pages; i++, loads--)
			(void)area[i * (unsigned long)PAGE];
}

int main(int argc, char **argv)
{
	long loads = argc > 1 ? atol(argv[1]) : 1000000;
	char *area = mmap(NULL, 1000 * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		return 1;
	madvise(area, 1000 * PAGE, MADV_NOHUGEPAGE);
	around(area, 10, loads);
	around(area, 1000, loads);
	return 0;
}
