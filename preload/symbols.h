/* SPDX-License-Identifier: MIT
 *
 * The names of functions, by their address.
 */
#ifndef CACHEPEEK_PRELOAD_SYMBOLS_H
#define CACHEPEEK_PRELOAD_SYMBOLS_H

#include <stddef.h>

/*
 * The name of the function that begins at address, from the dynamic symbols or
 * the symbol table of its file; where there is none, "file+0xoffset".  Not
 * demangled.  Its length.  Reads files: not for hot paths.  One caller at a time.
 */
size_t cp_symbol_name(const void *address, char *to, size_t size);

#endif
