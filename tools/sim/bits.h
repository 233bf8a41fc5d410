/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bt, bts, btr and btc of a register: VEX stores its value 288 bytes below the stack
 * pointer, and looks for the bit there.  Where a program keeps its stack in its heap, as
 * Erlang's virtual machine does, that is data of the program's.
 */
#ifndef CACHEPEEK_SIM_BITS_H
#define CACHEPEEK_SIM_BITS_H

#include "pub_tool_basics.h"
#include "libvex_ir.h"

/* The statements from that one on are of the instruction at code, which VEX has decoded.
 */
void bits_leave_stack(IRSB *out, Int from, const UChar *code);

#endif
