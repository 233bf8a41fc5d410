/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Handlers with SA_NODEFER.  The kernel blocks what their sa_mask has and not the signal
 * itself; the core blocks neither, and SBCL, for one, looks at its mask and gives up.
 * The linker puts this function in the place of the core's (--wrap), which has written
 * the frame, with the mask that is in force again when the handler returns.
 */
#include "tool.h"

#include "pub_tool_libcsignal.h"
#include "pub_tool_vki.h"

/* Of the core. */
extern SysRes VG_(do_sys_sigaction)(
	Int number, const vki_sigaction_toK_t *new, vki_sigaction_fromK_t *old);
extern SysRes VG_(do_sys_sigprocmask)(
	ThreadId tid, Int how, vki_sigset_t *new, vki_sigset_t *old);

typedef void sigframe_create(ThreadId tid, Bool on_altstack, Addr top,
	const vki_siginfo_t *info, const struct vki_ucontext *context, void *handler,
	UInt flags, const vki_sigset_t *mask, void *restorer);
sigframe_create __real_vgPlain_sigframe_create, __wrap_vgPlain_sigframe_create;

void __wrap_vgPlain_sigframe_create(ThreadId tid, Bool on_altstack, Addr top,
	const vki_siginfo_t *info, const struct vki_ucontext *context, void *handler,
	UInt flags, const vki_sigset_t *mask, void *restorer)
{
	vki_sigaction_fromK_t action;

	__real_vgPlain_sigframe_create(
		tid, on_altstack, top, info, context, handler, flags, mask, restorer);
	if (!(flags & VKI_SA_NOMASK) ||
		sr_isError(VG_(do_sys_sigaction)(info->si_signo, NULL, &action)))
		return;
	VG_(do_sys_sigprocmask)(tid, VKI_SIG_BLOCK, &action.sa_mask, NULL);
}
