/* SPDX-License-Identifier: MIT
 *
 * cachepeek dcache|dtlb|icache [options] PROGRAM [arguments]: runs the program on
 * the simulated PMU and reports its misses by function, statement, instruction;
 * without a program, those of a run that was kept.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/counters/options.h"
#include "tools/shared/cmd.h"
#include "tools/runs/profile_run.h"
#include "tools/profile/calls/calls.h"
#include "tools/profile/model/fit.h"
#include "tools/profile/advice/sharing.h"
#include "tools/profile/samples/perf_data.h"
#include "tools/profile/model/write.h"
#include "tools/profile/runtimes.h"

struct request {
	const char *name; /* of the measurement */
	const char *machine, *directory, *engine;
	const char *input; /* a file of perf's */
	struct cp_output_list outputs;
	enum cp_profile_order order;
	bool cut, statements, instructions, debuginfod, sharing, line_use, call_paths,
		verbose;
	const char *callers, *reproducible;
	struct cp_cutoff cutoff;
	unsigned context;
};

/* ---- what is asked for ---- */

static bool refuse_value(
	const struct cp_arg *arg, const char *value, const char *expected)
{
	fprintf(stderr, "cachepeek: --%s %s: expected %s\n", arg->name, value, expected);
	return false;
}

static bool take_sort(void *context, const struct cp_arg *arg, const char *value)
{
	static const char *const names[] = {"misses", "latency", "avg"};
	struct request *request = context;

	for (unsigned i = 0; i < 3; i++)
		if (strcmp(value, names[i]) == 0) {
			request->order = (enum cp_profile_order)i;
			return true;
		}
	return refuse_value(arg, value, "misses, latency or avg");
}

static bool take_cutoff(void *context, const struct cp_arg *arg, const char *value)
{
	struct request *request = context;
	struct cp_cutoff *cutoff = &request->cutoff;
	int end = 0;

	request->cut = true;
	if (sscanf(value, "%lf,%lf,%zu%n", &cutoff->percent, &cutoff->cumulative,
		    &cutoff->least, &end) == 3 &&
		!value[end] && cutoff->percent >= 0 && cutoff->percent <= 100 &&
		cutoff->cumulative >= 0 && cutoff->cumulative <= 100)
		return true;
	return refuse_value(arg, value,
		"PERCENT,CUMULATIVE,ROWS: 1,95,10 shows 10 rows or more, "
		"up to 95 % of the total and none below 1 %");
}

static bool take_details(void *context, const struct cp_arg *arg, const char *value)
{
	struct request *request = context;
	bool all = strcmp(value, "all") == 0;

	request->statements = all || strcmp(value, "src") == 0;
	request->instructions = all || strcmp(value, "insn") == 0;
	return request->statements || request->instructions ||
	       refuse_value(arg, value, "src, insn or all");
}

static bool take_context(void *context, const struct cp_arg *arg, const char *value)
{
	struct request *request = context;
	uint64_t lines;

	if (!cp_cmd_number(arg, value, 0, CP_CONTEXT_MOST, &lines))
		return false;
	request->context = (unsigned)lines;
	return request->statements = true;
}

static bool take_engine(void *context, const struct cp_arg *arg, const char *value)
{
	struct request *request = context;

	(void)arg;
	if (strcmp(value, "sim") != 0 && strcmp(value, "perf") != 0) {
		fprintf(stderr, "cachepeek: --engine %s: expected sim or perf%s\n", value,
			cp_option_gone("CACHEPEEK_ENGINE", value));
		return false;
	}
	request->engine = value;
	return true;
}

#define AT(kind, member) CP_ARG_AT(kind, struct request, member)

