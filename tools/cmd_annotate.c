/* SPDX-License-Identifier: MIT
 *
 * cachepeek annotate [options] SOURCE [PROGRAM [arguments]]: the lines of a source
 * file with their misses beside them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/shared/cmd.h"
#include "tools/shared/output.h"
#include "base/text.h"
#include "tools/profile/annotate.h"
#include "tools/runs/profile_run.h"
#include "tools/sources.h"

struct request {
	struct cp_profile_source from;
	const char *input, *source;
	struct cp_output_list outputs;
	struct cp_profile_view view;
};

static bool take_context(void *context, const struct cp_arg *arg, const char *value)
{
	struct request *request = context;
	uint64_t lines;

	if (!cp_cmd_number(arg, value, 0, CP_CONTEXT_MOST, &lines))
		return false;
	request->view.whole = false;
	request->view.context = (unsigned)lines;
	return true;
}

#define AT(kind, member) CP_ARG_AT(kind, struct request, member)

static const struct cp_arg args[] = {
	{"profile", 'p', AT(TEXT, from.name)},
	{"input", 'i', AT(TEXT, input)},
	{"output", 'o', AT(OUTPUT, outputs)},
	{"machine", 'm', AT(TEXT, from.machine)},
	{"dir", 'd', AT(TEXT, from.directory)},
	{"context-lines", 0, CP_ARG_BY(TAKE, take_context, NULL)},
	{"debuginfod", 0, AT(FLAG, from.debuginfod)},
	{.name = NULL},
};

static const struct {
	const char *ending;
	cp_annotate_writer *write;
} formats[] = {
	{".txt", cp_annotate_write},
	{".html", cp_annotate_write_html},
};

static bool is_measurement(const char *name)
{
	static const char *const names[] = {"dcache", "dtlb", "icache"};

	if (CP_IS_AMONG(name, names))
		return true;
	fprintf(stderr, "cachepeek: --profile %s: expected dcache, dtlb or icache\n",
		name);
	return false;
}

/* ---- the report ---- */

struct shown {
	const struct cp_profile_view *view;
	struct cp_rows *files;
	const struct cp_row *file;
	const char *source;
};

static void write_one(struct cp_output *output, int format, const void *document)
{
	const struct shown *it = document;

	formats[format].write(&output->out, it->view, it->files, it->file, it->source);
}

/* The file's row, and among which; of Python, a library's is one by itself. */
static const struct cp_row *find_source(const struct cp_profile_view *view,
	const char *source, struct cp_rows **files, char *error, size_t error_size)
{
	const struct cp_row *file;

	for (int library = 0; library < 2; library++) {
		*files = cp_rows_of_scripts(view, CP_ROW_FILE, !library);
		file = cp_annotate_find(view, *files, source, error, error_size);
		if (file || ((*files)->n && library && cp_ends_with(source, ".py")))
			return file;
	}
	*files = cp_rows_of_all(view, CP_ROW_FILE);
	return cp_annotate_find(view, *files, source, error, error_size);
}

static int write_source(struct cp_profile_view *view, const struct request *request)
{
	struct shown it = {.view = view, .source = request->source};
	char error[4096];

	it.file = find_source(view, it.source, &it.files, error, sizeof(error));
	if (it.file)
		return cp_output_write_all(
			&request->outputs, CP_ENDINGS(formats), write_one, &it);
	fprintf(stderr, "cachepeek: %s\n", error);
	return 1;
}

static int write_profile(
	struct cp_arena *arena, const char *directory, const void *context)
{
	const struct request *request = context;
	char error[512];
	const char *name = request->from.name;
	struct cp_profile *profile =
		request->input ? cp_profile_read_json(arena, request->input, &name, error,
					 sizeof(error))
			       : cp_profile_read(arena, directory, error, sizeof(error));
	struct cp_profile_view view = request->view;
	int status;

	view.profile = profile;
	if (profile)
		view.measurement =
			cp_measurement_find(profile, name, error, sizeof(error));
	if (!view.measurement) {
		fprintf(stderr, "cachepeek: %s\n", error);
		return 1;
	}
	if (!request->input)
		cp_profile_resolve(profile);
	status = write_source(&view, request);
	cp_profile_close(profile);
	return status;
}

static int say_usage(const char *why)
{
	fprintf(stderr,
		"cachepeek: %s: "
		"cachepeek annotate [options] SOURCE [PROGRAM [arguments]]\n",
		why);
	return 2;
}

/* In the program that is to be run, if there is one. */
static bool is_possible(const struct request *request, char *const argv[])
{
	if (!*argv || request->input)
		return true;
	/* libdw would ask servers. */
	if (!request->from.debuginfod)
		unsetenv("DEBUGINFOD_URLS");
	return cp_source_is_possible(request->source, argv);
}

int cp_cmd_annotate(int argc, char **argv)
{
	struct request request = {.from.name = "dcache", .view.whole = true};

	if (!cp_cmd_args(argc, argv, args, &request) ||
		!is_measurement(request.from.name) ||
		!cp_output_check_all("annotate", &request.outputs, CP_ENDINGS(formats)))
		return 2;
	if (optind == argc)
		return say_usage("which source file?");
	request.source = argv[optind++];
	/* The program's own output has that place. */
	if (!request.outputs.count)
		request.outputs.name[request.outputs.count++] =
			optind < argc ? "stderr" : "-";
	if (!is_possible(&request, argv + optind))
		return 2;
	if (!request.input)
		return cp_profile_of(
			&request.from, argv + optind, write_profile, &request);
	if (optind < argc)
		return say_usage("either -i or a program");
	return cp_profile_show_with(
		write_profile, NULL, &request, request.from.debuginfod);
}
