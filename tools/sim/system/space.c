/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "system/space.h"

#include <sys/mman.h>

#include "base/syscall.h"
#include "system/registers.h"
#include "pub_tool_vki.h"

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
