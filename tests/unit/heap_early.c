/* SPDX-License-Identifier: MIT
 *
 * Memory that heap.so gives out while it looks for the next malloc.
 */
#include "preload/heap/heap.c"
#include "tests/tap/tap.h"

int main(void)
{
	volatile size_t most = SIZE_MAX;
	char *block;

	plan(4);
	ok(!allocate_early(sizeof(early) - 8), "a block without room for its size");
	ok(!allocate_early(sizeof(early)), "a block as large as all");
	ok(!allocate_early(most), "a block larger than memory");
	block = allocate_early(1000);
	ok(is_early(block) && is_early(block + 999), "then there still is a small one");
	return 0;
}
