/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Instructions that VEX executes as fast as may be, but not in all that they do, and that
 * are too frequent to be executed natively: a few expressions are added to what VEX made
 * of them.
 *
 *	An operand of SSE that is not aligned, as it has to be: the load that VEX made
 *	goes to an address that faults as that one does.
 *	CVT(T)SS2SI, CVT(T)PS2PI, (U)COMISS: VEX converts to double precision first,
 *	which tells of denormals where the instruction does not.
 *	COMISS and COMISD tell of quiet NaNs, too.
 */
#ifndef CACHEPEEK_SIM_NATIVE_MEND_H
#define CACHEPEEK_SIM_NATIVE_MEND_H

#include "tool.h"

/* A superblock begins. */
void mend_begin_block(void);
/* Adds the statement, mended. */
void mend_statement(IRSB *out, const IRSB *in, Int at);

#endif
