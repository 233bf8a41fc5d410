/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * References that are made by themselves, when the program gets there; what it did before
 * has been settled.
 */
#ifndef CACHEPEEK_SIM_SETTLED_H
#define CACHEPEEK_SIM_SETTLED_H

#include "tool.h"

void settled_load(Addr a, UWord size, Addr instruction);
void settled_store(Addr a, UWord size, Addr instruction);

/* So many more loads and stores (or fewer) than were made, to what they were of. */
void settled_more(Int loads, Int stores);
/* So many instructions, of a sample. */
void settled_instructions(ULong instructions);

#endif
