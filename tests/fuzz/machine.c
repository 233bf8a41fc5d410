/* SPDX-License-Identifier: MIT
 *
 * A machine file, described and turned into options of the simulated PMU.
 */
#include <stdlib.h>

#include "base/machine/machine.h"
#include "base/machine/host.h"

#include "tests/fuzz/fuzz.h"

/* Everything that does not depend on the bytes. */
static void find_others(void)
{
	static const char *const names[] = {
		"host", "nonesuch", "hots", "/dev/null", "/none"};
	static bool done;
	struct cp_machine machine;
	char error[256];

	for (size_t i = 0; !done && i < sizeof(names) / sizeof(names[0]); i++)
		cp_machine_find(&machine, names[i], error, sizeof(error));
	done = true;
	cp_machine_host_line();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), line[256];
	struct cp_machine machine = cp_machine_defaults;

	find_others();
	if (cp_machine_parse(&machine, "fuzz.machine", text, line, sizeof(line)) == 0) {
		for (int level = 0; level < CP_NLEVELS; level++) {
			const struct cp_cache *cache = &machine.level[level];

			cp_machine_option(
				&machine, (enum cp_level)level, line, CP_MACHINE_OPTION);
			if (cache->sets &&
				(!cache->ways || (!cp_is_tlb((enum cp_level)level) &&
							 !cache->line)))
				abort();
		}
		if (!machine.page)
			abort();
		cp_machine_describe(&machine, line, size % sizeof(line));
	}
	fuzz_read(line);
	free(text);
	return 0;
}
