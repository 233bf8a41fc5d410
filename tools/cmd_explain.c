/* SPDX-License-Identifier: MIT
 *
 * cachepeek explain [options] [DIRECTORY|FILE.json]: the findings of the last run, of one
 * that was kept, or of a report, with what they cost and how to confirm a mend.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/profile/advice/sharing.h"
#include "tools/profile/explain.h"
#include "tools/runs/profile_run.h"
#include "tools/shared/cmd.h"
#include "tools/shared/output.h"

struct request {
	struct cp_output_list outputs;
	const char *file; /* NULL: a directory */
	bool debuginfod;
};

#define AT(kind, member) CP_ARG_AT(kind, struct request, member)

static const struct cp_arg args[] = {
	{"output", 'o', AT(OUTPUT, outputs)},
	{"json", 0, AT(JSON, outputs)},
	{"debuginfod", 0, AT(FLAG, debuginfod)},
	{.name = NULL},
};

static const struct {
	const char *ending;
	void (*write)(
		struct cp_out *, struct cp_arena *arena, const struct cp_explained *what);
} formats[] = {
	{".txt", cp_explain_write_text},
	{".json", cp_explain_write_json},
};

static bool parse_arguments(struct request *request, int argc, char **argv)
{
	if (!cp_cmd_args_mixed(argc, argv, args, request))
		return false;
	if (!request->outputs.count)
		cp_output_add(&request->outputs, "-");
	if (argc - optind > 1) {
		fprintf(stderr,
			"cachepeek: explain %s: one run, or one report, at a "
			"time\n",
			argv[optind + 1]);
		return false;
	}
	return cp_output_check_all("explain", &request->outputs, CP_ENDINGS(formats));
}

struct shown {
	struct cp_arena *arena;
	const struct cp_explained *what;
};

static void write_one(struct cp_output *output, int format, const void *document)
{
	const struct shown *it = document;

	formats[format].write(&output->out, it->arena, it->what);
}

static int write_all(struct cp_arena *arena, const struct request *request,
	const struct cp_explained *what)
{
	return cp_output_write_all(&request->outputs, CP_ENDINGS(formats), write_one,
		&(const struct shown){arena, what});
}

static int fail(const char *error)
{
	fprintf(stderr, "cachepeek: %s\n", error);
	return 1;
}

static int explain_run(
	struct cp_arena *arena, const char *directory, const struct request *request)
{
	char error[512], whole[PATH_MAX];
	struct cp_profile *profile =
		cp_profile_read(arena, directory, error, sizeof(error));
	struct cp_explained what;
	int result;

	if (!profile)
		return fail(error);
	cp_profile_resolve(profile);
	if (profile->slices)
		cp_sharing_warn(profile);
	if (realpath(directory, whole)) /* of the last run, which others follow */
		directory = whole;
	result = cp_explain_profile(profile, directory, &what, error, sizeof(error))
			 ? write_all(arena, request, &what)
			 : fail(error);
	cp_profile_close(profile);
	return result;
}

static int write_explained(
	struct cp_arena *arena, const char *directory, const void *context)
{
	const struct request *request = context;
	struct cp_explained what;
	char error[512];

	if (!request->file)
		return explain_run(arena, directory, request);
	return cp_explain_json(arena, request->file, &what, error, sizeof(error))
		       ? write_all(arena, request, &what)
		       : fail(error);
}

/* A directory is a run; anything else, be it not there, a report. */
static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int cp_cmd_explain(int argc, char **argv)
{
	struct request request = {.file = NULL};
	char *nothing[] = {NULL};
	const char *named;

	if (!parse_arguments(&request, argc, argv))
		return 2;
	named = argv[optind];
	if (named && !is_directory(named)) {
		request.file = named;
		return cp_profile_show_with(
			write_explained, NULL, &request, request.debuginfod);
	}
	return cp_profile_of(&(struct cp_profile_source){.directory = named,
				     .debuginfod = request.debuginfod},
		nothing, write_explained, &request);
}
