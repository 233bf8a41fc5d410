/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The upper halves of zmm0 to zmm15.  An instruction of VEX's that is encoded as AVX
 * clears them in the architecture's registers, and VEX has none: the bit that says that
 * the half counts is cleared instead.  Nothing of this is done before a program uses one.
 */
#ifndef CACHEPEEK_SIM_NATIVE_UPPER_H
#define CACHEPEEK_SIM_NATIVE_UPPER_H

#include "native/decode.h"

/* Is an instruction the first that may write one?  Then the superblock ends before it,
 * and all are made again, with bits that are cleared. */
Bool upper_first_use(IRSB *out, Addr pc);

/* Has it been? */
Bool upper_is_used(void);

/* Before each of VEX's statements, and behind them: what they clear in registers of which
 * VEX has only the lower half. */
void upper_watch(IRSB *out, const IRSB *in, Int at);
void upper_watch_end(IRSB *out);

#endif
