/* SPDX-License-Identifier: MIT
 *
 * Functions of unmodified programs as regions ("func:PATTERN" in CACHEPEEK_REGIONS):
 * the simulated PMU sees where they begin and end, and takes the thread here for a
 * moment, with all its registers kept.
 */
#include <string.h>

#include "base/format.h"
#include "base/text/line_spec.h"
#include "base/text.h"
#include "base/engine/simclient.h"
#include "preload/markers/functions.h"
#include "preload/markers/markers.h"
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

static bool is_line(const char *piece, size_t length)
{
	struct cp_line_spec spec;

	return cp_line_spec_read(piece, length, &spec) == 1;
}

bool cp_lines_chosen(const char *patterns)
{
	const char *piece;
	size_t length;

	while (patterns && (piece = cp_next_piece(&patterns, ',', &length)))
		if (is_line(piece, length))
			return true;
	return false;
}

static void refuse(const char *piece, size_t length)
{
	char line[400];

	cp_format(line, sizeof(line),
		"CACHEPEEK_REGIONS: %.*s is ignored: expected line:FILE:LINE or "
		"line:FILE:FIRST-LAST, such as line:sort.c:120",
		(int)(length < 200 ? length : 200), piece);
	cp_warn(line);
}

void cp_lines_complain(const char *patterns)
{
	struct cp_line_spec spec;
	const char *piece;
	size_t length;

	while (patterns && (piece = cp_next_piece(&patterns, ',', &length))) {
		bool except = length && *piece == '!';

		if (cp_line_spec_read(piece + except, length - except, &spec) < 0 ||
			(except && length > 6 && cp_starts_with(piece, "!line:")))
			refuse(piece, length);
	}
}

static void check_functions(void)
{
	char name[400], text[500];
	unsigned long answer;

	for (unsigned long n = 0; (answer = cp_sim_function_check(n, name, sizeof(name)));
		n++) {
		size_t length = cp_format(text, sizeof(text), "%s%s", name,
			answer == 1 ? "" : ": no function has that name");

		cp_record_put_meta(&cp_runtime.record,
			answer == 1 ? "function_seen" : "no_function", text, length);
	}
}

static void check_lines(void)
{
	char name[400], why[400], text[800];
	size_t length;

	for (unsigned long n = 0; cp_sim_line_check(n, name, why, sizeof(why)); n++) {
		length = cp_format(
			text, sizeof(text), "%s%s%s", name, *why ? ": " : "", why);
		if (length >= sizeof(text))
			length = sizeof(text) - 1;
		cp_record_put_meta(
			&cp_runtime.record, *why ? "no_line" : "line_seen", text, length);
	}
}

void cp_watched_check(void)
{
	check_lines();
	check_functions();
}

/* For the first time.  Who names a function wants it, whatever else is left out. */
static struct cp_name *look_up(unsigned long number)
{
	char text[CP_MAX_REGION_NAME];
	struct cp_name *name;

	if (!cp_sim_function_name(number, text, sizeof(text)))
		return NULL;
	cp_engine_pause(); /* what is around it, too */
	name = cp_marker_name(text);
	cp_engine_resume();
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
	if (cp_functions_chosen(patterns) || cp_lines_chosen(patterns))
		cp_sim_functions(detour, patterns);
}
