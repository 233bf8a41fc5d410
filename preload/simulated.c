/* SPDX-License-Identifier: MIT
 *
 * Tells the simulated PMU what it is asked for: a machine, changes to it, and what else
 * it notes while it counts.
 */
#include "preload/simulated.h"

#include "base/format.h"
#include "base/log.h"
#include "base/machine/clock.h"
#include "base/text.h"
#include "preload/compared.h"
#include "preload/markers/functions.h"
#include "preload/program/level.h"
#include "preload/program/pinned.h"
#include "preload/reexec.h"
#include "base/counters/windows.h"
#include "preload/run.h"
#include "base/counters/options.h"
#include "preload/planned.h"
#include "preload/warn.h"

/* The machine, changed as CACHEPEEK_WHAT_IF says. */
static void change_machine(void)
{
	struct cp_machine *machine = &cp_plan.machine[0];
	char error[256], line[360];

	if (!cp_options.what_if ||
		cp_machine_change(machine, cp_options.what_if, error, sizeof(error)) == 0)
		return;
	cp_format(line, sizeof(line), "CACHEPEEK_WHAT_IF: %s (%s is simulated as it is)",
		error, machine->name);
	cp_decide_complain(line);
}

static void plan_sweep(void)
{
	char error[256], line[360];

	if (!cp_options.sweep || cp_sweep_parse(&cp_plan.sweep, &cp_plan.machine[0],
					 cp_options.sweep, error, sizeof(error)) == 0)
		return;
	cp_plan.sweep.npoints = 0;
	cp_format(line, sizeof(line), "CACHEPEEK_SWEEP: %s (nothing is swept)", error);
	cp_decide_complain(line);
}

static void plan_windows(void)
{
	if (!cp_options.working_set)
		return;
	cp_plan.window = cp_windows_parse(cp_options.working_set);
	if (!cp_plan.window)
		cp_decide_complain("CACHEPEEK_WORKING_SET is not a number "
				   "of instructions from 1 to 1000000000: "
				   "there are no working sets");
}

/* Names the option that excludes sampling; NULL: none is set. */
static const char *option_against_sampling(void)
{
	const struct cp_options *options = &cp_options;

	return options->working_set                     ? "CACHEPEEK_WORKING_SET"
	       : options->profile == CP_PROFILE_SHARING ? "CACHEPEEK_PROFILE=sharing"
	       : options->line_use                      ? "CACHEPEEK_LINE_USE"
	       : options->call_paths                    ? "CACHEPEEK_CALL_PATHS"
	       : options->timing == CP_TIMING_ON        ? "CACHEPEEK_TIMING=on"
	       : options->timing == CP_TIMING_SAMPLE    ? "CACHEPEEK_TIMING=sample"
							: NULL;
}

static int fit_sample(struct cp_sample_plan *plan, char *error, size_t size)
{
	int result = cp_sample_parse(plan, cp_options.sample, error, size);

	for (unsigned i = 0; result == 0 && i < cp_plan.nmachines; i++)
		result = cp_sample_fit(plan, &cp_plan.machine[i], error, size);
	if (result == 0)
		cp_sample_fit_sweep(plan, &cp_plan.sweep);
	for (unsigned i = 0; i < cp_plan.nmachines; i++)
		cp_plan.machine[i].sampled = result == 0;
	return result;
}

/* When machines and sweep are planned. */
static void plan_sample(void)
{
	struct cp_sample_plan *plan = &cp_plan.sample;
	const char *other = option_against_sampling();
	char error[256], line[400];

	if (!cp_options.sample)
		return;
	if (other)
		cp_format(error, sizeof(error), "not together with %s", other);
	else if (fit_sample(plan, error, sizeof(error)) == 0)
		return;
	plan->sets = 0;
	cp_format(line, sizeof(line),
		"CACHEPEEK_SAMPLE: %s (everything is simulated, which takes longer)",
		error);
	cp_decide_complain(line);
}

static void find_named_machine(const char *name)
{
	struct cp_machine *machine = &cp_plan.machine[0];
	char error[256], line[320];

	if (cp_is_reproducible(cp_options.reproducible))
		cp_clock_measure_nothing();
	if (cp_machine_find(machine, name, error, sizeof(error)) == 0)
		return;
	cp_format(line, sizeof(line), "%s (the host's caches are simulated instead)",
		error);
	cp_decide_complain(line);
	cp_machine_find(machine, "host", error, sizeof(error));
}

/* Time is modelled in full where its parts would be too small for samples: of call paths
 * and of intervals; and where machines are compared. */
static void plan_time_sample(bool compared)
{
	const struct cp_options *options = &cp_options;

	cp_plan.machine[0].time_sampled = !compared && options->timing != CP_TIMING_ON &&
					  !options->call_paths && !options->interval &&
					  !cp_plan.sample.sets;
}

