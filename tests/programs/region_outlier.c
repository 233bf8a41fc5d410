/* SPDX-License-Identifier: MIT
 * Ten executions of a region, each one page, the seventh 500.
 */
#include "cachepeek.h"
#include "fresh.h"

int main(void)
{
	volatile char *memory = fresh(600 * PAGE);

	CACHEPEEK_BEGIN("warm");
	store_each(memory, 0, PAGE);
	CACHEPEEK_END("warm");
	for (int i = 0; i < 10; i++) {
		size_t pages = i == 6 ? 500 : 1;

		CACHEPEEK_BEGIN("step");
		store_each(memory, pages, PAGE);
		CACHEPEEK_END("step");
		memory += pages * PAGE;
	}
	return 0;
}
