/* SPDX-License-Identifier: MIT
 *
 * cachepeek dcache|dtlb|icache [options] PROGRAM [arguments]: runs the program on
 * the simulated PMU and reports its misses by function, statement, instruction;
 * without a program, those of a run that was kept.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/counters/options.h"
#include "tools/shared/cmd.h"
#include "tools/shared/output.h"
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

enum {
	SORT = 256,
	CUTOFF,
	DETAILS,
	CONTEXT,
	DEBUGINFOD,
	SHARING,
	JSON,
	PATHS,
	LINE_USE,
	CALLERS,
	REPRODUCIBLE
};

static const struct option long_options[] = {
	{"input", required_argument, NULL, 'i'},
	{"output", required_argument, NULL, 'o'},
	{"machine", required_argument, NULL, 'm'},
	{"engine", required_argument, NULL, 'E'},
	{"dir", required_argument, NULL, 'd'},
	{"sort", required_argument, NULL, SORT},
	{"cutoff", required_argument, NULL, CUTOFF},
	{"details", required_argument, NULL, DETAILS},
	{"context-lines", required_argument, NULL, CONTEXT},
	{"debuginfod", no_argument, NULL, DEBUGINFOD},
	{"sharing", no_argument, NULL, SHARING},
	{"line-use", no_argument, NULL, LINE_USE},
	{"json", no_argument, NULL, JSON},
	{"call-paths", no_argument, NULL, PATHS},
	{"callers", required_argument, NULL, CALLERS},
	{"reproducible", optional_argument, NULL, REPRODUCIBLE},
	{"verbose", no_argument, NULL, 'v'},
	{NULL, 0, NULL, 0},
};

static int refuse_value(const char *option, const char *value, const char *expected)
{
	fprintf(stderr, "cachepeek: %s %s: expected %s\n", option, value, expected);
	return -EINVAL;
}

static int parse_sort(struct request *request, const char *value)
{
	static const char *const names[] = {"misses", "latency", "avg"};

	for (unsigned i = 0; i < 3; i++)
		if (strcmp(value, names[i]) == 0) {
			request->order = (enum cp_profile_order)i;
			return 0;
		}
	return refuse_value("--sort", value, "misses, latency or avg");
}

static int parse_cutoff(struct request *request, const char *value)
{
	struct cp_cutoff *cutoff = &request->cutoff;
	int end = 0;

	request->cut = true;
	if (sscanf(value, "%lf,%lf,%zu%n", &cutoff->percent, &cutoff->cumulative,
		    &cutoff->least, &end) == 3 &&
		!value[end] && cutoff->percent >= 0 && cutoff->percent <= 100 &&
		cutoff->cumulative >= 0 && cutoff->cumulative <= 100)
		return 0;
	return refuse_value("--cutoff", value,
		"PERCENT,CUMULATIVE,ROWS: 1,95,10 shows 10 rows or more, "
		"up to 95 % of the total and none below 1 %");
}

static int parse_details(struct request *request, const char *value)
{
	bool all = strcmp(value, "all") == 0;

	request->statements = all || strcmp(value, "src") == 0;
	request->instructions = all || strcmp(value, "insn") == 0;
	if (request->statements || request->instructions)
		return 0;
	return refuse_value("--details", value, "src, insn or all");
}

static int parse_context(struct request *request, const char *value)
{
	int end = 0;

	if (sscanf(value, "%u%n", &request->context, &end) == 1 && !value[end] &&
		request->context <= 1000) {
		request->statements = true;
		return 0;
	}
	return refuse_value("--context-lines", value, "a number from 0 to 1000");
}

static int parse_engine(struct request *request, const char *value)
{
	if (strcmp(value, "sim") != 0 && strcmp(value, "perf") != 0) {
		fprintf(stderr, "cachepeek: --engine %s: expected sim or perf%s\n", value,
			cp_option_gone("CACHEPEEK_ENGINE", value));
		return -EINVAL;
	}
	request->engine = value;
	return 0;
}

/* Options whose value is taken as it is; NULL: it is another one. */
static const char **text_of(struct request *request, int option)
{
	switch (option) {
	case 'i':
		return &request->input;
	case 'm':
		return &request->machine;
	case 'd':
		return &request->directory;
	case CALLERS:
		return &request->callers;
	case REPRODUCIBLE:
		return &request->reproducible;
	default:
		return NULL;
	}
}

/* The same of those without a value. */
static bool *flag_of(struct request *request, int option)
{
	switch (option) {
	case DEBUGINFOD:
		return &request->debuginfod;
	case SHARING:
		return &request->sharing;
	case LINE_USE:
		return &request->line_use;
	case PATHS:
		return &request->call_paths;
	case 'v':
		return &request->verbose;
	default:
		return NULL;
	}
}

static int parse_one(struct request *request, int option, const char *value)
{
	const char **text = text_of(request, option);
	bool *flag = flag_of(request, option);

	if (text)
		*text = value ? value : "1"; /* --reproducible goes without */
	if (flag)
		*flag = true;
	if (text || flag)
		return 0;
	switch (option) {
	case 'o':
		return cp_output_add(&request->outputs, value) ? 0 : -EINVAL;
	case JSON:
		return cp_output_add(&request->outputs, "-.json") ? 0 : -EINVAL;
	case 'E':
		return parse_engine(request, value);
	case SORT:
		return parse_sort(request, value);
	case CUTOFF:
		return parse_cutoff(request, value);
	case DETAILS:
		return parse_details(request, value);
	case CONTEXT:
		return parse_context(request, value);
	default:
		return -EINVAL;
	}
}

static int check_together(const struct request *request)
{
	bool simulated = strcmp(request->engine, "sim") == 0;

	if (request->sharing && !(simulated && strcmp(request->name, "dcache") == 0)) {
		fprintf(stderr, "cachepeek: --sharing: "
				"expected with dcache on the simulated PMU, "
				"which sees what threads share\n");
		return -EINVAL;
	}
	if (request->line_use && !(simulated && strcmp(request->name, "dcache") == 0)) {
		fprintf(stderr, "cachepeek: --line-use: "
				"expected with dcache on the simulated PMU, "
				"which sees every reference\n");
		return -EINVAL;
	}
	if (request->reproducible && !simulated) {
		fprintf(stderr, "cachepeek: --reproducible: "
				"expected with the simulated PMU, "
				"which can pin what a program finds\n");
		return -EINVAL;
	}
	return 0;
}

static int parse_arguments(struct request *request, int argc, char **argv)
{
	int option;

	optind = 1;
	while ((option = cp_cmd_option(argc, argv, "+:i:o:m:d:E:v", long_options)) != -1)
		if (parse_one(request, option, optarg) < 0)
			return -EINVAL;
	return check_together(request);
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

static int show_kept(const char *directory, void *context)
{
	const struct request *request = context;

	return cp_profile_show_with(
		write_profile, directory, request, request->debuginfod);
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

	if (parse_arguments(&request, argc, argv) < 0 || !choose_outputs(&request))
		return 2;
	if (request.input)
		return is_alone(&request, argv[optind]) ? show_kept(NULL, &request) : 2;
	if (request.reproducible && !argv[optind]) {
		fprintf(stderr, "cachepeek: --reproducible: no program to run\n");
		return 2;
	}
	return cp_profile_of(
		&(struct cp_profile_source){request.sharing ? "sharing" : request.name,
			request.machine, request.directory, request.engine,
			request.call_paths || request.callers, request.line_use,
			request.reproducible},
		argv + optind, show_kept, &request);
}
