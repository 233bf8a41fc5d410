/* SPDX-License-Identifier: MIT
 *
 * cachepeek sharing [options] PROGRAM [arguments]: runs the program on the simulated
 * PMU and reports the lines that its threads share, and which for nothing; without a
 * program, those of a run that was kept.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "tools/shared/cmd.h"
#include "tools/shared/output.h"
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

/* Without a letter. */
enum { QUANTUM = UCHAR_MAX + 1, LEAST, REPRODUCIBLE, DEBUGINFOD, JSON };

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"machine", required_argument, NULL, 'm'},
	{"dir", required_argument, NULL, 'd'},
	{"quantum", required_argument, NULL, QUANTUM},
	{"least", required_argument, NULL, LEAST},
	{"reproducible", optional_argument, NULL, REPRODUCIBLE},
	{"debuginfod", no_argument, NULL, DEBUGINFOD},
	{"json", no_argument, NULL, JSON},
	{"verbose", no_argument, NULL, 'v'},
	{NULL, 0, NULL, 0},
};

/* ---- what is asked for ---- */

static int parse_number(
	const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *to)
{
	if (cp_parse_u64(text, to) == 0 && *to >= least && *to <= most)
		return 0;
	fprintf(stderr, "cachepeek: %s %s: expected a number from %llu to %llu\n", option,
		text, (unsigned long long)least, (unsigned long long)most);
	return -EINVAL;
}

static int parse_one(struct request *request, int option, const char *value)
{
	uint64_t references;

	switch (option) {
	case 'o':
		return cp_output_add(&request->outputs, value) ? 0 : -EINVAL;
	case 'm':
		request->machine = value;
		return 0;
	case 'd':
		request->directory = value;
		return 0;
	case QUANTUM:
		request->quantum = value;
		return parse_number("--quantum", value, 1, 1000000000, &references);
	case LEAST:
		return parse_number("--least", value, 0, UINT32_MAX, &request->least);
	case REPRODUCIBLE:
		request->reproducible = value ? value : "1";
		return 0;
	case JSON:
		return cp_output_add(&request->outputs, "-.json") ? 0 : -EINVAL;
	case DEBUGINFOD:
		request->debuginfod = true;
		return 0;
	case 'v':
		request->verbose = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static const struct {
	const char *ending;
	void (*write)(struct cp_out *, const struct cp_sharing *);
} formats[] = {
	{".txt", cp_sharing_write_text},
	{".json", cp_sharing_write_json},
	{".html", cp_sharing_write_html},
};

static int parse_arguments(struct request *request, int argc, char **argv)
{
	int option;

	optind = 1;
	while ((option = cp_cmd_option(argc, argv, "+:o:m:d:v", long_options)) != -1)
		if (parse_one(request, option, optarg) < 0)
			return -EINVAL;
	if (!request->outputs.count)
		request->outputs.count = 1;
	return cp_output_check_all("sharing", &request->outputs, CP_ENDINGS(formats))
		       ? 0
		       : -EINVAL;
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

static int show_sharing(const char *directory, void *context)
{
	const struct request *request = context;

	return cp_profile_show_with(
		write_sharing, directory, request, request->debuginfod);
}

int cp_cmd_sharing(int argc, char **argv)
{
	struct request request = {.least = 100};

	if (parse_arguments(&request, argc, argv) < 0)
		return 2;
	if (request.reproducible && !argv[optind]) {
		fprintf(stderr, "cachepeek: --reproducible: no program to run\n");
		return 2;
	}
	if (request.quantum)
		setenv("CACHEPEEK_QUANTUM", request.quantum, 1);
	return cp_profile_of(
		&(struct cp_profile_source){"sharing", request.machine, request.directory,
			NULL, false, false, request.reproducible},
		argv + optind, show_sharing, &request);
}
