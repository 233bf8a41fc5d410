/* SPDX-License-Identifier: MIT
 *
 * Functions of unmodified programs as regions ("func:PATTERN" in CACHEPEEK_REGIONS):
 * the simulated PMU sees where they begin and end, and takes the thread here for a
 * moment, with all its registers kept.
 */
#include <string.h>

#include "base/text.h"
#include "preload/engine/simclient.h"
#include "preload/functions.h"
#include "preload/markers.h"
#include "preload/runtime.h"
#include "preload/threads.h"
#include "regions/record.h"
#include "tools/sim/request.h"

#define TAG cp_marker_tag(CP_MARKER_FUNCTION, 1)

#define MOST 65536

static struct cp_name *names[MOST]; /* by the simulated PMU's numbers */

bool cp_functions_chosen(const char *patterns)
{
	const char *piece;
	size_t length;

	while (patterns && (piece = cp_next_piece(&patterns, ',', &length)))
		if (length > 5 && cp_starts_with(piece, "func:"))
			return true;
	return false;
}

/* For the first time.  Who names a function wants it, whatever else is left out. */
static struct cp_name *look_up(unsigned long number)
{
	char text[CP_MAX_REGION_NAME];
	struct cp_name *name;

	if (!cp_sim_function_name(number, text, sizeof(text)))
		return NULL;
	name = cp_marker_name(text);
	if (!name)
		return NULL;
	name->left_out = false;
	__atomic_store_n(&names[number], name, __ATOMIC_RELEASE);
	return name;
}

static struct cp_name *name_of(unsigned long number)
{
	struct cp_name *name = NULL;

	if (number < MOST)
		name = __atomic_load_n(&names[number], __ATOMIC_ACQUIRE);
	return name || number >= MOST ? name : look_up(number);
}

static void detour(unsigned long function, unsigned long ended)
{
	if (!ended)
		cp_marker_begin(name_of(function), TAG);
	for (; ended > 0; ended--)
		cp_marker_end(NULL, TAG, CP_END_OWN);
	cp_sim_request(CP_SIM_FUNCTION_DONE, NULL);
	__builtin_trap();
}

void cp_functions_watch(const char *patterns)
{
	if (cp_functions_chosen(patterns))
		cp_sim_functions(detour, patterns);
}
