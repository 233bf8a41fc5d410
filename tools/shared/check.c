/* SPDX-License-Identifier: MIT */
#include "tools/shared/check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/format.h"
#include "base/text.h"
#include "output/metrics/other_names.h"
#include "output/metrics/preset.h"
#include "output/sink.h"
#include "base/counters/encode_software.h"
#include "base/encoder/pfm.h"
#include "base/counters/events.h"
#include "base/counters/options.h"
#include "base/counters/sweep.h"
#include "base/counters/windows.h"

__attribute__((format(printf, 1, 2))) static bool refuse_setting(const char *format, ...)
{
	va_list args;

	fputs("cachepeek: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\n", stderr);
	return false;
}

/* ---- events ---- */

static bool complained;

static void note_complaint(const char *line)
{
	(void)line;
	complained = true;
}

/* rHEX, mem:ADDRESS… and sysfs:PMU/SETTING=VALUE/ are no names. */
static bool is_spelled_out(const char *event)
{
	size_t digits = strspn(event + 1, "0123456789abcdefABCDEF");
	const char *slash, *rest;
	uint64_t address;

	if (cp_starts_with(event, "mem:"))
		return cp_parse_u64_prefix(event + 4, &rest, &address) == 0;
	if (cp_starts_with(event, "sysfs:")) {
		slash = strchr(event, '/');
		return slash && strchr(slash + 1, '/');
	}
	return *event == 'r' && digits > 0 && digits <= 16 &&
	       (!event[1 + digits] || event[1 + digits] == ':');
}

/* libpfm has the tables of one architecture: what it cannot look up may be right. */
static bool perf_knows(const char *event)
{
	struct perf_event_attr attr;
	const char *reason;
	int result = cp_encode_software(event, &attr, &reason);

	if (result != -ENOENT)
		return result != -EINVAL;
	return cp_encoder.encode(event, &attr, &reason) == 0 ||
	       (strstr(event, "::") && cp_encoder.check(event, &reason) == -ENOENT);
}

static bool sim_knows(
	const char *event, const struct cp_machine *machine, struct cp_arena *arena)
{
	static struct cp_event_set set;
	struct cp_request *request = cp_arena_alloc(arena, sizeof(*request));

	memset(request, 0, sizeof(*request));
	request->names[request->nnames++] = event;
	complained = false;
	cp_events_for_sim(&set, request, machine, arena, note_complaint);
	return set.quantities[0].available || (!complained && !strchr(event, ':'));
}

static bool one_knows(const char *event, const struct cp_machine *machine,
	const struct cp_machine *const *others, struct cp_arena *arena)
{
	if (sim_knows(event, machine, arena))
		return true;
	for (; others && *others; others++)
		if (sim_knows(event, *others, arena))
			return true;
	return false;
}

static bool is_other_tools(enum cp_named what, const char *name, struct cp_arena *arena)
{
	struct cp_other_name other;

	return cp_other_name(arena, what, name, &other);
}

static bool no_event(const char *event, struct cp_arena *arena)
{
	const char *like = cp_event_like(event, arena);

	if (like)
		return refuse_setting(
			"there is no event \"%s\": did you mean \"%s\"?", event, like);
	return refuse_setting("there is no event \"%s\": `cachepeek list presets` "
			      "and `cachepeek list events` have them",
		event);
}

static bool check_events(const struct cp_wanted *wanted, const struct cp_machine *machine,
	struct cp_arena *arena)
{
	struct cp_request *request = cp_arena_alloc(arena, sizeof(*request));

	cp_request_read(request, arena,
		&(struct cp_request_text){wanted->events, NULL, NULL, NULL},
		note_complaint);
	if (!request->nnames)
		return refuse_setting(
			"-e names no event: `cachepeek list presets` has them");
	if (request->dropped)
		return refuse_setting("-e has %zu events: up to %d can be counted",
			request->nnames + request->dropped, CP_MAX_QUANTITIES);
	for (size_t i = 0; i < request->nnames; i++) {
		const char *event = request->names[i];

		if (!cp_preset_known(event) && !is_spelled_out(event) &&
			!perf_knows(event) &&
			!is_other_tools(CP_NAMED_EVENT, event, arena) &&
			!one_knows(event, machine, wanted->others, arena))
			return no_event(event, arena);
	}
	return true;
}

/* ---- groups ---- */

static bool check_groups(const char *groups, struct cp_arena *arena)
{
	const char *piece;
	char error[256];
	size_t length, count = 0;

	while ((piece = cp_next_piece(&groups, ',', &length))) {
		const char *name = cp_arena_copy(arena, piece, length);

		if (!is_other_tools(CP_NAMED_GROUP, name, arena) &&
			!cp_group_find(arena, name, error, sizeof(error)))
			return refuse_setting("%s", error);
		if (++count > CP_MAX_GROUPS)
			return refuse_setting(
				"-g has more than %d groups", CP_MAX_GROUPS);
	}
	return count > 0 ||
	       refuse_setting("-g names no group: `cachepeek list groups` has them");
}

/* ---- who counts, and on what ---- */

static bool check_engine(const char *engine)
{
	static const char *const engines[] = {"auto", "perf", "sim", NULL};

	for (unsigned i = 0; engines[i]; i++)
		if (strcmp(engine, engines[i]) == 0)
			return true;
	return refuse_setting("there is no engine \"%s\": expected auto, perf or sim%s",
		engine, cp_option_gone("CACHEPEEK_ENGINE", engine));
}

/* The machine that is changed, swept, and whose own events are known; that of the
 * environment is the library's to complain of. */