static const struct cp_arg args[] = {
	{"input", 'i', AT(TEXT, input)},
	{"output", 'o', AT(OUTPUT, outputs)},
	{"machine", 'm', AT(TEXT, machine)},
	{"engine", 'E', CP_ARG_BY(TAKE, take_engine, NULL)},
	{"dir", 'd', AT(TEXT, directory)},
	{"sort", 0, CP_ARG_BY(TAKE, take_sort, NULL)},
	{"cutoff", 0, CP_ARG_BY(TAKE, take_cutoff, NULL)},
	{"details", 0, CP_ARG_BY(TAKE, take_details, NULL)},
	{"context-lines", 0, CP_ARG_BY(TAKE, take_context, NULL)},
	{"debuginfod", 0, AT(FLAG, debuginfod)},
	{"sharing", 0, AT(FLAG, sharing)},
	{"line-use", 0, AT(FLAG, line_use)},
	{"json", 0, AT(JSON, outputs)},
	{"call-paths", 0, AT(FLAG, call_paths)},
	{"callers", 0, AT(TEXT, callers)},
	{"reproducible", 0, AT(OPTIONAL, reproducible)},
	{"verbose", 'v', AT(FLAG, verbose)},
	{.name = NULL},
};

static bool check_together(const struct request *request)
{
	bool simulated = strcmp(request->engine, "sim") == 0;

	if (request->sharing && !(simulated && strcmp(request->name, "dcache") == 0)) {
		fprintf(stderr, "cachepeek: --sharing: "
				"expected with dcache on the simulated PMU, "
				"which sees what threads share\n");
		return false;
	}
	if (request->line_use && !(simulated && strcmp(request->name, "dcache") == 0)) {
		fprintf(stderr, "cachepeek: --line-use: "
				"expected with dcache on the simulated PMU, "
				"which sees every reference\n");
		return false;
	}
	if (request->reproducible && !simulated) {
		fprintf(stderr, "cachepeek: --reproducible: "
				"expected with the simulated PMU, "
				"which can pin what a program finds\n");
		return false;
	}
	return true;
}

/* ---- the report ---- */

static const struct {
	const char *ending;
	cp_profile_writer *write;
} formats[] = {
	{".txt", cp_profile_write_text},
	{".speedscope.json", cp_profile_write_speedscope},
	{".json", cp_profile_write_json},
	{".csv", cp_profile_write_csv},
	{".html", cp_profile_write_html},
	{".callgrind", cp_profile_write_callgrind},
	{".folded", cp_profile_write_folded},
	{".pprof", cp_profile_write_pprof},
	{".pb.gz", cp_profile_write_pprof},
};

/* Each of the outputs; without any standard error's. */
static bool choose_outputs(struct request *request)
{
	if (!request->outputs.count)
		request->outputs.count = 1;
	return cp_output_check_all(request->name, &request->outputs, CP_ENDINGS(formats));
}

static double constant_of(const struct cp_group *measurement, const char *name)
{
	const struct cp_let *let = cp_group_let(measurement, name);

	return let ? let->value : 0;
}

/* A request for details wants all of them, not the answer only. */
static bool wants_answer(const struct request *request, const struct cp_profile *profile)
{
	return !request->verbose && !request->cut && !request->statements &&
	       !request->instructions && !request->call_paths && !request->callers &&
	       request->order == CP_BY_MISSES && !profile->sampled &&
	       !profile->without_sites;
}

static struct cp_profile_view view_of(const struct request *request,
	const struct cp_profile *profile, const struct cp_group *measurement)
{
	struct cp_profile_view view = {
		.profile = profile,
		.measurement = measurement,
		.order = request->order,
		.cutoff = request->cutoff,
		.statements = request->statements,
		.instructions = request->instructions,
		.context = request->context,
		.callers = request->callers,
		.screen = wants_answer(request, profile),
		.path_percent = request->cut ? request->cutoff.percent : -1,
	};

	if (!request->cut)
		view.cutoff = (struct cp_cutoff){
			.percent = constant_of(measurement, "CUTOFF_PERCENT"),
			.cumulative = constant_of(measurement, "CUTOFF_CUMULATIVE"),
			.least = (size_t)constant_of(measurement, "CUTOFF_ROWS"),
		};
	return view;
}

static void warn_of_order(struct cp_profile *profile, const struct cp_group *measurement,
	const struct request *request)
{
	const struct cp_tally totals = cp_profile_totals(profile);
	struct cp_value value = cp_measure(profile, measurement, "latency", &totals);

	if (request->order != CP_BY_MISSES && value.status == CP_UNAVAILABLE)
		cp_profile_warn(profile, "not ordered by latency: %s", value.reason);
}

