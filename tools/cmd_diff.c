/* SPDX-License-Identifier: MIT
 *
 * cachepeek diff BEFORE AFTER: what differs between the runs of two sides, and
 * whether that is noise.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "tools/shared/cmd.h"
#include "tools/diff/diff.h"
#include "tools/diff/timed.h"
#include "tools/paths_diff.h"
#include "tools/shared/outputs.h"

#define MAX_GATES 64

/* The exit status by the verdict of --fail-if. */
enum { STATUS_MET = 3, STATUS_UNKNOWN = 4 };

struct request {
	struct cp_diff diff;
	struct cp_gate gates[MAX_GATES];
	struct cp_output_list outputs;
	bool json, call_paths;
	const char *measurement; /* of call paths */
	struct cp_timed timed;   /* runs 0: not asked for */
	int between;             /* of the arguments: BEFORE... -- AFTER..., or -1 */
};

static bool take_gate(void *context, const struct cp_arg *arg, const char *expression)
{
	struct request *request = context;
	struct cp_diff *diff = &request->diff;

	(void)arg;
	if (diff->ngates == MAX_GATES) {
		fprintf(stderr, "cachepeek: diff takes %d times --fail-if at most\n",
			MAX_GATES);
		return false;
	}
	return cp_gate_parse(diff->arena, &request->gates[diff->ngates++], expression);
}

/* getopt_long() moves the other arguments behind the options, and drops the first
 * "--", which here has a meaning: it is looked for, and taken out. */
static int take_between(int *argc, char **argv)
{
	int names = 0;

	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			memmove(argv + i, argv + i + 1,
				(size_t)(*argc - i) * sizeof(*argv));
			--*argc;
			return names;
		}
		if (argv[i][0] != '-')
			names++;
		else if (strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output") == 0 ||
			 strcmp(argv[i], "--fail-if") == 0 ||
			 strcmp(argv[i], "--time") == 0 ||
			 strcmp(argv[i], "--color") == 0)
			i++;
	}
	return -1;
}

static bool take_runs(void *context, const struct cp_arg *arg, const char *text)
{
	struct request *request = context;
	uint64_t runs;

	if (!cp_cmd_number(arg, text, 1, CP_TIMED_MOST, &runs))
		return false;
	request->timed.runs = (unsigned)runs;
	return true;
}

static bool take_paths(void *context, const struct cp_arg *arg, const char *measurement)
{
	struct request *request = context;

	(void)arg;
	request->measurement = measurement;
	return request->call_paths = true;
}

#define AT(kind, member) CP_ARG_AT(kind, struct request, member)

static const struct cp_arg args[] = {
	{"fail-if", 0, CP_ARG_BY(TAKE, take_gate, NULL)},
	{"output", 'o', AT(OUTPUT, outputs)},
	{"json", 0, AT(FLAG, json)},
	{"all", 0, AT(FLAG, diff.all)},
	{"call-paths", 0, CP_ARG_BY(TAKE_OPTIONAL, take_paths, NULL)},
	{"time", 0, CP_ARG_BY(TAKE, take_runs, NULL)},
	{"verbose", 'v', AT(FLAG, diff.all)},
	{.name = NULL},
};

/* ---- the two sides ---- */

static bool add_runs(struct cp_diff *diff, unsigned side, const char *path)
{
	char error[1024];

	if (cp_values_add(diff->values, side, path, error, sizeof(error)))
		return true;
	fprintf(stderr, "cachepeek: diff: %s\n", error);
	return false;
}

/* A comma list, unless there is a file of that name. */
static bool add_side(struct cp_diff *diff, unsigned side, const char *list)
{
	const char *piece;
	size_t length;

	if (!diff->values->sides[side].label)
		diff->values->sides[side].label = list;
	if (access(list, F_OK) == 0)
		return add_runs(diff, side, list);
	while ((piece = cp_next_piece(&list, ',', &length)))
		if (!add_runs(diff, side, cp_arena_copy(diff->arena, piece, length)))
			return false;
	return true;
}

