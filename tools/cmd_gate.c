/* SPDX-License-Identifier: MIT
 *
 * cachepeek gate BASELINE RUN...: is any value of the runs worse than a file beside the
 * sources says?
 */
#include <stdio.h>
#include <string.h>

#include "tools/gate/gate.h"
#include "tools/shared/cmd.h"

#define METRICS "instructions,l1d_misses,l2_misses,llc_misses"

struct request {
	struct cp_baseline gate;
	const char *metrics, *tolerance;
	bool update, annotate;
	struct cp_output_list outputs;
};

static bool take_tolerance(void *context, const struct cp_arg *arg, const char *text)
{
	struct request *request = context;
	double limit;
	bool relative;

	request->tolerance = text;
	if (cp_baseline_tolerance(text, &limit, &relative))
		return true;
	fprintf(stderr, "cachepeek: gate: --%s %s: write a number, as 0.5%% or 100\n",
		arg->name, text);
	return false;
}

#define AT(kind, member) CP_ARG_AT(kind, struct request, member)

static const struct cp_arg args[] = {
	{"update", 0, AT(FLAG, update)},
	{"metrics", 0, AT(TEXT, metrics)},
	{"tolerance", 0, CP_ARG_BY(TAKE, take_tolerance, NULL)},
	{"output", 'o', AT(OUTPUT, outputs)},
	{"annotate", 0, AT(FLAG, annotate)},
	{.name = NULL},
};

static bool parse_request(struct request *request, int argc, char **argv)
{
	if (!cp_cmd_args_mixed(argc, argv, args, request))
		return false;
	if (argc - optind >= 2)
		return cp_gate_check_outputs(&request->outputs);
	fprintf(stderr, "cachepeek: gate: name a baseline and a run: "
			"cachepeek gate [--update] BASELINE.json REPORT.json...\n");
	return false;
}

static bool add_runs(struct cp_baseline *gate, char **names)
{
	char error[1024];

	for (; *names; names++) {
		if (cp_gate_add(gate, *names, error, sizeof(error)))
			continue;
		fprintf(stderr, "cachepeek: gate: %s\n", error);
		return false;
	}
	return true;
}

static int show_result(const struct request *request)
{
	bool written = true;

	for (size_t i = 0; i < request->outputs.count; i++)
		written = cp_baseline_write(&request->gate, request->outputs.name[i]) &&
			  written;
	if (!request->outputs.count)
		written = cp_baseline_write(&request->gate, "-");
	if (request->annotate)
		cp_baseline_annotate(&request->gate);
	return written ? cp_baseline_status(&request->gate) : 1;
}

static int refuse_part(const struct cp_baseline *gate)
{
	fprintf(stderr,
		"cachepeek: gate: the run is no baseline, but a part of one (%s): let it "
		"end\n",
		gate->values->sides[1].cut);
	return 1;
}

static int gate_of(struct request *request, int argc, char **argv)
{
	struct cp_baseline *gate = &request->gate;

	if (!parse_request(request, argc, argv))
		return 2;
	gate->file = argv[optind];
	gate->values = cp_values_new(gate->arena);
	if (!cp_baseline_read(gate) || !add_runs(gate, argv + optind + 1))
		return 1;
	if (!request->metrics && !gate->profile)
		request->metrics = METRICS;
	cp_baseline_judge(gate);
	if (request->tolerance)
		gate->tolerance = request->tolerance;
	if (request->update && gate->values->sides[1].cut)
		return refuse_part(gate);
	if (request->update)
		return cp_baseline_update(gate, request->metrics) ? 0 : 1;
	if (gate->document)
		return show_result(request);
	fprintf(stderr,
		"cachepeek: gate: there is no %s: --update makes it of this run\n",
		gate->file);
	return 1;
}

int cp_cmd_gate(int argc, char **argv)
{
	static struct request request;
	static struct cp_arena arena;
	struct cp_escape out_of_memory;
	volatile int status = 1;

	arena.out_of_memory = &out_of_memory;
	request.gate.arena = &arena;
	if (CP_ESCAPE_SET(out_of_memory) == 0)
		status = gate_of(&request, argc, argv);
	else
		fprintf(stderr, "cachepeek: gate: out of memory\n");
	json_decref(request.gate.document);
	json_decref(request.gate.profile);
	arena.out_of_memory = NULL;
	cp_arena_free(&arena);
	return status;
}
