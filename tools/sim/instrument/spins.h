/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Loops that wait for another thread to write something: one thread runs at a time, so
 * that to go on in its turn is in vain.
 */
#ifndef CACHEPEEK_SIM_SPINS_H
#define CACHEPEEK_SIM_SPINS_H

#include "pub_tool_basics.h"
#include "libvex_ir.h"

/* At the beginning of a superblock, and at each of its statements, before it is added to
 * out; at its end. */
void spins_begin(Addr start);
void spins_statement(IRSB *out, const IRSB *in, Int at);
void spins_end(IRSB *out, const IRSB *in);

#endif