/* --compare and --what-if are exclusive. */
void cp_simulated_machines(void)
{
	char first[CP_COMPARED_SIZE];
	bool compared = cp_compared_first(first, sizeof(first));

	find_named_machine(cp_machine_to_sample(compared ? first : cp_options.machine,
		cp_options.sample || cp_options.sweep));
	cp_plan.nmachines = cp_compared_find(cp_plan.machine, cp_decide_complain);
	for (unsigned i = 0; i < cp_plan.nmachines; i++)
		cp_plan.machine[i].timing = cp_options.timing;
	if (!compared) {
		change_machine();
		plan_sweep();
		plan_windows();
	}
	plan_sample();
	plan_time_sample(compared);
}

/* Counts have a table, a file, or a course of their own, for which time is not there, or
 * would be modelled in full. */
static bool is_asked_otherwise(void)
{
	const struct cp_options *options = &cp_options;

	return cp_plan.nmachines > 1 || cp_plan.sweep.npoints || cp_plan.window ||
	       cp_plan.sample.sets || options->profile != CP_PROFILE_NONE ||
	       options->call_paths || options->interval;
}

const char *cp_simulated_groups(void)
{
	const struct cp_machine *machine = &cp_plan.machine[0];
	char missing[160];

	return machine->timing == CP_TIMING_OFF || is_asked_otherwise() ||
			       !cp_machine_tells_time(machine, missing, sizeof(missing))
		       ? "cache"
		       : "cache,time";
}

static void ignore_complaint(const char *line)
{
	(void)line; /* the report is about the first machine */
}

/* Whether cycles are counted has to be known of each machine before anything is. */
void cp_simulated_events(const struct cp_request *request)
{
	struct cp_event_set *set = &cp_plan.set;

	for (unsigned i = cp_plan.nmachines; i-- > 0;) {
		cp_events_for_sim(set, request, &cp_plan.machine[i], &cp_decide_arena,
			i ? ignore_complaint : cp_decide_complain);
		cp_plan.machine[i].timed = set->timed;
		cp_plan.machine[i].time_sampled &= set->time_sampled;
	}
	cp_sweep_add_events(set, &cp_plan.sweep);
	if (cp_plan.window)
		cp_windows_add_events(set);
}

static unsigned quantum_wanted(void)
{
	const char *text = cp_options.quantum;
	uint64_t references;

	if (!text)
		return 0;
	if (cp_parse_u64(text, &references) == 0 && references >= 1 &&
		references <= 1000000000)
		return (unsigned)references;
	cp_warn("CACHEPEEK_QUANTUM is not a number "
		"of data references from 1 to 1000000000: "
		"turns of threads are not simulated");
	return 0;
}

void cp_run_simulated(char **argv, char *const *entries)
{
	bool profile = cp_plan.nmachines == 1 && cp_options.profile != CP_PROFILE_NONE;
	struct cp_sim_wishes wishes = {.profile = profile,
		.sharing = profile && cp_options.profile == CP_PROFILE_SHARING,
		.call_paths = cp_plan.nmachines == 1 && cp_options.call_paths,
		.line_use = profile && cp_options.line_use,
		.lines = cp_lines_chosen(cp_options.regions),
		.cpu = cp_level_shown()};
	struct cp_why why;

	wishes.quantum = wishes.sharing ? quantum_wanted() : 0;
	cp_reexec(argv, entries, &cp_plan, cp_run.directory, &wishes, &why);
	/* Not by cp_warn(), which leaves children's lines to their records. */
	cp_say("%s is not counted: %s", cp_is_root() ? "the program" : "a child",
		why.text);
	if (cp_is_root())
		cp_run_remove(cp_run.directory);
}

struct simulated_only {
	bool asked;
	const char *what;
};

void cp_warn_of_simulated(void)
{
	const struct cp_options *options = &cp_options;
	const struct simulated_only only[] = {
		{cp_functions_chosen(options->regions) && !cp_functions_can_be_patched(),
			"func: in CACHEPEEK_REGIONS"},
		{cp_lines_chosen(options->regions), "line: in CACHEPEEK_REGIONS"},
		{options->what_if, "CACHEPEEK_WHAT_IF"},
		{options->working_set, "CACHEPEEK_WORKING_SET"},
		{options->sweep, "CACHEPEEK_SWEEP"},
		{options->sample, "CACHEPEEK_SAMPLE"},
		{options->call_paths && options->profile == CP_PROFILE_NONE,
			"CACHEPEEK_CALL_PATHS"},
		{options->line_use, "CACHEPEEK_LINE_USE"},
		{options->cpu == CP_CPU_HOST, "CACHEPEEK_CPU"},
		{cp_is_reproducible(options->reproducible), "CACHEPEEK_REPRODUCIBLE"},
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