static bool find_machine(const char *name, bool swept, struct cp_machine *machine)
{
	const char *set = getenv("CACHEPEEK_MACHINE"), *wanted = name ? name : "host";
	char error[256];

	if (!name && set && *set &&
		cp_machine_find(machine, cp_machine_to_sample(set, swept), error,
			sizeof(error)) == 0)
		return true;
	if (cp_machine_find(machine, cp_machine_to_sample(wanted, swept), error,
		    sizeof(error)) == 0)
		return true;
	return refuse_setting("%s%s", error,
		strchr(error, '?') || strchr(wanted, '/')
			? ""
			: ": `cachepeek list machines` has them");
}

static bool check_changes(const char *changes, struct cp_machine *machine)
{
	char error[256];

	return cp_machine_change(machine, changes, error, sizeof(error)) == 0 ||
	       refuse_setting("--what-if: %s", error);
}

static bool check_sweep(const char *sweep, const struct cp_machine *machine)
{
	static struct cp_sweep_plan plan;
	char error[256];

	if (cp_sweep_parse(&plan, machine, sweep, error, sizeof(error)) < 0)
		return refuse_setting("--sweep: %s", error);
	return !plan.why[0] || refuse_setting("--sweep %s: %s", sweep, plan.why);
}

static bool check_window(const char *window)
{
	return cp_windows_parse(window) > 0 ||
	       refuse_setting("--working-set %s: "
			      "expected a number of instructions from 1 to 1000000000",
		       window);
}

/* ---- places ---- */

static bool may_write(const char *path)
{
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

/* Cuts the last name off; false: there is none before it. */
static bool to_parent(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !strcmp(path, "/"))
		return false;
	slash[slash == path] = '\0';
	return true;
}

/* Why nothing can be made in the directory of path, or in the nearest one that is
 * there: those between are made.  NULL: it can. */
static const char *no_directory(char *path)
{
	struct stat there;

	do {
		if (!to_parent(path))
			strcpy(path, *path == '/' ? "/" : ".");
		if (stat(path, &there) < 0)
			continue;
		if (!S_ISDIR(there.st_mode))
			return cp_error_text(ENOTDIR);
		return may_write(path) ? NULL : cp_error_text(errno);
	} while (errno == ENOENT || errno == ENOTDIR);
	return cp_error_text(errno);
}

static const char *obstacle_to_file(const char *name, bool directory)
{
	char path[PATH_MAX], *percent;
	struct stat there;

	if (cp_format(path, sizeof(path), "%s", name) >= sizeof(path))
		return cp_error_text(ENAMETOOLONG);
	percent = strchr(path, '%'); /* whatever that will be */
	if (percent)
		*percent = '\0';
	else if (stat(path, &there) == 0 && directory)
		return !S_ISDIR(there.st_mode) ? cp_error_text(ENOTDIR)
		       : may_write(path)       ? NULL
					       : cp_error_text(errno);
	else if (!percent && stat(path, &there) == 0 && !S_ISREG(there.st_mode))
		return S_ISDIR(there.st_mode) ? cp_error_text(EISDIR) : NULL;
	else if (!percent && may_write(path))
		return NULL;
	return no_directory(path);
}

bool cp_check_place(const char *name)
{
	const char *why;

	if (!name || strcmp(name, "-") == 0 || strcmp(name, "-.json") == 0 ||
		strcmp(name, "stderr") == 0)
		return true;
	why = obstacle_to_file(name, false);
	return !why || refuse_setting("output %s: %s: choose a file that can be written",
			       name, why);
}

static bool check_directory(const char *name)
{
	const char *why = obstacle_to_file(name, true);

	return !why || refuse_setting("-d %s: %s: choose a directory that can be written",
			       name, why);
}

static void print_line(void *context, const char *line)
{
	if ((*(int *)context)++ == 0)
		fprintf(stderr, "cachepeek: %s\n", line);
}

static bool check_outputs(const char *outputs, struct cp_arena *arena)
{
	int count = 0;
	const struct cp_sink_context context = {.rank = -1,
		.host = "h",
		.exe = "e",
		.complain = print_line,
		.complain_context = &count};
	const char *piece;
	size_t length;

	if (cp_sinks_check(outputs, &context) > 0)
		return false;
	while ((piece = cp_next_piece(&outputs, ',', &length)))
		if (!cp_check_place(cp_arena_copy(arena, piece, length)))
			return false;
	return true;
}

static bool check_interval(const char *interval)
{
	return cp_option_takes("CACHEPEEK_INTERVAL", interval) ||
	       refuse_setting(
		       "-I %s: expected a time from 10ms to 1h, such as 100ms or 2s",
		       interval);
}

/* ---- all ---- */

static bool check_wanted(const struct cp_wanted *wanted, struct cp_arena *arena)
{
	static struct cp_machine machine;

	return (!wanted->engine || check_engine(wanted->engine)) &&
	       find_machine(wanted->machine, wanted->sweep != NULL, &machine) &&
	       (!wanted->changes || check_changes(wanted->changes, &machine)) &&
	       (!wanted->sweep || check_sweep(wanted->sweep, &machine)) &&
	       (!wanted->window || check_window(wanted->window)) &&
	       (!wanted->groups || check_groups(wanted->groups, arena)) &&
	       (!wanted->events || check_events(wanted, &machine, arena)) &&
	       (!wanted->outputs || check_outputs(wanted->outputs, arena)) &&
	       (!wanted->interval || check_interval(wanted->interval)) &&
	       (!wanted->directory || check_directory(wanted->directory));
}

bool cp_check_wanted(const struct cp_wanted *wanted)
{
	struct cp_arena arena = {0};
	struct cp_escape out_of_memory;
	volatile bool right = false;

	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		arena.out_of_memory = &out_of_memory;
		right = check_wanted(wanted, &arena);
	} else {
		refuse_setting("out of memory");
	}
	arena.out_of_memory = NULL;
	cp_arena_free(&arena);
	return right;
}
