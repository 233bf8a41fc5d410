/* SPDX-License-Identifier: MIT
 * What the OpenMP programs under test do in their regions: a thread touches a
 * number of pages, each of which is one page fault.
 */
#include "../programs/fresh.h"

static __attribute__((noinline)) void touch(int pages)
{
	volatile char *memory = fresh((size_t)(pages ? pages : 1) * PAGE);

	store_each(memory, (size_t)pages, PAGE);
}
