/* SPDX-License-Identifier: MIT
 *
 * cachepeek/perfstubs.so, preloaded beside the library: with it PerfStubs finds a tool
 * where the user has none, and calls the library's hooks (hooks_perfstubs.c).  Most
 * versions of it say so on the program's standard output, so that is left to the
 * user.  A tool behind this one is initialised.
 */
#include <dlfcn.h>
#include <string.h>

__attribute__((visibility("default"))) void ps_tool_initialize(void);

void ps_tool_initialize(void)
{
	void *found = dlsym(RTLD_NEXT, "ps_tool_initialize");
	void (*next)(void);

	memcpy(&next, &found, sizeof(next));
	if (next)
		next();
}
