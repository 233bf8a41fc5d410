/* SPDX-License-Identifier: MIT
 *
 * `cachepeek list presets --check --verbose` alone: small enough to be built for
 * every architecture that libpfm4 has tables of PMUs for.
 */
#include <stdio.h>

#include "tools/list/presets_check.h"

int main(void)
{
	struct cp_arena arena = {0};
	struct cp_escape out_of_memory;
	int status;

	if (CP_ESCAPE_SET(out_of_memory))
		return 2;
	arena.out_of_memory = &out_of_memory;
	status = cp_presets_check(&arena, 1);
	cp_arena_free(&arena);
	return fflush(stdout) == 0 ? status : 2;
}