static bool add_sides(struct request *request, char **names, int count)
{
	int between = request->between < 0 ? 1 : request->between;

	for (int i = 0; i < count; i++)
		if (!add_side(&request->diff, i >= between, names[i]))
			return false;
	return true;
}

/* ---- the result ---- */

static int gate_status(const struct cp_diff *diff)
{
	int status = 0;

	for (size_t i = 0; i < diff->ngates; i++) {
		if (diff->gates[i].verdict == CP_GATE_MET)
			return STATUS_MET;
		if (diff->gates[i].verdict == CP_GATE_UNKNOWN)
			status = STATUS_UNKNOWN;
	}
	return status;
}

/* Whether that many arguments are two sides; says how to name them. */
static bool are_sides(const struct request *request, int count)
{
	int least = request->between < 0 ? 2 : request->between + 1;

	if (count >= least && request->between != 0 &&
		(request->between >= 0 || count == 2))
		return true;
	fprintf(stderr, "cachepeek: diff: name two sides: "
			"cachepeek diff BEFORE AFTER, or BEFORE... -- AFTER...\n");
	return false;
}

static int diff_paths(const struct request *request, int count, char **names)
{
	struct cp_paths_diff paths = {.measurement = request->measurement,
		.side = {names[0], names[1]},
		.outputs = request->outputs,
		.all = request->diff.all};

	if (request->json && !cp_output_add(&paths.outputs, "-.json"))
		return 2;
	if (count == 2 && !request->diff.ngates && !request->timed.runs)
		return cp_paths_diff(&paths);
	fprintf(stderr, "cachepeek: diff: --call-paths compares two runs, without %s\n",
		count != 2             ? "others"
		: request->diff.ngates ? "--fail-if"
				       : "--time");
	return 2;
}

/* The sides are there: what differs, and what the clock says. */
static int show(struct request *request)
{
	const struct cp_document document = {
		&request->diff, cp_diff_text, cp_diff_csv, cp_diff_json, "diff.html"};
	int status;

	if (cp_diff_compare(&request->diff) < 0)
		cp_escape_take(request->diff.arena->out_of_memory);
	if (!cp_gates_judge(&request->diff))
		return 2;
	if (request->timed.runs) {
		cp_timed_run(&request->diff, &request->timed);
		request->diff.timed = &request->timed;
	}
	status = cp_outputs_write(
		&request->outputs, request->json ? "-.json" : "-", &document);
	if (!status && request->timed.runs && request->timed.verdict == CP_TIMED_NOT)
		status = 1;
	return status ? status : gate_status(&request->diff);
}

static int diff_of(struct request *request, int argc, char **argv)
{
	int count;

	request->diff.gates = request->gates;
	request->between = take_between(&argc, argv);
	if (!cp_cmd_args_mixed(argc, argv, args, request))
		return 2;
	count = argc - optind;
	if (!are_sides(request, count))
		return 2;
	if (request->call_paths)
		return diff_paths(request, count, argv + optind);
	if (!cp_outputs_check("diff", &request->outputs))
		return 2;
	request->diff.values = cp_values_new(request->diff.arena);
	if (!add_sides(request, argv + optind, count))
		return 2;
	return show(request);
}

int cp_cmd_diff(int argc, char **argv)
{
	static struct request request;
	static struct cp_arena arena;
	struct cp_escape out_of_memory;
	volatile int status = 1;

	arena.out_of_memory = &out_of_memory;
	request.diff.arena = &arena;
	if (CP_ESCAPE_SET(out_of_memory) == 0)
		status = diff_of(&request, argc, argv);
	else
		fprintf(stderr, "cachepeek: diff: out of memory\n");
	arena.out_of_memory = NULL;
	cp_arena_free(&arena);
	return status;
}
