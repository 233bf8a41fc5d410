/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Blocks signals while a handler runs.  With SA_NODEFER the kernel blocks what its
 * sa_mask has and not the signal itself; the core blocks neither, and SBCL, for one,
 * looks at its mask and gives up.  In a call that waits with a mask of its own
 * (sigsuspend and the like) the kernel blocks what that mask has, too, until the handler
 * returns; the core blocks what was blocked before, so that a second signal waits for the
 * next such call. The linker puts a function in the place of the core's (--wrap), which
 * has written the frame, with the mask that is in force again when the handler returns.
 */
#include "system/masks.h"

#include "base/syscall.h"
#include "native/native.h"
#include "pointers.h"
#include "system/faults.h"
#include "system/sent.h"
#include "system/traps.h"
#include "tool.h"
#include "valgrind/core.h"

#include "pub_tool_libcsignal.h"
#include "pub_tool_vki.h"

typedef void sigframe_create(ThreadId tid, Bool on_altstack, Addr top,
	const vki_siginfo_t *info, const struct vki_ucontext *context, void *handler,
	UInt flags, const vki_sigset_t *mask, void *restorer);
sigframe_create __real_vgPlain_sigframe_create, __wrap_vgPlain_sigframe_create;

/* ---- calls with a mask ---- */

enum { EPOLL_PWAIT2 = 441 }; /* a header may be older */

static struct waiting {
	Bool has_mask;
	vki_sigset_t mask;
} * waiting; /* by thread, from its call to the signal that ends it */

/* 0: it has none. */
static UWord mask_of(UInt number, const UWord *args)
{
	switch (number) {
	case SYS_rt_sigsuspend:
		return args[0];
	case SYS_ppoll:
		return args[3];
	case SYS_epoll_pwait:
	case EPOLL_PWAIT2:
		return args[4];
	case SYS_pselect6:
	case SYS_io_pgetevents:
		return can_read(args[5], sizeof(UWord)) ? *(const UWord *)args[5] : 0;
	}
	return 0;
}

void masks_before(ThreadId tid, UInt number, const UWord *args)
{
	UWord mask = mask_of(number, args);
	Bool has_mask = mask && can_read(mask, sizeof(vki_sigset_t));

	if (!waiting && !has_mask)
		return;
	if (!waiting)
		waiting =
			VG_(calloc)("cachepeek.masks", most_threads(), sizeof(*waiting));
	waiting[tid].has_mask = has_mask;
	if (has_mask)
		waiting[tid].mask = *(const vki_sigset_t *)mask;
}

/* One that a signal has ended says so before the handler begins. */
void masks_after(ThreadId tid, SysRes result)
{
	if (waiting && !(sr_isError(result) && sr_Err(result) == VKI_EINTR))
		waiting[tid].has_mask = False;
}

/* ---- handlers ---- */

static void block_with_nodefer(ThreadId tid, Int number)
{
	vki_sigaction_fromK_t action;

	if (!sr_isError(VG_(do_sys_sigaction)(number, NULL, &action)))
		VG_(do_sys_sigprocmask)(tid, VKI_SIG_BLOCK, &action.sa_mask, NULL);
}

void __wrap_vgPlain_sigframe_create(ThreadId tid, Bool on_altstack, Addr top,
	const vki_siginfo_t *info, const struct vki_ucontext *context, void *handler,
	UInt flags, const vki_sigset_t *mask, void *restorer)
{
	Addr room = native_frame_room(top);
	vki_siginfo_t told = faults_as_kernel_tells(tid, info);

	__real_vgPlain_sigframe_create(
		tid, on_altstack, room, &told, context, handler, flags, mask, restorer);
	native_frame_fill(tid, room);
	traps_tell(tid, &told, context);
	if (waiting && waiting[tid].has_mask)
		VG_(do_sys_sigprocmask)
	(tid, VKI_SIG_SETMASK, &waiting[tid].mask, NULL);
	if (waiting)
		waiting[tid].has_mask = False;
	if (flags & VKI_SA_NOMASK)
		block_with_nodefer(tid, info->si_signo);
	sent_handled(tid);
}
