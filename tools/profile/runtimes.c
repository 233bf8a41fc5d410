/* SPDX-License-Identifier: MIT */
#include "tools/profile/runtimes.h"

#include <string.h>

enum { LEAST_PERCENT = 5 };

/* By the beginning of the name of a file whose code ran.  Each writes /tmp/perf-PID.map
 * then, for perf. */
static const struct {
	const char *module, *names;
} runtimes[] = {
	{"libjvm.so",
		"`java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit` (of 17 and "
		"newer) writes them"},
	{"libnode.so", "`node --perf-basic-prof` writes them"},
	{"node", "`node --perf-basic-prof` writes them"},
	{"beam.", "`erl +JPperf map` (of OTP 25 and newer) writes them"},
	{"php", "`php -d opcache.jit_debug=16` writes them"},
	{"libphp", "opcache.jit_debug=16 in php.ini has PHP write them"},
	{"libcoreclr.so",
		"DOTNET_PerfMapEnabled=1 in the environment has .NET write them"},
	{"libruby", "`ruby --yjit-perf` (of 3.3 and newer) writes them"},
	{"luajit", "LuaJIT writes them if it was built with LUAJIT_USE_PERFTOOLS"},
	{"libluajit", "LuaJIT writes them if it was built with LUAJIT_USE_PERFTOOLS"},
};

static const char *names_of(const struct cp_profile *profile)
{
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		for (size_t k = 0; k < profile->nmodules; k++)
			if (strncmp(profile->modules[k].name, runtimes[i].module,
				    strlen(runtimes[i].module)) == 0)
				return runtimes[i].names;
	return "many runtimes have an option for perf that writes them";
}

static double misses_of(const struct cp_profile_view *view, const struct cp_tally *tally)
{
	return cp_measure_order(view->profile, view->measurement, CP_BY_MISSES, tally);
}

static bool has_no_name(const struct cp_profiled_site *site)
{
	return !*site->at.module->path && !*site->at.function;
}

/* Percent of the misses that have a place. */
static double without_names(const struct cp_profile_view *view)
{
	struct cp_tally all = {.only_kept = true}, unnamed = {.only_kept = true};
	const struct cp_profile *profile = view->profile;

	for (size_t i = 0; i < profile->nsites; i++) {
		cp_tally_site(&all, &profile->sites[i]);
		if (has_no_name(&profile->sites[i]))
			cp_tally_site(&unnamed, &profile->sites[i]);
	}
	return misses_of(view, &all) > 0
		       ? 100 * misses_of(view, &unnamed) / misses_of(view, &all)
		       : 0;
}

/* Sites of a sample have no counts by themselves. */
void cp_profile_warn_of_names(
	struct cp_profile *profile, const struct cp_profile_view *view)
{
	double percent = profile->bursts ? 0 : without_names(view);
	size_t before = profile->nwarnings;

	if (percent < LEAST_PERCENT)
		return;
	cp_profile_warn(profile,
		"%.0f %% of the misses are in code that was made at run time and has no "
		"names, which would be in /tmp/perf-PID.map: %s",
		percent, names_of(profile));
	if (profile->nwarnings > before)
		profile->unnamed = profile->warnings[before];
}
