/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "system/space.h"

#include <sys/mman.h>

#include "base/syscall.h"
#include "system/registers.h"
#include "system/say.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_vki.h"

#ifndef MAP_32BIT /* of x86 alone */
#define MAP_32BIT 0
#endif

/* VG_N_SEGMENTS, at which the core ends the program, less what it needs itself. */
enum { MOST_SEGMENTS = 30000 - 500, MOST_MORE = 2 };

/* How many there were when they were counted, and calls since then. */
static struct {
	UInt counted, calls;
} segments;

static Bool makes_mappings(Int number)
{
	return number == SYS_mmap || number == SYS_mprotect || number == SYS_mremap ||
	       number == SYS_shmat;
}

static Bool said;
static const HChar why[] =
	"cachepeek: the program has more mappings than the simulated PMU can have "
	"(about 15,000 beside each other, where the kernel allows 65,530): it gets no "
	"more (ENOMEM); count it with CACHEPEEK_ENGINE=perf\n";

Bool space_is_full(Int number)
{
	Addr none;

	if (!makes_mappings(number) ||
		segments.counted + MOST_MORE * ++segments.calls < MOST_SEGMENTS)
		return False;
	segments.calls = 0;
	segments.counted = (UInt)-VG_(am_get_segment_starts)(~0u, &none, 1);
	if (segments.counted < MOST_SEGMENTS)
		return False;
	say_once(&said, why);
	return True;
}

struct space_call space_look(ThreadId tid, Int number)
{
	struct space_call call = {.is_mapping = number == SYS_mmap};

	if (!call.is_mapping)
		return call;
	call.hint = call_take(tid, CALL_ARG1);
	call.length = call_take(tid, CALL_ARG2);
	call.flags = call_take(tid, CALL_ARG4);
	call.is_mapping = !(call.flags & (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT));
	return call;
}

/* Where the kernel would put it.  It is free again until the call is made: nobody else
 * runs meanwhile. */
static Bool find_place(const struct space_call *call, UWord *place)
{
	long found = cp_syscall(SYS_mmap, call->hint, call->length, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (call->flags & MAP_HUGETLB),
		-1, 0);

	if (found < 0 && found > -4096)
		return False;
	cp_syscall(SYS_munmap, found, call->length);
	*place = (UWord)found;
	return True;
}

static Bool has_no_room(UWord result)
{
	return result == (UWord)-VKI_ENOMEM || result == (UWord)-VKI_EINVAL;
}

Bool space_change(ThreadId tid, const struct space_call *call)
{
	UWord place;

	if (!call->is_mapping || !call->length ||
		!has_no_room(call_take(tid, CALL_RESULT)) || !find_place(call, &place))
		return False;
	call_put(tid, CALL_NUMBER, SYS_mmap);
	call_put(tid, CALL_ARG1, place);
	call_put(tid, CALL_ARG4, call->flags | MAP_FIXED);
	return True;
}

void space_restore(ThreadId tid, const struct space_call *call)
{
	call_put(tid, CALL_ARG4, call->flags);
	if ((PtrdiffT)CALL_ARG1 != (PtrdiffT)CALL_RESULT)
		call_put(tid, CALL_ARG1, call->hint);
}
