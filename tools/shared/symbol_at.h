/* SPDX-License-Identifier: MIT
 *
 * The symbol that an address belongs to, as libdw chooses it: dwfl_module_addrinfo(3)
 * reads all symbols of the file for each address, and is asked here once for all
 * addresses that have the same answer.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_SYMBOL_AT_H
#define CACHEPEEK_TOOLS_SHARED_SYMBOL_AT_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

struct cp_symbol_ranges;

struct cp_symbol_at {
	const char *name; /* of the module's string table */
	uint64_t start;
	uint64_t size;      /* bytes; 0: the symbol has none */
	unsigned char type; /* STT_FUNC, ... */
};

/* The ranges of addresses of a module that have one answer each.  NULL: no memory.  Freed
 * by cp_symbol_ranges_free. */
struct cp_symbol_ranges *cp_symbol_ranges_make(Dwfl_Module *module);
void cp_symbol_ranges_free(struct cp_symbol_ranges *ranges);

/* The symbol that the address belongs to, or that is the last one before it without a
 * size; false: none.  Not for two threads at a time. */
bool cp_symbol_at(
	struct cp_symbol_ranges *ranges, uint64_t address, struct cp_symbol_at *at);

#endif
