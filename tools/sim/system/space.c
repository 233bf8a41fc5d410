/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "system/space.h"

#include <sys/mman.h>

#include "base/syscall.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"

#if defined(VGA_amd64)
#include "libvex_guest_amd64.h"
typedef VexGuestAMD64State guest;
#define REG(name) __builtin_offsetof(guest, guest_##name)
enum {
	NUMBER = REG(RAX),
	RESULT = REG(RAX),
	ADDRESS = REG(RDI),
	LENGTH = REG(RSI),
	FLAGS = REG(R10)
};
#else
#include "libvex_guest_arm64.h"
typedef VexGuestARM64State guest;
#define REG(name) __builtin_offsetof(guest, guest_##name)
enum {
	NUMBER = REG(X8),
	RESULT = REG(X0),
	ADDRESS = REG(X0),
	LENGTH = REG(X1),
	FLAGS = REG(X3)
};
#endif

static UWord take(ThreadId tid, PtrdiffT at)
{
	UWord value;

	VG_(get_shadow_regs_area)(tid, (UChar *)&value, 0, at, sizeof(value));
	return value;
}

static void put(ThreadId tid, PtrdiffT at, UWord value)
{
	VG_(set_shadow_regs_area)(tid, 0, at, sizeof(value), (const UChar *)&value);
}

struct space_call space_look(ThreadId tid, Int number)
{
	struct space_call call = {.is_mapping = number == SYS_mmap};

	if (!call.is_mapping)
		return call;
	call.hint = take(tid, ADDRESS);
	call.length = take(tid, LENGTH);
	call.flags = take(tid, FLAGS);
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

	if (!call->is_mapping || !call->length || !has_no_room(take(tid, RESULT)) ||
		!find_place(call, &place))
		return False;
	put(tid, NUMBER, SYS_mmap);
	put(tid, ADDRESS, place);
	put(tid, FLAGS, call->flags | MAP_FIXED);
	return True;
}

void space_restore(ThreadId tid, const struct space_call *call)
{
	put(tid, FLAGS, call->flags);
	if ((PtrdiffT)ADDRESS != (PtrdiffT)RESULT)
		put(tid, ADDRESS, call->hint);
}
