/* SPDX-License-Identifier: MIT
 * A library with markers, and with another tool's functions of its own, that is closed
 * when they have been used (scribble.c).
 */
#include "fresh.h"
#include "cachepeek.h"

int PAPI_hl_region_begin(const char *region);
int PAPI_hl_region_end(const char *region);
int step(size_t pages);

static int calls;

int PAPI_hl_region_begin(const char *region)
{
	calls += region != NULL;
	return 0;
}

int PAPI_hl_region_end(const char *region)
{
	calls += region != NULL;
	return 0;
}

int step(size_t pages)
{
	volatile char *at = fresh(pages * PAGE);

	PAPI_hl_region_begin("of a tool");
	CACHEPEEK_BEGIN("of a library");
	store_each(at, pages, PAGE);
	CACHEPEEK_END("of a library");
	PAPI_hl_region_end("of a tool");
	munmap((void *)(uintptr_t)at, pages * PAGE);
	return calls;
}
