/* SPDX-License-Identifier: MIT
 *	region_uses PASSES
 * Every way to use regions, each counting fresh pages of which the test knows
 * how many there are.  The first pass also touches code, stack and regions for
 * the first time.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>

#include "cachepeek.h"
#include "fresh.h"

static volatile char *memory;
static jmp_buf back;

static void touch(size_t pages)
{
	store_each(memory, pages, PAGE);
	memory += pages * PAGE;
}

static void recurse(int depth)
{
	CACHEPEEK_BEGIN("again");
	touch(1);
	if (depth > 1)
		recurse(depth - 1);
	CACHEPEEK_END("again");
}

/* Deeper than has paths of its own. */
static void deep(int depth)
{
	if (depth == 0) {
		touch(3);
		return;
	}
	cachepeek_begin_named("deep");
	deep(depth - 1);
	cachepeek_end_named("deep");
}

static void leave(void)
{
	CACHEPEEK_BEGIN("left by longjmp");
	touch(2);
	longjmp(back, 1);
}

static void *other_thread(void *unused)
{
	CACHEPEEK_END("elsewhere");
	return unused;
}

static void pass(void)
{
	pthread_t thread;

	CACHEPEEK_BEGIN("nested");
	touch(1);
	for (size_t i = 1; i <= 4; i++) {
		CACHEPEEK_BEGIN("inner");
		touch(i);
		CACHEPEEK_END("inner");
	}
	CACHEPEEK_END("nested");
	recurse(5);
	deep(300);
	CACHEPEEK_BEGIN("lands");
	if (setjmp(back) == 0)
		leave();
	touch(1);
	CACHEPEEK_END("lands");
	CACHEPEEK_BEGIN("elsewhere");
	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_join(thread, NULL);
	touch(4);
	CACHEPEEK_END("elsewhere");
	CACHEPEEK_BEGIN("paused");
	touch(1);
	cachepeek_pause();
	touch(5);
	cachepeek_resume();
	CACHEPEEK_END("paused");
}

int main(int argc, char **argv)
{
	memory = fresh(400 * PAGE);
	for (int passes = argc > 1 ? atoi(argv[1]) : 1; passes > 0; passes--) {
		CACHEPEEK_BEGIN("all");
		pass();
		CACHEPEEK_END("all");
	}
	CACHEPEEK_BEGIN("open");
	touch(2);
	return 0;
}
