/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A stub is a function (state, address of the operand in memory) that loads what an
 * instruction reads from the program's state, executes it, and stores what it has
 * written. It depends on no place: one serves all instructions that are alike.
 */
#ifndef CACHEPEEK_SIM_NATIVE_STUB_H
#define CACHEPEEK_SIM_NATIVE_STUB_H

#include "native/decode.h"

/* NULL: there is no memory. */
void *native_stub(const struct native *n);

#endif
