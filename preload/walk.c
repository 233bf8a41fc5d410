/* SPDX-License-Identifier: MIT */
#include "preload/walk.h"

#include <sched.h>
#include <stdbool.h>
#include <time.h>

#include "base/syscall.h"
#include "preload/runtime.h"

static struct {
	int inside;  /* atomic: how many walk */
	int forking; /* atomic: how many fork, and wait for those */
} walks;

/* Nobody waits for longer than a second: a handler may fork a thread that walks, and the
 * program may fork where it walks itself. */
#define PATIENCE 1000

static bool waits(unsigned tries)
{
	const struct timespec millisecond = {0, 1000000};

	if (tries >= PATIENCE)
		return false;
	if (tries < 64 || cp_confined())
		sched_yield();
	else
		cp_syscall(SYS_nanosleep, &millisecond, NULL);
	return true;
}

static void begin_walk(void)
{
	for (unsigned tries = 0;; tries++) {
		__atomic_fetch_add(&walks.inside, 1, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&walks.forking, __ATOMIC_SEQ_CST))
			return;
		__atomic_fetch_sub(&walks.inside, 1, __ATOMIC_SEQ_CST);
		if (!waits(tries))
			break;
	}
	__atomic_fetch_add(&walks.inside, 1, __ATOMIC_SEQ_CST);
}

int cp_walk_objects(int (*callback)(struct dl_phdr_info *, size_t, void *), void *context)
{
	int result;

	begin_walk();
	result = dl_iterate_phdr(callback, context);
	__atomic_fetch_sub(&walks.inside, 1, __ATOMIC_SEQ_CST);
	return result;
}

void cp_walks_before_fork(void)
{
	unsigned tries = 0;

	__atomic_fetch_add(&walks.forking, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&walks.inside, __ATOMIC_SEQ_CST) > 0 && waits(tries))
		tries++;
}

void cp_walks_in_parent(void)
{
	__atomic_fetch_sub(&walks.forking, 1, __ATOMIC_SEQ_CST);
}

/* A handler may have forked a thread that walks, and ends the walk when it is back. */
void cp_walks_in_child(void)
{
	walks.inside = 0;
	walks.forking = 0;
}
