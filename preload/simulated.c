/* SPDX-License-Identifier: MIT
 *
 * What the simulated PMU is asked for: a machine, changes to it, and what else it
 * notes while it counts.
 */
#include "preload/simulated.h"

#include "base/format.h"
#include "base/log.h"
#include "base/text.h"
#include "preload/compared.h"
#include "base/engine/simclient.h"
#include "preload/markers/functions.h"
#include "preload/reexec.h"
#include "preload/runtime.h"
#include "base/counters/windows.h"

/* The machine, changed as CACHEPEEK_WHAT_IF says. */
static void change_machine(void)
{
	char error[256], line[360];

	if (!cp_runtime.options.what_if ||
		cp_machine_change(&cp_runtime.machine, cp_runtime.options.what_if, error,
			sizeof(error)) == 0)
		return;
	cp_format(line, sizeof(line), "CACHEPEEK_WHAT_IF: %s (%s is simulated as it is)",
		error, cp_runtime.machine.name);
	cp_warn(line);
}

static void plan_sweep(void)
{
	char error[256], line[360];

	if (!cp_runtime.options.sweep ||
		cp_sweep_parse(&cp_runtime.sweep, &cp_runtime.machine,
			cp_runtime.options.sweep, error, sizeof(error)) == 0)
		return;
	cp_runtime.sweep.npoints = 0;
	cp_format(line, sizeof(line), "CACHEPEEK_SWEEP: %s (nothing is swept)", error);
	cp_warn(line);
}

static void plan_windows(void)
{
	if (!cp_runtime.options.working_set)
		return;
	cp_runtime.window = cp_windows_parse(cp_runtime.options.working_set);
	if (!cp_runtime.window)
		cp_warn("CACHEPEEK_WORKING_SET is not a number of instructions from 1 to "
			"1000000000: there are no working sets");
}

static int find_named_machine(void)
{
	char error[256], line[320], first[CP_COMPARED_SIZE];
	bool compared = cp_compared_first(first, sizeof(first));

	if (cp_machine_find(&cp_runtime.machine,
		    compared ? first : cp_runtime.options.machine, error,
		    sizeof(error)) == 0)
		return 0;
	cp_format(line, sizeof(line), "%s (the host's caches are simulated instead)",
		error);
	cp_warn(line);
	return cp_machine_find(&cp_runtime.machine, "host", error, sizeof(error));
}

/* Who compares machines changes none. */
void cp_simulated_machine(void)
{
	char first[CP_COMPARED_SIZE];

	find_named_machine();
	cp_runtime.simulated = &cp_runtime.machine;
	cp_runtime.machine.timing = cp_runtime.options.timing;
	if (cp_compared_first(first, sizeof(first)))
		return;
	change_machine();
	plan_sweep();
	plan_windows();
}

static unsigned quantum(void)
{
	const char *text = cp_runtime.options.quantum;
	uint64_t references;

	if (!text)
		return 0;
	if (cp_parse_u64(text, &references) == 0 && references >= 1 &&
		references <= 1000000000)
		return (unsigned)references;
	cp_warn("CACHEPEEK_QUANTUM is not a number of data references from 1 to "
		"1000000000: nothing is said of turns");
	return 0;
}

static void ignore_complaint(const char *line)
{
	(void)line; /* resolve_events will say it again, and keep it */
}

void cp_request_quietly(void)
{
	cp_request_read(&cp_runtime.request, &cp_runtime.arena, cp_runtime.options.events,
		cp_runtime.options.groups, cp_runtime.options.let, "cache",
		ignore_complaint);
}

/* Whether cycles are counted has to be known before anything is; resolve_events will
 * find the same. */
static void choose_timing(struct cp_machine *machines, unsigned nmachines)
{
	static struct cp_event_set set;

	cp_request_quietly();
	for (unsigned i = 0; i < nmachines; i++) {
		machines[i].timing = cp_runtime.options.timing;
		cp_events_for_sim(&set, &cp_runtime.request, &machines[i],
			&cp_runtime.arena, ignore_complaint);
		machines[i].timed = set.timed;
	}
}

void cp_run_simulated(char **argv, char *const *entries)
{
	static struct cp_machine machines[CP_MAX_MACHINES];
	unsigned nmachines;
	struct cp_why why;
	struct cp_sim_wishes wishes = {.sweep = &cp_runtime.sweep};

	cp_simulated_machine();
	machines[0] = cp_runtime.machine;
	nmachines = cp_compared_find(machines, cp_warn);
	wishes.window = cp_runtime.window;
	wishes.profile = nmachines == 1 && cp_runtime.options.profile != CP_PROFILE_NONE;
	wishes.sharing =
		wishes.profile && cp_runtime.options.profile == CP_PROFILE_SHARING;
	wishes.call_paths = nmachines == 1 && cp_runtime.options.call_paths;
	wishes.lines = cp_lines_chosen(cp_runtime.options.regions);
	wishes.host_cpu = cp_runtime.options.cpu == CP_CPU_HOST;
	wishes.quantum = wishes.sharing ? quantum() : 0;
	choose_timing(machines, nmachines);
	cp_reexec(
		argv, entries, machines, nmachines, cp_runtime.directory, &wishes, &why);
	/* Not by cp_warn(), which leaves children's lines to their records. */
	cp_say("%s is not counted: %s", cp_is_root() ? "the program" : "a child",
		why.text);
	if (cp_is_root())
		cp_run_remove(cp_runtime.directory);
}

struct simulated_only {
	bool asked;
	const char *what;
};

void cp_warn_of_simulated(void)
{
	const struct cp_options *options = &cp_runtime.options;
	const struct simulated_only only[] = {
		{cp_functions_chosen(options->regions), "func: in CACHEPEEK_REGIONS"},
		{cp_lines_chosen(options->regions), "line: in CACHEPEEK_REGIONS"},
		{options->what_if, "CACHEPEEK_WHAT_IF"},
		{options->working_set, "CACHEPEEK_WORKING_SET"},
		{options->sweep, "CACHEPEEK_SWEEP"},
		{options->call_paths, "CACHEPEEK_CALL_PATHS"},
	};
	char line[128];

	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++) {
		if (!only[i].asked)
			continue;
		cp_format(line, sizeof(line),
			"%s is ignored: it takes the simulated PMU "
			"(CACHEPEEK_ENGINE=sim)",
			only[i].what);
		cp_warn(line);
	}
}
