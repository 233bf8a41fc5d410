/* SPDX-License-Identifier: MIT
 *
 * Overrides: PAPI_hl_region_begin, PAPI_hl_read, PAPI_hl_region_end, PAPI_hl_stop.
 *
 * PAPI's high-level API.  PAPI gets every call.  Where it cannot count it
 * returns errors, on which programs give up: those are kept from the program
 * unless the user has asked PAPI for something.
 */
#include "base/export.h"
#include "preload/markers/forward.h"
#include "preload/markers/markers.h"
#include "preload/libc/real.h"

static CP_MARKER_TOOL(this_tool, " of PAPI");

#define TAG cp_marker_tag(&this_tool, 0)

static int result_of(int result)
{
	bool asked = CP_REAL(getenv)("PAPI_EVENTS") ||
		     CP_REAL(getenv)("PAPI_OUTPUT_DIRECTORY");

	return asked || result >= 0 ? result : 0;
}

EXPORT int PAPI_hl_region_begin(const char *region)
{
	int result = CP_PASSED(PAPI_hl_region_begin, region);

	cp_marker_begin(cp_marker_name(region), TAG);
	return result_of(result);
}

EXPORT int PAPI_hl_read(const char *region)
{
	return result_of(CP_PASSED(PAPI_hl_read, region));
}

EXPORT int PAPI_hl_region_end(const char *region)
{
	struct cp_name *name = cp_marker_name(region);

	if (name)
		cp_marker_end(name, TAG, CP_END_ALONE);
	return result_of(CP_PASSED(PAPI_hl_region_end, region));
}

EXPORT int PAPI_hl_stop(void)
{
	return result_of(CP_PASSED(PAPI_hl_stop, ));
}
