/* SPDX-License-Identifier: MIT
 *
 * The compilation unit whose code has an address, by the ranges that the units themselves
 * state.  libdw's own look-up (dwfl_module_addrdie(3), dwfl_module_getsrc(3)) relies on
 * .debug_aranges, which clang does not write, and which lacks units where some do.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_UNITS_H
#define CACHEPEEK_TOOLS_SHARED_UNITS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct cp_units;

/* The units of a module, by address, which is DWARF's and bias.  NULL: no memory.  Freed
 * by cp_units_free. */
struct cp_units *cp_units_make(Dwarf *dwarf, Dwarf_Addr bias);
void cp_units_free(struct cp_units *units);

/* The unit that has the address, which is one of the module's: *unit (of a split unit,
 * its skeleton, which has the lines), and what DWARF's addresses lack to the module's:
 * *bias. False: no unit says that it has it. */
bool cp_unit_at(const struct cp_units *units, uint64_t address, Dwarf_Die *unit,
	Dwarf_Addr *bias);

/* The entry that has the unit's functions, variables and types: of a split unit, the one
 * in its .dwo file; false: that file is not there. */
bool cp_unit_entries(Dwarf_Die *unit, Dwarf_Die *entries);

/* The file that an entry says it is declared in, as its unit names it; NULL: it does not
 * say.  dwarf_decl_file(3) of elfutils 0.188 has none for the unit's own file of DWARF 5.
 */
const char *cp_declared_in(Dwarf_Die *entry);

#endif
