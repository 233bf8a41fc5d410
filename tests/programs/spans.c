/* SPDX-License-Identifier: MIT
 *
 * COUNT references of 8 bytes to memory that nobody has touched, each across the end of
 * a line, in the regions "loads" and "stores", 256 bytes apart (two lines of up to 128
 * bytes, which no other shares); and PAGES across the end of a page, in "pages".  Then
 * one byte of every second line of 8 MB, in "every second".
 */
#include "cachepeek.h"

enum { COUNT = 4096, STRIDE = 256, LINE = 128, PAGES = 512, PAGE = 4096 };

static char loaded[COUNT * STRIDE] __attribute__((aligned(PAGE)));
static char stored[COUNT * STRIDE] __attribute__((aligned(PAGE)));
static char paged[2 * PAGES * PAGE] __attribute__((aligned(PAGE)));
static char walked[8 << 20] __attribute__((aligned(PAGE)));

struct word {
	long value;
} __attribute__((packed));

static volatile struct word *across(char *from, long end)
{
	return (volatile struct word *)(from + end - 4);
}

int main(void)
{
	CACHEPEEK_BEGIN("loads");
	for (long i = 0; i < COUNT; i++)
		(void)across(loaded, i * STRIDE + LINE)->value; /* the loads */
	CACHEPEEK_END("loads");
	CACHEPEEK_BEGIN("stores");
	for (long i = 0; i < COUNT; i++)
		across(stored, i * STRIDE + LINE)->value = i; /* the stores */
	CACHEPEEK_END("stores");
	CACHEPEEK_BEGIN("pages");
	for (long i = 0; i < PAGES; i++)
		(void)across(paged, (2 * i + 1) * PAGE)->value;
	CACHEPEEK_END("pages");
	CACHEPEEK_BEGIN("every second");
	for (unsigned long i = 0; i < sizeof(walked); i += 2 * 64)
		(void)((volatile char *)walked)[i];
	CACHEPEEK_END("every second");
	return 0;
}
