/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The core has room for the most threads that there may be at a time, 5 KB each.  In each
 * turn, and at the end of each process, it looks at all of them: 5,000 lines that no
 * cache has, and pages that a child of fork has not mapped yet.  Those of numbers that no
 * thread has had are free, so the core is told of no more than the others.
 */
#include "tool.h"

#include "pub_tool_threadstate.h"

ThreadId __real_vgPlain_alloc_ThreadState(void);
ThreadId __wrap_vgPlain_alloc_ThreadState(void);

/* Behind the highest number that a thread has had. */
static UInt bound = 2;

static UInt room; /* 0: the core is still told of it */

UInt most_threads(void)
{
	return room ? room : VG_N_THREADS;
}

/* At the first call of the program's the core takes room for as many as it knows of. */
void most_threads_after_call(void)
{
	room = most_threads();
	VG_N_THREADS = bound;
}

ThreadId __wrap_vgPlain_alloc_ThreadState(void)
{
	UInt before = VG_N_THREADS;
	ThreadId tid;

	VG_N_THREADS = most_threads();
	tid = __real_vgPlain_alloc_ThreadState();
	if (tid >= bound)
		bound = tid + 1;
	VG_N_THREADS = before > bound ? before : bound;
	return tid;
}
