/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The symbols of a file: of its symbol table, of its separate debug file, or else
 * the dynamic ones.
 */
#ifndef CACHEPEEK_SIM_ELF_SYMBOLS_H
#define CACHEPEEK_SIM_ELF_SYMBOLS_H

#include "profile/elf_file.h"

typedef void elf_visit(void *context, const Elf64_Sym *symbol, const HChar *name);

void elf_symbols_each(const HChar *path, elf_visit *visit, void *context);

/* Is it where a function begins?  The part of one that is seldom run is none. */
Bool elf_is_function(const Elf64_Sym *symbol, const HChar *name);

#endif
