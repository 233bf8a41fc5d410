/* SPDX-License-Identifier: MIT
 *
 * cachepeek sharing [options] PROGRAM [arguments]: runs the program on the simulated
 * PMU and reports the lines that its threads share, and which for nothing; without a
 * program, those of a run that was kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "tools/shared/cmd.h"
#include "tools/profile/model/fit.h"
#include "tools/profile/advice/sharing.h"
#include "tools/profile/sharing_html.h"
#include "tools/runs/profile_run.h"

struct request {
	const char *machine, *directory, *quantum, *reproducible;
	struct cp_output_list outputs;
	uint64_t least;
	bool debuginfod, verbose;
};

static bool take_quantum(void *context, const struct cp_arg *arg, const char *value)
{
	struct request *request = context;
	uint64_t references;

	request->quantum = value;
	return cp_cmd_number(arg, value, 1, 1000000000, &references);
}

static bool take_least(void *context, const struct cp_arg *arg, const char *value)
{
	struct request *request = context;

	return cp_cmd_number(arg, value, 0, UINT32_MAX, &request->least);
}

#define AT(kind, member) CP_ARG_AT(kind, struct request, member)

static const struct cp_arg args[] = {
	{"output", 'o', AT(OUTPUT, outputs)},
	{"machine", 'm', AT(TEXT, machine)},
	{"dir", 'd', AT(TEXT, directory)},
	{"quantum", 0, CP_ARG_BY(TAKE, take_quantum, NULL)},
	{"least", 0, CP_ARG_BY(TAKE, take_least, NULL)},
	{"reproducible", 0, AT(OPTIONAL, reproducible)},
	{"debuginfod", 0, AT(FLAG, debuginfod)},
	{"json", 0, AT(JSON, outputs)},
	{"verbose", 'v', AT(FLAG, verbose)},
	{.name = NULL},
};

static const struct {
	const char *ending;
	void (*write)(struct cp_out *, const struct cp_sharing *);
} formats[] = {
	{".txt", cp_sharing_write_text},
	{".json", cp_sharing_write_json},
	{".html", cp_sharing_write_html},
};

static bool parse_arguments(struct request *request, int argc, char **argv)
{
	if (!cp_cmd_args(argc, argv, args, request))
		return false;
	if (!request->outputs.count)
		request->outputs.count = 1;
	return cp_output_check_all("sharing", &request->outputs, CP_ENDINGS(formats));
}

/* ---- the report ---- */

struct shown {
	const struct cp_sharing *sharing;
	bool verbose;
};

static void write_to(struct cp_output *output, int format, const void *document)
{
	const struct shown *it = document;

	if (format == 0 && !it->verbose && !cp_ends_with(output->name, ".txt"))
		cp_sharing_write_screen(
			&output->out, it->sharing, cp_fit_terminal(output->out.fd));
	else
		formats[format].write(&output->out, it->sharing);
}

static int write_sharing(
	struct cp_arena *arena, const char *directory, const void *context)
{
	const struct request *request = context;
	char error[512];
	struct cp_profile *profile =
		cp_profile_read(arena, directory, error, sizeof(error));
	struct shown shown = {NULL, request->verbose};
	int result;

	if (profile && !profile->slices)
		snprintf(error, sizeof(error),
			"%s: the run did not look for shared lines: "
			"it takes CACHEPEEK_PROFILE=sharing",
			directory);
	if (!profile || !profile->slices) {
		fprintf(stderr, "cachepeek: %s\n", error);
		if (profile)
			cp_profile_close(profile);
		return 1;
	}
	cp_profile_resolve(profile);
	cp_sharing_warn(profile);
	shown.sharing = cp_sharing_find(profile, request->least);
	result = cp_output_write_all(
		&request->outputs, CP_ENDINGS(formats), write_to, &shown);
	cp_profile_close(profile);
	return result;
}

int cp_cmd_sharing(int argc, char **argv)
{
	struct request request = {.least = 100};

	if (!parse_arguments(&request, argc, argv))
		return 2;
	if (request.reproducible && !argv[optind]) {
		fprintf(stderr, "cachepeek: --reproducible: no program to run\n");
		return 2;
	}
	if (request.quantum)
		setenv("CACHEPEEK_QUANTUM", request.quantum, 1);
	return cp_profile_of(
		&(struct cp_profile_source){"sharing", request.machine, request.directory,
			NULL, false, false, request.reproducible, request.debuginfod},
		argv + optind, write_sharing, &request);
}
