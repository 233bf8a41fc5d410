/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "system/clone.h"

#include <linux/sched.h>
#include <sys/syscall.h>

#include "system/registers.h"
#include "say.h"
#include "system/vfork.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_vki.h"

#if defined(VGA_amd64)
enum { PARENT_TID = CALL_ARG3, CHILD_TID = CALL_ARG4 };
#else
enum { PARENT_TID = CALL_ARG3, CHILD_TID = CALL_ARG5 };
#endif

/* Memory, until it ends or executes a program. */
#define BORROWED (CLONE_VM | CLONE_VFORK)

/* Can the core share with a child what it is to share?  All of it, as threads do,
 * nothing, or memory until the parent goes on. */
static Bool core_can(UWord flags)
{
	UWord shared = flags & (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_VFORK);

	return shared == 0 || shared == (CLONE_VM | CLONE_FS | CLONE_FILES) ||
	       shared == BORROWED || shared == CLONE_VFORK;
}

static Bool can_write(Addr at)
{
	return VG_(am_is_valid_for_client)(
		at, sizeof(Int), VKI_PROT_READ | VKI_PROT_WRITE);
}

/* The kernel ignores that it cannot write there. */
static UWord without_bad(ThreadId tid, UWord flags)
{
	if (!can_write(call_take(tid, PARENT_TID)))
		flags &= ~(UWord)CLONE_PARENT_SETTID;
	if (!can_write(call_take(tid, CHILD_TID)))
		flags &= ~(UWord)(CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID);
	return flags;
}

static Bool said;
static const HChar why[] =
	"cachepeek: the program's call of clone fails (EINVAL): the simulated PMU has "
	"no child that shares memory, files or directories and is no thread: count it "
	"with CACHEPEEK_ENGINE=perf\n";

struct clone_call clone_before(ThreadId tid, Int number)
{
	struct clone_call call = {False, 0};
	UWord flags;

	if (number != SYS_clone)
		return call;
	call.flags = call_take(tid, CALL_ARG1);
	flags = without_bad(tid, call.flags);
	if (!core_can(flags)) {
		say_once(&said, why);
		/* The kernel refuses a thread that does not share memory. */
		flags = CLONE_THREAD | CLONE_SIGHAND;
	}
	if ((flags & BORROWED) == BORROWED &&
		vfork_begin(tid, (flags & CLONE_PARENT_SETTID) != 0))
		flags &= ~(UWord)BORROWED;
	call.changed = flags != call.flags;
	if (call.changed)
		call_put(tid, CALL_ARG1, flags);
	return call;
}

void clone_behind(ThreadId tid, const struct clone_call *call)
{
	if (call->changed && (PtrdiffT)CALL_ARG1 != (PtrdiffT)CALL_RESULT)
		call_put(tid, CALL_ARG1, call->flags);
}
