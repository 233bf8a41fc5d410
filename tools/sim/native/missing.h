/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions that every processor has and VEX does not decode: of its own expressions.
 */
#ifndef CACHEPEEK_SIM_NATIVE_MISSING_H
#define CACHEPEEK_SIM_NATIVE_MISSING_H

#include "tool.h"

/* Adds what the instruction at pc does, if it is one of them, and returns its length; 0:
 * it is not.  Its code is at `code` (at least 32 bytes), in the usual spelling. */
UInt missing_execute(IRSB *out, Addr pc, const UChar *code);

#endif
