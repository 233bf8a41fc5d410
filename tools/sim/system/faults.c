/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "system/faults.h"
#include "system/traps.h"
#include "tool.h"
#include "valgrind/core.h"

#include "pub_tool_aspacehl.h"
#include "pub_tool_machine.h"
#include "pub_tool_vkiscnums.h"

void __real_vgPlain_synth_fault_perms(ThreadId tid, Addr address);
void __wrap_vgPlain_synth_fault_perms(ThreadId tid, Addr address);

/* A program that had a handler once may have it again. */
static Bool handled, divides;

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
	Bool is_division = number == __NR_rt_sigaction && args[0] == VKI_SIGFPE;

	if (number != __NR_rt_sigaction || sr_isError(result) ||
		(is_division ? divides : handled))
		return;
	if (!is_fault(args[0]) || !args[1] ||
		!is_of_program((const vki_sigaction_toK_t *)args[1]))
		return;
	handled = True;
	divides = divides || is_division;
	VG_(discard_translations)(0, ~0ull >> 1, "cachepeek");
}

/* ---- where a division fails ---- */

/* The core's, which is asked before a superblock is made good. */
static UInt (*cores)(
	void *opaque, VexRegisterUpdates *control, const VexGuestExtents *extents);

#if defined(VGA_amd64)
/* div and idiv; in other bytes, too, seldom. */
static Bool may_divide(const UChar *code, UInt length)
{
	for (UInt i = 0; i + 1 < length; i++)
		if ((code[i] & 0xfe) == 0xf6 && (code[i + 1] & 0x30) == 0x30)
			return True;
	return False;
}
#else
static Bool may_divide(const UChar *code, UInt length)
{
	(void)code, (void)length;
	return False;
}
#endif

static UInt keep_address(
	void *opaque, VexRegisterUpdates *control, const VexGuestExtents *extents)
{
	for (UInt i = 0; divides && i < extents->n_used; i++)
		if (may_divide((const UChar *)(Addr)extents->base[i], extents->len[i]))
			*control = VexRegUpdAllregsAtEachInsn;
	return cores(opaque, control, extents);
}

void faults_check(VexTranslateArgs *args)
{
	cores = args->needs_self_check;
	args->needs_self_check = keep_address;
}

/* ---- in the kernel's words ---- */

vki_siginfo_t faults_as_kernel_tells(ThreadId tid, const vki_siginfo_t *info)
{
	vki_siginfo_t told = *info;

	/* The core has the host's instruction. */
	if (told.si_signo == VKI_SIGFPE && told.si_code > 0 && told.si_code < BY_KERNEL)
		told._sifields._sigfault._addr = (void *)VG_(get_IP)(tid);
#if defined(VGA_amd64)
	if (told.si_signo == VKI_SIGILL && told.si_code == VKI_ILL_ILLOPC)
		told.si_code = VKI_ILL_ILLOPN;
	if (told.si_signo == VKI_SIGTRAP && traps_is_debug())
		told._sifields._sigfault._addr = (void *)VG_(get_IP)(tid);
	else if (told.si_signo == VKI_SIGTRAP && told.si_code == VKI_TRAP_BRKPT)
		told.si_code = BY_KERNEL;
#endif
	return told;
}

/* Where nothing is mapped, there may be a segment that the core calls free. */
void __wrap_vgPlain_synth_fault_perms(ThreadId tid, Addr address)
{
	const NSegment *segment = VG_(am_find_nsegment)(address);

	if (traps_refuse(tid, address))
		return;
	if (!segment || segment->kind == SkFree || segment->kind == SkResvn)
		VG_(synth_fault_mapping)(tid, address);
	else
		__real_vgPlain_synth_fault_perms(tid, address);
}
