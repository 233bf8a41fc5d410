/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "system/faults.h"
#include "tool.h"
#include "valgrind/core.h"

#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* A program that had a handler once may have it again. */
static Bool handled;

Bool faults_are_handled(void)
{
	return handled;
}

static Bool is_fault(UWord number)
{
	return number == VKI_SIGSEGV || number == VKI_SIGBUS || number == VKI_SIGFPE ||
	       number == VKI_SIGILL || number == VKI_SIGTRAP;
}

/* The library's own one ends the process, and looks at no registers. */
static Bool is_of_program(const vki_sigaction_toK_t *action)
{
	Addr handler = (Addr)action->ksa_handler;

	return handler != (Addr)VKI_SIG_DFL && handler != (Addr)VKI_SIG_IGN &&
	       !own_code_at(handler);
}

/* Code that was translated before has registers elsewhere. */
void faults_after(UInt number, const UWord *args, SysRes result)
{
	if (number != __NR_rt_sigaction || sr_isError(result) || handled)
		return;
	if (!is_fault(args[0]) || !args[1] ||
		!is_of_program((const vki_sigaction_toK_t *)args[1]))
		return;
	handled = True;
	VG_(discard_translations)(0, ~0ull >> 1, "cachepeek");
}
