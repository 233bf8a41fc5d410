/* SPDX-License-Identifier: MIT
 *
 * Shares what symbols.c has with others that read debugging information.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_MODEL_SYMBOLS_PARTS_H
#define CACHEPEEK_TOOLS_PROFILE_MODEL_SYMBOLS_PARTS_H

#include <elfutils/libdwfl.h>

#include "tools/profile/model/symbols.h"

/* Separate debugging information is found by build ID, link or server. */
extern const Dwfl_Callbacks cp_dwfl_callbacks;

/* The entry of the variable that begins at the address. */
bool cp_symbols_entry(struct cp_symbols *symbols, uint64_t address, Dwarf_Die *die);

#endif
