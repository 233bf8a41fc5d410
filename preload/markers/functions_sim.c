/* SPDX-License-Identifier: MIT
 *
 * Functions of unmodified programs as regions ("func:PATTERN" in CACHEPEEK_REGIONS):
 * the simulated PMU sees where they begin and end, and takes the thread here for a
 * moment, with all its registers kept.
 */
#include <string.h>

#include "base/format.h"
#include "base/counters/options.h"
#include "base/text/line_spec.h"
#include "base/text/name_pattern.h"
#include "base/text.h"
#include "base/engine/simclient.h"
#include "preload/cases/cases.h"
#include "preload/markers/functions.h"
#include "preload/markers/markers.h"
#include "preload/cases/naming.h"
#include "preload/runtime.h"
#include "preload/self.h"
#include "preload/warn.h"
#include "regions/record.h"
#include "tools/sim/request.h"

#define TAG (cp_marker_tag_of(CP_MARKER_FUNCTION, 1) | CP_TAG_WATCHED)

#define MOST 65536

static struct cp_function functions[MOST]; /* by the simulated PMU's numbers */

bool cp_functions_chosen(const char *patterns)
{
	int except;

	while (patterns && cp_next_function(&patterns, &except).at)
		if (!except)
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

static void refuse_functions(const char *piece, size_t length)
{
	char line[400];

	cp_format(line, sizeof(line),
		"CACHEPEEK_REGIONS: %.*s is ignored: "
		"expected line:FILE:LINE or line:FILE:FIRST-LAST, "
		"such as line:sort.c:120",
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
			refuse_functions(piece, length);
	}
}

static void tell_function(const char *name, bool seen)
{
	char text[500];
	size_t length = cp_format(text, sizeof(text), "%s%s", name,
		seen ? "" : ": no function has that name");

	cp_record_put_meta(
		&cp_runtime.record, seen ? "function_seen" : "no_function", text, length);
}

/* The simulator has the same list. */
static void check_functions(void)
{
	const char *list = cp_options.regions;
	unsigned long n = 0, answer;
	bool found_case = false;
	struct cp_span piece;
	char name[400];
	int except;

	while (list && (piece = cp_next_function(&list, &except)).at) {
		if (except)
			continue;
		answer = cp_sim_function_check(n++, name, sizeof(name));
		if (cp_is_rule(piece))
			found_case |= answer == 1;
		else if (answer)
			tell_function(name, answer == 1);
	}
	cp_cases_check(cp_options.regions, found_case);
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

/* The same text in our list, which stays. */
static struct cp_span find_naming(const char *naming)
{
	const char *at = *naming ? strstr(cp_options.regions, naming) : NULL;

	return (struct cp_span){at, at ? at + strlen(naming) : NULL};
}

/* Ends the text at the next separator, and returns what is behind; "": nothing is. */
static char *cut_at(char *text, char separator)
{
	char *end = strchr(text, separator);

	if (!end)
		return text + strlen(text);
	*end = '\0';
	return end + 1;
}

/* For the first time.  CP_SIM_FUNCTION_NAME says what is in the text. */
static bool look_up(unsigned long number, struct cp_function *function)
{
	char text[CP_MAX_REGION_NAME];
	char *plain, *naming;

	if (!cp_sim_function_name(number, text, sizeof(text)))
		return false;
	plain = cut_at(text, '\n');
	naming = cut_at(plain, '\n');
	return cp_function_set(
		function, text, *plain ? plain : text, find_naming(naming));
}

static struct cp_name *name_of(unsigned long number, const uintptr_t *arguments)
{
	struct cp_function *function = &functions[number];
	struct cp_name *name;

	if (number >= MOST)
		return NULL;
	name = __atomic_load_n(&function->name, __ATOMIC_ACQUIRE);
	if (name && function->naming.at == function->naming.end)
		return name;
	cp_engine_pause(); /* what is around it, too */
	if (name || look_up(number, function))
		name = cp_function_called(function, arguments);
	cp_engine_resume();
	return name;
}

/* The thread goes from a stack to another one. */
static void switch_stacks(unsigned long closed)
{
	unsigned long name;

	for (; closed > 0; closed--)
		cp_marker_suspend(TAG);
	while ((name = cp_sim_function_again()))
		if (name > 1)
			cp_marker_begin_again((struct cp_name *)name, TAG);
}

static void note_untold(void)
{
	int state;

	cp_own_work_begin(&state);
	cp_record_put_meta(&cp_runtime.record, "functions_untold", "", 0);
	cp_warn("the program goes from stack to stack in a way that cannot be told from a "
		"jump to an outer function: functions and lines are not counted");
	cp_own_work_end(state);
}

static void take_detour(unsigned long function, unsigned long ended, uintptr_t a1,
	uintptr_t a2, uintptr_t a3, uintptr_t a4)
{
	struct cp_name *name = NULL;

	if (function == CP_SIM_SWITCHED) {
		switch_stacks(ended);
	} else if (function == CP_SIM_UNTOLD) {
		note_untold();
	} else if (!ended) {
		name = name_of(function, (const uintptr_t[]){a1, a2, a3, a4});
		cp_marker_begin(name, TAG);
	}
	for (; function != CP_SIM_SWITCHED && ended > 0; ended--)
		cp_marker_end(NULL, TAG, CP_END_OWN);
	cp_sim_function_done(name);
	__builtin_trap();
}

void cp_functions_watch(const char *patterns)
{
	if (cp_functions_chosen(patterns) || cp_lines_chosen(patterns))
		cp_sim_functions(take_detour, patterns);
}
