/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From what the decoder says of an instruction to what the table does.
 */
#ifndef CACHEPEEK_SIM_NATIVE_READ_SHAPE_H
#define CACHEPEEK_SIM_NATIVE_READ_SHAPE_H

#include <Zydis/Zydis.h>

#include "tools/sim/native/shape.h"

struct decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* Returns whether it can be executed natively, and what it is then. */
int read_shape(
	const struct decoded *d, enum native_form form, struct native_shape *shape);

#endif
