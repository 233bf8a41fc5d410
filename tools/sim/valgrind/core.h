/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Declares what the core and VEX have in none of their headers for tools: functions.list
 * has all of it, and the build looks whether it is there.  Where ld puts a function of
 * ours in the place of one (--wrap), both are declared where that is.
 */
#ifndef CACHEPEEK_SIM_VALGRIND_CORE_H
#define CACHEPEEK_SIM_VALGRIND_CORE_H

#include "pub_tool_basics.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_vki.h"

#include "libvex.h"

/* Options of VEX's, as it reads them. */
extern VexControl vex_control;

/* Descriptors: as many as the program may have, and as there are with the core's own. */
extern Int VG_(fd_soft_limit), VG_(fd_hard_limit);
/* Moves one to where the program can neither see nor close it. */
extern Int VG_(safe_fd)(Int fd);
/* The program's /proc/self/cmdline and executable. */
extern Int VG_(cl_cmdline_fd), VG_(cl_exec_fd);
/* The program's /proc/self/exe; 3.19 has none, and its address is NULL. */
extern const HChar *VG_(resolved_exename) __attribute__((weak));

/* The program's.  The auxiliary vector is where it reads it. */
extern UWord *VG_(client_auxv);
extern Addr VG_(brk_base), VG_(brk_limit);
extern struct vki_rlimit VG_(client_rlimit_stack), VG_(client_rlimit_data);

/* 3.19 has none. */
extern void VG_(di_load_di)(DebugInfo *object) __attribute__((weak));
extern void VG_(demangle)(Bool cxx, Bool z, const HChar *mangled, const HChar **plain);
extern Bool VG_(get_inst_offset_in_function)(DiEpoch epoch, Addr a, PtrdiffT *offset);
extern Long VG_(fsize)(Int fd);
extern SysRes VG_(pread)(Int fd, void *to, Int size, OffT offset);
/* It does so itself behind system calls. */
extern void VG_(discard_translations)(Addr start, ULong range, const HChar *who);
extern SysRes VG_(am_munmap_client)(Bool *discard, Addr start, SizeT size);
extern Bool VG_(am_notify_mprotect)(Addr start, SizeT size, UInt access);
extern Bool VG_(am_is_valid_for_client_or_free_or_resvn)(
	Addr start, SizeT size, UInt access);
extern void ML_(notify_core_and_tool_of_mmap)(
	Addr start, SizeT size, UInt access, UInt flags, Int fd, Off64T offset);
extern void ML_(notify_core_and_tool_of_munmap)(Addr start, SizeT size);
extern SysRes VG_(mk_SysRes_Error)(UWord error);
extern HChar **VG_(env_clone)(HChar **environment);
extern void VG_(env_remove_valgrind_env_stuff)(
	HChar **environment, Bool read_only, void (*free_function)(void *));
/* The thread that the kernel calls so; VG_INVALID_THREADID if it is none of the
 * program's. */
extern ThreadId VG_(lwpid_to_vgtid)(Int lwpid);
/* Where the program goes on. */
extern void VG_(set_IP)(ThreadId tid, Addr to);
/* Gives the program a signal that it does not block. */
extern void VG_(poll_signals)(ThreadId tid);
extern SysRes VG_(do_sys_sigaction)(
	Int number, const vki_sigaction_toK_t *new, vki_sigaction_fromK_t *old);
extern SysRes VG_(do_sys_sigprocmask)(
	ThreadId tid, Int how, vki_sigset_t *new, vki_sigset_t *old);
/* SIGSEGV where nothing is mapped, and where an instruction is not for programs. */
extern void VG_(synth_fault_mapping)(ThreadId tid, Addr address);
extern void VG_(synth_fault)(ThreadId tid);
extern void VG_(synth_sigtrap)(ThreadId tid);

#endif
