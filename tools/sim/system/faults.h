/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Signals that instructions raise: whether the program may look at its registers where
 * one does, and what it is told, in the kernel's words.
 */
#ifndef CACHEPEEK_SIM_FAULTS_H
#define CACHEPEEK_SIM_FAULTS_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"

#include "libvex.h"

/* It has, or had, a handler of its own for a signal that an instruction raises. */
Bool faults_are_handled(void);

/* Behind a system call. */
void faults_after(UInt number, const UWord *args, SysRes result);

/* Makes what a handler is told of a signal. */
vki_siginfo_t faults_as_kernel_tells(ThreadId tid, const vki_siginfo_t *info);

/* Before a translation: code keeps its address at each instruction where it may divide
 * and a handler may ask. */
void faults_check(VexTranslateArgs *args);

#endif
