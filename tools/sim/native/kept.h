/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where stubs are kept: kept.c has one of those that are alike for as long as the tool
 * runs, shadow.so (tools/shadow/native.c) has them as long as translations that call
 * them.  And what stores all registers: CPUID tells a program on the simulated PMU that
 * there is no XSAVEC, a shadow's has asked the processor.
 */
#ifndef CACHEPEEK_SIM_NATIVE_KEPT_H
#define CACHEPEEK_SIM_NATIVE_KEPT_H

#include "native/assembler.h"
#include "native/decode.h"

/* NULL: there is no memory. */
void *native_keep_stub(const struct assembler *a);

/* What stores the program's registers, or restores them, with those that VEX has no place
 * for. */
enum registers_kept { KEPT_XSAVE, KEPT_XSAVEC, KEPT_XRSTOR };
/* Adds what such an instruction does; False: that is VEX's. */
Bool native_keep_registers(
	IRSB *out, enum registers_kept what, const struct native *n, IRExpr *address);

#endif
