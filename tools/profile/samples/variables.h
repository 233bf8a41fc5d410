/* SPDX-License-Identifier: MIT
 *
 * The variables of an ELF file by address, from its symbol table.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_SAMPLES_VARIABLES_H
#define CACHEPEEK_TOOLS_PROFILE_SAMPLES_VARIABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "tools/profile/model/symbols.h"

struct cp_variable {
	uint64_t address, size; /* thread-local: from the beginning of its segment */
	const char *name;       /* as the file spells it */
	bool of_thread;
};

struct cp_variables;

/* NULL: there is nothing to say of the file.  Lives in the arena. */
struct cp_variables *cp_variables_read(struct cp_arena *arena, const char *path);

/* NULL: no variable that has a name. */
const struct cp_variable *cp_variable_at(
	const struct cp_variables *variables, uint64_t address, bool of_thread);

/* Address of what is first in the file, and behind all that it has in memory. */
uint64_t cp_variables_start(const struct cp_variables *variables);
uint64_t cp_variables_end(const struct cp_variables *variables);

#endif
