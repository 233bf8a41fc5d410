/* SPDX-License-Identifier: MIT */
#include "preload/choose.h"

#include <string.h>

#include "base/format.h"
#include "preload/markers/functions.h"
#include "preload/program/pinned.h"
#include "preload/reexec.h"
#include "preload/run.h"
#include "base/counters/options.h"
#include "preload/decide.h"

static void choose_perf(struct cp_choice *choice)
{
	struct cp_why why;
	bool hardware = cp_perf_hardware_works(&why);

	choice->engine = &cp_engine_perf;
	if (hardware)
		cp_format(choice->why, sizeof(choice->why), "hardware counters");
	else
		cp_format(choice->why, sizeof(choice->why),
			"software events only: no hardware counters (%s)", why.text);
	/* Events that were asked for by name are answered name by name. */
	choice->tell = !hardware && !cp_options.events &&
		       cp_options.profile == CP_PROFILE_NONE && !cp_decide_is_software();
}

/* Why the simulated PMU is not taken without being asked for; NULL: it is. */
static const char *no_silent_simulation(struct cp_why *why)
{
	if (cp_run.rank.number >= 0)
		return "under an MPI launcher it would serialise "
		       "and slow down every rank";
	if (cp_reexec_possible(why) < 0)
		return why->text;
	return NULL;
}

/* The length of the reason before it explains, or tells the cure. */
static int cause_length(const char *reason)
{
	const char *note = strstr(reason, " ("), *cure = strstr(reason, ": ");
	size_t length = strlen(reason);

	if (note)
		length = (size_t)(note - reason);
	if (cure && (size_t)(cure - reason) < length)
		length = (size_t)(cure - reason);
	return (int)length;
}

static void choose_without_hardware(struct cp_choice *choice, const struct cp_why *reason)
{
	struct cp_why why;
	const char *no = no_silent_simulation(&why);

	if (!no) {
		choice->engine = &cp_engine_sim;
		cp_format(choice->why, sizeof(choice->why), "no hardware counters: %s",
			reason->text);
		cp_format(choice->cause, sizeof(choice->cause),
			"no hardware counters: %.*s", cause_length(reason->text),
			reason->text);
	} else {
		choice->engine = &cp_engine_perf;
		cp_format(choice->why, sizeof(choice->why),
			"software events only: no hardware counters (%s), "
			"and the simulated PMU is not started by itself: %s "
			"(CACHEPEEK_ENGINE=sim asks for it)",
			reason->text, no);
	}
	choice->tell = true;
}

/* Why only the simulated PMU can do what was asked for; NULL: hardware can. */
static const char *only_simulated(void)
{
	if (cp_options.profile != CP_PROFILE_NONE)
		return "CACHEPEEK_PROFILE: only the simulated PMU notes who misses";
	if (cp_options.call_paths)
		return "CACHEPEEK_CALL_PATHS: only the simulated PMU sees all calls";
	if (cp_functions_chosen(cp_options.regions) && !cp_functions_can_be_patched())
		return "CACHEPEEK_REGIONS=func: "
		       "only the simulated PMU sees functions begin and end";
	if (cp_lines_chosen(cp_options.regions))
		return "CACHEPEEK_REGIONS=line: "
		       "only the simulated PMU sees lines of source begin and end";
	if (cp_options.sweep)
		return "CACHEPEEK_SWEEP: only the simulated PMU has caches of any size";
	if (cp_options.sample)
		return "CACHEPEEK_SAMPLE: it is a way of the simulated PMU";
	if (cp_options.working_set)
		return "CACHEPEEK_WORKING_SET: "
		       "only the simulated PMU sees each reference";
	if (cp_is_reproducible(cp_options.reproducible))
		return "CACHEPEEK_REPRODUCIBLE: "
		       "only the simulated PMU repeats its counts";
	if (cp_options.what_if)
		return "CACHEPEEK_WHAT_IF: only the simulated PMU can be another machine";
	return NULL;
}

static void choose_auto(struct cp_choice *choice)
{
	struct cp_why why;

	if (cp_decide_is_software()) {
		choice->engine = &cp_engine_perf;
		cp_format(choice->why, sizeof(choice->why),
			"only software and breakpoint events were asked for");
	} else if (only_simulated() && cp_reexec_possible(&why) == 0) {
		choice->engine = &cp_engine_sim;
		choice->tell = true;
		cp_format(choice->why, sizeof(choice->why), "%s", only_simulated());
		cp_format(choice->cause, sizeof(choice->cause), "%s", only_simulated());
	} else if (cp_perf_hardware_works(&why)) {
		choice->engine = &cp_engine_perf;
		cp_format(choice->why, sizeof(choice->why), "hardware counters");
	} else {
		choose_without_hardware(choice, &why);
	}
}

void cp_choose_engine(struct cp_choice *choice)
{
	memset(choice, 0, sizeof(*choice));
	switch (cp_options.engine) {
	case CP_CHOOSE_PERF:
		choose_perf(choice);
		break;
	case CP_CHOOSE_SIM:
		choice->engine = &cp_engine_sim;
		cp_format(choice->why, sizeof(choice->why), "CACHEPEEK_ENGINE=sim");
		break;
	default:
		choose_auto(choice);
	}
}
