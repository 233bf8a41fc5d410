/* SPDX-License-Identifier: MIT
 * Ends what it has not begun, twice for each tool whose functions are there, and begins
 * nothing, but for what is ended in the other thread.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

/* Calls the function of that name, if it is there. */
#define CALL(name, types, arguments)                                                     \
	do {                                                                             \
		void(*function) types;                                                   \
		*(void **)&function = dlsym(RTLD_DEFAULT, #name);                        \
		if (function)                                                            \
			function arguments;                                              \
		else                                                                     \
			puts("no " #name);                                               \
	} while (0)

static void *end_all(void *unused)
{
	CALL(likwid_markerStopRegion, (const char *), ("r"));
	CALL(PAPI_hl_region_end, (const char *), ("r"));
	CALL(cali_end_region, (const char *), ("r"));
	CALL(SCOREP_User_RegionByNameEnd, (const char *), ("r"));
	CALL(Tau_stop, (const char *), ("r"));
	CALL(ps_tool_stop_string, (const char *), ("r"));
	CALL(kokkosp_pop_profile_region, (void), ());
	CALL(kokkosp_stop_profile_section, (uint32_t), (7));
	CALL(Extrae_event, (unsigned, uint64_t),
		(1000, 0)); /* is right: 0 ends what there is */
	return unused;
}

int main(void)
{
	pthread_t thread;

	CALL(likwid_markerStartRegion, (const char *), ("r"));
	pthread_create(&thread, NULL, end_all, NULL);
	pthread_join(thread, NULL);
	CALL(likwid_markerStopRegion, (const char *), ("r"));
	end_all(NULL);
	return 0;
}
