/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The file that has a file's symbols and debugging information apart from it.
 */
#ifndef CACHEPEEK_SIM_DEBUG_FILE_H
#define CACHEPEEK_SIM_DEBUG_FILE_H

#include "profile/elf_file.h"

/* As elf_open does: by the build ID, in the system's directory and in the cache of
 * debuginfod's clients, or by the name that the file gives, near it. */
Int debug_file_open(const HChar *of, Elf64_Ehdr *file);

#endif
