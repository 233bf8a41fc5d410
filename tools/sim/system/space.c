/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "system/space.h"

#include <sys/mman.h>
#include <sys/shm.h>

#include "base/syscall.h"
#include "system/registers.h"
#include "say.h"
#include "valgrind/core.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_vki.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
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

/* ---- what is the simulator's ---- */

#ifdef __aarch64__
enum { ADDRESS_BITS = 48, LIBRARIES_END = 0x38000000 };
#else
enum { ADDRESS_BITS = 47, LIBRARIES_END = 0x58000000 };
#endif
enum { LIBRARIES = 0x4000000, LOWEST = 1 << 16 };

/* Nothing that a program could have. */
static Bool is_beyond(Addr start, SizeT size)
{
	return start + size < start || start + size > 1ul << ADDRESS_BITS;
}

Bool space_is_of_program(Addr start, SizeT size)
{
	static Bool told;

	if (!size || is_beyond(start, size) ||
		VG_(am_is_valid_for_client_or_free_or_resvn)(start, size, VKI_PROT_NONE))
		return True;
	say_once(&told,
		"cachepeek: the program wants memory at an address where the simulated PMU "
		"is, and does not get it; count it with CACHEPEEK_ENGINE=perf\n");
	return False;
}

/* The core places the program's libraries, the dynamic linker first, where alone nothing
 * is. */
static Bool is_of_library(const NSegment *segment)
{
	struct vg_stat program;

	return segment->kind == SkFileC && segment->hasT && segment->start >= LIBRARIES &&
	       segment->start < LIBRARIES_END &&
	       (VG_(fstat)(VG_(cl_exec_fd), &program) != 0 ||
		       program.ino != segment->ino || program.dev != segment->dev);
}

static void look_at_code(const struct space_call *call)
{
	static Bool told;
	const NSegment *segment = NULL;
	Addr end = call->hint + call->length;

	if (!(call->flags & MAP_FIXED) || end < call->length)
		return;
	for (Addr at = call->hint; at < end && at < LIBRARIES_END;
		at = segment ? segment->end + 1 : at + VKI_PAGE_SIZE) {
		segment = VG_(am_find_nsegment)(at);
		if (segment && is_of_library(segment))
			say_once(&told,
				"cachepeek: the program maps memory in the place of a library "
				"of its own, which alone is elsewhere; count it with "
				"CACHEPEEK_ENGINE=perf\n");
	}
}

/* ---- mmap ---- */

struct space_call space_look(ThreadId tid, Int number)
{
	struct space_call call = {number, .is_mapping = number == SYS_mmap};

	call.hint = call_take(tid, CALL_ARG1);
	call.length = call_take(tid, CALL_ARG2);
	call.flags = call_take(tid, CALL_ARG4);
	return call;
}

static Bool has_failed(long result)
{
	return result < 0 && result > -4096;
}

/* Is it free again, as nobody else runs meanwhile? */
static long try_place(const struct space_call *call, UWord flags)
{
	long found = cp_syscall(SYS_mmap, call->hint, call->length, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	if (!has_failed(found))
		cp_syscall(SYS_munmap, found, call->length);
	return found;
}

/* As the program has it, where it is known that there is no place; why not. */
static UWord ask_kernel(ThreadId tid, const struct space_call *call)
{
	long result = cp_syscall(SYS_mmap, call->hint, call->length,
		call_take(tid, CALL_ARG3), call->flags, call_take(tid, CALL_ARG5),
		call_take(tid, CALL_ARG6));

	if (has_failed(result))
		return (UWord)result;
	cp_syscall(SYS_munmap, result, call->length);
	return (UWord)-VKI_ENOMEM;
}

/* A core from 3.20 on may refuse it, or not. */
static Bool refuses_segment(ThreadId tid)
{
	if (call_take(tid, CALL_ARG2) || !(call_take(tid, CALL_ARG3) & SHM_REMAP))
		return False;
	call_put(tid, CALL_RESULT, (UWord)-VKI_EINVAL);
	return True;
}

/* The kernel takes a hint at which nobody may have memory for the lowest that is one. */
static void raise_hint(ThreadId tid, const struct space_call *call)
{
	if (!(call->flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) &&
		call->hint >= VKI_PAGE_SIZE && call->hint < LOWEST)
		call_put(tid, CALL_ARG1, LOWEST);
}

Bool space_refuses(ThreadId tid, const struct space_call *call)
{
	if (call->number == SYS_shmat)
		return refuses_segment(tid);
	if (!call->is_mapping || !call->length)
		return False;
	raise_hint(tid, call);
	if (!(call->flags & MAP_FIXED_NOREPLACE)) {
		look_at_code(call);
		return False;
	}
	if (has_failed(try_place(call, MAP_FIXED_NOREPLACE))) {
		space_is_of_program(call->hint, call->length);
		call_put(tid, CALL_RESULT, ask_kernel(tid, call));
		return True;
	}
	call_put(tid, CALL_ARG4, (call->flags & ~(UWord)MAP_FIXED_NOREPLACE) | MAP_FIXED);
	return False;
}

static Bool has_no_room(UWord result)
{
	return result == (UWord)-VKI_ENOMEM || result == (UWord)-VKI_EINVAL;
}

/* At a place that it insists on, which the core has refused. */
static void refuse_fixed(ThreadId tid, const struct space_call *call)
{
	if (is_beyond(call->hint, call->length))
		call_put(tid, CALL_RESULT, ask_kernel(tid, call));
	else if (!space_is_of_program(call->hint, call->length))
		call_put(tid, CALL_RESULT, (UWord)-VKI_ENOMEM);
}

Bool space_change(ThreadId tid, const struct space_call *call)
{
	long place;

	if (!call->length || !has_no_room(call_take(tid, CALL_RESULT)))
		return False;
	if (call->number == SYS_munmap || call->number == SYS_mprotect)
		space_is_of_program(call->hint, call->length); /* it says so */
	if (!call->is_mapping)
		return False;
	if (call->flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
		refuse_fixed(tid, call);
		return False;
	}
	place = try_place(call, call->flags & (MAP_HUGETLB | MAP_32BIT));
	if (has_failed(place)) {
		call_put(tid, CALL_RESULT, ask_kernel(tid, call));
		return False;
	}
	call_put(tid, CALL_NUMBER, SYS_mmap);
	call_put(tid, CALL_ARG1, (UWord)place);
	call_put(tid, CALL_ARG4, call->flags | MAP_FIXED);
	return True;
}

void space_restore(ThreadId tid, const struct space_call *call)
{
	if (!call->is_mapping)
		return;
	call_put(tid, CALL_ARG4, call->flags);
	if ((PtrdiffT)CALL_ARG1 != (PtrdiffT)CALL_RESULT)
		call_put(tid, CALL_ARG1, call->hint);
}
