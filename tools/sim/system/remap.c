/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * mremap.  The core wants one mapping, which the old size may not leave, knows some flags
 * only, and dies where there is no mapping at all, or where the new size is too large. So
 * the kernel is asked, and the core is told what has become of the mappings: all are of
 * no file then, and code in them is compared before each use.
 */
#include "system/remap.h"

#include "base/syscall.h"
#include "system/registers.h"
#include "say.h"
#include "system/space.h"
#include "valgrind/core.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_vki.h"

enum { FIXED = 2, DONT_UNMAP = 4 };

struct remap_call {
	Addr from, to;
	SizeT size, wanted;
	UWord flags;
};

/* ---- what the core is told ---- */

static void tell_mapped(Addr at, SizeT size, const NSegment *like)
{
	UInt access = (like->hasR ? VKI_PROT_READ : 0) |
		      (like->hasW ? VKI_PROT_WRITE : 0) |
		      (like->hasX ? VKI_PROT_EXEC : 0);

	ML_(notify_core_and_tool_of_mmap)
	(at, size, access, VKI_MAP_FIXED | VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS, -1, 0);
}

/* Piece by piece, as newer kernels move several mappings at once. */
static void tell_moved(const struct remap_call *call, Addr now)
{
	SizeT done = 0;

	while (done < call->wanted) {
		const NSegment *segment = VG_(am_find_nsegment)(call->from + done);
		NSegment like;
		SizeT size = VKI_PAGE_SIZE;

		if (segment) {
			like = *segment;
			size = like.end + 1 - (call->from + done);
			/* The part that has grown is of the last one. */
			if (done + size >= call->size || done + size > call->wanted)
				size = call->wanted - done;
			tell_mapped(now + done, size, &like);
		}
		done += size;
	}
}

static void tell_core(const struct remap_call *call, Addr now)
{
	const NSegment *last;
	NSegment like;

	if (now != call->from) {
		tell_moved(call, now);
		if (call->size && !(call->flags & DONT_UNMAP))
			ML_(notify_core_and_tool_of_munmap)(call->from, call->size);
	} else if (call->wanted < call->size) {
		ML_(notify_core_and_tool_of_munmap)
		(now + call->wanted, call->size - call->wanted);
	} else if (call->wanted > call->size) {
		last = VG_(am_find_nsegment)(now + call->size - 1);
		if (!last)
			return;
		like = *last;
		tell_mapped(now + call->size, call->wanted - call->size, &like);
	}
}

/* ---- the kernel ---- */

static long make(const struct remap_call *call)
{
	long result;

	if (!space_is_of_program(call->from, call->size) ||
		(call->flags & FIXED && !space_is_of_program(call->to, call->wanted)))
		return -VKI_EFAULT;
	result = cp_syscall(
		SYS_mremap, call->from, call->size, call->wanted, call->flags, call->to);
	if (result >= 0 || result < -4095)
		tell_core(call, (Addr)result);
	return result;
}

Bool remap_answers(ThreadId tid, Int number)
{
	struct remap_call call;

	if (number != SYS_mremap)
		return False;
	call.from = call_take(tid, CALL_ARG1);
	call.size = VG_PGROUNDUP(call_take(tid, CALL_ARG2));
	call.wanted = VG_PGROUNDUP(call_take(tid, CALL_ARG3));
	call.flags = call_take(tid, CALL_ARG4);
	call.to = call_take(tid, CALL_ARG5);
	call_put(tid, CALL_RESULT, (UWord)make(&call));
	return True;
}