static void write_one(struct cp_output *output, int format, const void *whole)
{
	struct cp_profile_view view = *(const struct cp_profile_view *)whole;

	view.width = cp_fit_terminal(output->out.fd);
	view.screen &= cp_output_is_stream(output);
	formats[format].write(&output->out, &view);
}

/* Where nothing could be sampled nobody called it: the report says why, as without paths.
 */
static bool has_no_samples(struct cp_profile *profile, const struct cp_group *measurement)
{
	const struct cp_tally totals = cp_profile_totals(profile);
	struct cp_value misses = cp_measure(profile, measurement, "misses", &totals);

	if (!profile->sampled || misses.status != CP_UNAVAILABLE)
		return false;
	cp_profile_warn(profile, "no call paths: %s", misses.reason);
	return true;
}

/* Says what is asked for and not there. */
static bool has_paths(const struct request *request, struct cp_profile *profile,
	const struct cp_group *measurement, const char *directory)
{
	if (!request->call_paths && !request->callers)
		return true;
	if (!profile->npaths && has_no_samples(profile, measurement))
		return true;
	if (!profile->npaths) {
		fprintf(stderr,
			"cachepeek: %s has no call paths: "
			"it takes --call-paths when the program is run\n",
			directory);
		return false;
	}
	if (!request->callers ||
		cp_calls_callers(cp_calls_of(profile, NULL), request->callers))
		return true;
	fprintf(stderr, "cachepeek: --callers %s: no function of that name was called\n",
		request->callers);
	return false;
}

static struct cp_profile *read_profile(struct cp_arena *arena,
	const struct request *request, const char *directory, char *error, size_t size)
{
	if (request->input)
		return cp_perf_data_read(
			arena, request->input, request->name, error, size);
	return cp_profile_read(arena, directory, error, size);
}

static int write_profile(
	struct cp_arena *arena, const char *directory, const void *context)
{
	const struct request *request = context;
	char error[512];
	struct cp_profile *profile =
		read_profile(arena, request, directory, error, sizeof(error));
	const struct cp_group *measurement =
		profile ? cp_measurement_find(
				  profile, request->name, error, sizeof(error))
			: NULL;
	struct cp_profile_view view;
	int result;

	if (!measurement) {
		fprintf(stderr, "cachepeek: %s\n", error);
		if (profile)
			cp_profile_close(profile);
		return 1;
	}
	cp_profile_resolve(profile);
	if (!has_paths(request, profile, measurement, directory)) {
		cp_profile_close(profile);
		return 1;
	}
	warn_of_order(profile, measurement, request);
	if (profile->slices)
		cp_sharing_warn(profile);
	view = view_of(request, profile, measurement);
	cp_profile_warn_of_names(profile, &view);
	result = cp_output_write_all(
		&request->outputs, CP_ENDINGS(formats), write_one, &view);
	cp_profile_close(profile);
	return result;
}

/* perf has run the program, and where is known. */
static bool is_alone(const struct request *request, const char *program)
{
	const char *other = program                                   ? program
			    : request->directory                      ? "-d"
			    : request->machine                        ? "-m"
			    : request->sharing                        ? "--sharing"
			    : request->reproducible                   ? "--reproducible"
			    : request->call_paths || request->callers ? "call paths"
								      : NULL;

	if (other)
		fprintf(stderr, "cachepeek: -i %s: what perf recorded goes without %s\n",
			request->input, other);
	return !other;
}

int cp_cmd_profile(int argc, char **argv)
{
	struct request request = {.name = argv[0], .engine = "sim"};

	if (!cp_cmd_args(argc, argv, args, &request) || !check_together(&request) ||
		!choose_outputs(&request))
		return 2;
	if (request.input)
		return is_alone(&request, argv[optind])
			       ? cp_profile_show_with(write_profile, NULL, &request,
					 request.debuginfod)
			       : 2;
	if (request.reproducible && !argv[optind]) {
		fprintf(stderr, "cachepeek: --reproducible: no program to run\n");
		return 2;
	}
	return cp_profile_of(
		&(struct cp_profile_source){request.sharing ? "sharing" : request.name,
			request.machine, request.directory, request.engine,
			request.call_paths || request.callers, request.line_use,
			request.reproducible, request.debuginfod},
		argv + optind, write_profile, &request);
}
