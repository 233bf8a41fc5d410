/* SPDX-License-Identifier: MIT
 *
 * cachepeek report: the report of run directories or records, again.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/report/jobs.h"
#include "output/json.h"
#include "output/report/report.h"
#include "output/sink.h"
#include "regions/rundir.h"
#include "tools/shared/check.h"
#include "tools/shared/cmd.h"
#include "tools/shared/show.h"

struct request {
	char *outputs; /* comma list; NULL: stdout */
	bool json, whole;
	bool forget, may_forget;
	int pid;            /* of the process that names the files; 0: the first */
	const char **paths; /* room for all arguments */
	size_t npaths;
	cp_report_builder *build;
	/* Only records of this launcher's run that are in no report yet. */
	uint64_t scope;
	bool unless_in_job;
};

static bool take_forget(void *context, const struct cp_arg *arg, const char *value)
{
	struct request *request = context;

	(void)arg;
	(void)value;
	request->forget = request->may_forget;
	if (!request->forget)
		fprintf(stderr, "cachepeek: merge removes nothing: "
				"`cachepeek report --forget` does\n");
	return request->forget;
}

static const struct cp_arg args[] = {
	{"output", 'o', CP_ARG_AT(LIST, struct request, outputs)},
	{"json", 0, CP_ARG_AT(FLAG, struct request, json)},
	{"verbose", 'v', CP_ARG_AT(FLAG, struct request, whole)},
	{"forget", 0, CP_ARG_BY(TAKE_FLAG, take_forget, NULL)},
	{.name = NULL},
};

static bool parse_arguments(struct request *request, int argc, char **argv)
{
	if (!cp_cmd_args_mixed(argc, argv, args, request))
		return false;
	while (optind < argc)
		request->paths[request->npaths++] = argv[optind++];
	return cp_check_wanted(&(struct cp_wanted){.outputs = request->outputs});
}

/* The directory of the last run; NULL after saying why there is none. */
static const char *last_run(void)
{
	static char path[PATH_MAX + 8];
	char base[PATH_MAX];

	if (!cp_run_base(cp_cmd_getenv, base, sizeof(base))) {
		fprintf(stderr, "cachepeek: neither HOME nor XDG_CACHE_HOME is set: "
				"name the run's directory (CACHEPEEK_DIR)\n");
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/last", base);
	if (access(path, F_OK) == 0)
		return path;
	fprintf(stderr,
		"cachepeek: no run is kept in %s: run `cachepeek PROGRAM` first, "
		"or name a run's directory\n",
		base);
	return NULL;
}

static void print_complaint(void *context, const char *line)
{
	if (!*(const bool *)context)
		fprintf(stderr, "cachepeek: %s\n", line);
}

static int write_json(const struct cp_report *report)
{
	struct cp_out out;
	int error;

	cp_out_open(&out, STDOUT_FILENO);
	cp_json_write(&out, report);
	error = cp_out_flush(&out);
	if (error)
		fprintf(stderr, "cachepeek: stdout: %s\n", strerror(-error));
	return error ? 1 : 0;
}

/* The one that names the files: pid's last image, else the first of all. */
static const struct cp_process *process_of(const struct cp_report *report, int pid)
{
	const struct cp_process *found = &report->processes[0];

	for (size_t i = 0; i < report->nprocesses; i++)
		if (report->processes[i].pid == pid)
			found = &report->processes[i];
	return found;
}

/* A job has ranks instead of one process: the program gives its files their name. */
static struct cp_process job_process(const struct cp_report *report)
{
	return (struct cp_process){
		.rank = -1, .exe = report->narguments ? report->command[0] : ""};
}

/* Which of several reports it is, and which of the outputs are meant. */
struct part {
	unsigned number;
	enum cp_sink_kind kind;
	bool quiet;
};

static int write_outputs(const struct request *request, struct cp_arena *arena,
	const struct cp_report *report, const char *outputs, struct part part)
{
	const struct cp_process process = report->nprocesses
						  ? *process_of(report, request->pid)
						  : job_process(report);
	struct cp_sink_context context = {.stderr_fd = STDERR_FILENO,
		.kind = part.kind,
		.number = part.number,
		.tell_number = part.number > 1 && part.kind != CP_SINKS_OWN,
		.stdout_fd = STDOUT_FILENO,
		.exe = process.exe,
		.pid = process.pid,
		.rank = process.rank,
		.colour = cp_cmd_colour(),
		.whole = request->whole,
		.complain = print_complaint,
		.complain_context = &part.quiet};

	return cp_sinks_write(arena, report, outputs, &context) ? 1 : 0;
}

static int write_part(const struct request *request, struct cp_arena *arena,
	const struct cp_report *report, struct part part)
{
	int status = 0;

	if (report->in_job && request->unless_in_job)
		return 0;
	if (request->json)
		status = write_json(report);
	if (request->outputs || !request->json)
		status |= write_outputs(request, arena, report,
			request->outputs ? request->outputs : "-", part);
	return status;
}

/* ---- a run with jobs in it ---- */

/* A file for each rank, where that was asked for. */
static int write_ranks(const struct request *request, struct cp_arena *arena,
	struct cp_job_id id, unsigned number, int32_t wanted)
{
	int status = 0;

	for (int32_t rank = 0; rank < wanted; rank++) {
		const char *const *paths;
		size_t n = cp_jobs_paths(arena, request->paths[0], id, rank, &paths);
		char error[256];
		const struct cp_report *report =
			n ? cp_report_build(arena, paths, n, error, sizeof(error)) : NULL;

		if (report)
			status |= write_outputs(request, arena, report, request->outputs,
				(struct part){number, CP_SINKS_OWN, false});
	}
	return status;
}

static int write_shared(const struct request *request, struct cp_arena *arena,
	const struct cp_report *report, unsigned number)
{
	int status = 0;

	for (int kind = CP_SINKS_FILES; kind <= CP_SINKS_STREAMS; kind++)
		status |= write_part(request, arena, report,
			(struct part){number, (enum cp_sink_kind)kind, false});
	return status;
}

#define DYING_MS 1000

/* Launchers may end before the ranks that they have killed. */
static const struct cp_report *job_report(const struct request *request,
	struct cp_arena *arena, struct cp_job_id id, struct cp_job_state *state)
{
	const struct cp_report *report = NULL;
	char error[256];

	for (int waited = 0; waited < DYING_MS; waited += 100) {
		report = cp_jobs_report(
			arena, request->paths[0], id, state, error, sizeof(error));
		if (!report || !state->running || !request->unless_in_job)
			break;
		usleep(100000);
	}
	if (!report)
		fprintf(stderr, "cachepeek: %s\n", error);
	return report;
}

static int write_job(const struct request *request, struct cp_arena *arena,
	struct cp_job_id id, unsigned number)
{
	struct cp_job_state state;
	const struct cp_report *report = job_report(request, arena, id, &state);

	if (!report)
		return 1;
	if (state.is_reported && request->unless_in_job)
		return 0;
	if (!request->outputs || state.wanted < 2 ||
		!cp_sinks_have(request->outputs, CP_SINKS_OWN))
		return write_part(request, arena, report,
			(struct part){number, CP_SINKS_ALL, false});
	return write_ranks(request, arena, id, number, state.wanted) |
	       write_shared(request, arena, report, number);
}

static int write_jobs(const struct request *request, struct cp_arena *arena,
	const struct cp_job_id *jobs, size_t njobs)
{
	const char *directory = request->paths[0];
	const struct cp_report *report;
	int status = 0;

	for (size_t i = 0; i < njobs; i++) {
		/* Two jobs of different runs may have the same number. */
		unsigned number = request->scope ? jobs[i].number : (unsigned)i + 1;

		status |= write_job(request, arena, jobs[i], number);
	}
	report = cp_jobs_outside(
		arena, directory, jobs[0].scope, request->scope ? request->pid : 0);
	if (report)
		status |= write_part(request, arena, report,
			(struct part){(unsigned)njobs + 1, CP_SINKS_ALL, false});
	return status;
}

/* ---- any run ---- */

static int show_any(const struct request *request, struct cp_arena *arena)
{
	char error[1024];
	const struct cp_report *report = request->build(
		arena, request->paths, request->npaths, error, sizeof(error));

	if (report)
		return write_part(
			request, arena, report, (struct part){0, CP_SINKS_ALL, false});
	fprintf(stderr, "cachepeek: %s\n", error);
	return 1;
}

static int show_all(const struct request *request, struct cp_arena *arena)
{
	struct cp_job_id *jobs;
	size_t njobs = 0;

	if (request->npaths == 1 && request->build == cp_report_build)
		njobs = cp_jobs_in(arena, request->paths[0], request->scope, &jobs);
	return njobs ? write_jobs(request, arena, jobs, njobs) : show_any(request, arena);
}

static int show_report(const struct request *request)
{
	struct cp_arena arena = {0};
	struct cp_escape out_of_memory;
	volatile int status = 1;

	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		arena.out_of_memory = &out_of_memory;
		status = show_all(request, &arena);
	} else {
		fprintf(stderr, "cachepeek: out of memory for the report\n");
	}
	arena.out_of_memory = NULL;
	cp_arena_free(&arena);
	return status;
}

/* As `cachepeek run -v` has it. */
static bool is_verbose(void)
{
	const char *level = getenv("CACHEPEEK_VERBOSE");

	return level && strcmp(level, "0") > 0;
}

void cp_report_run(const char *directory, uint64_t scope, int pid, const char *outputs)
{
	char fallback[] = "stderr", *copy = outputs && *outputs ? strdup(outputs) : NULL;
	struct request request = {
		.outputs = copy ? copy : fallback,
		.pid = pid,
		.paths = &directory,
		.npaths = 1,
		.build = cp_report_build,
		.scope = scope,
		.unless_in_job = true,
		.whole = is_verbose(),
	};

	show_report(&request);
	free(copy);
}

void cp_report_now(const char *directory, int pid, const char *outputs)
{
	const struct request request = {.pid = pid, .whole = is_verbose()};
	struct cp_arena arena = {0};
	char error[1024];
	const struct cp_report *report =
		cp_report_build(&arena, &directory, 1, error, sizeof(error));

	if (report && !report->in_job)
		write_outputs(&request, &arena, report, outputs,
			(struct part){0, CP_SINKS_ALL, true});
	cp_arena_free(&arena);
}

/* Forgets the runs that are named, or all that are kept, unless a process of theirs
 * lives. */
static int forget_runs(const struct request *request)
{
	unsigned forgotten = request->npaths ? 0 : cp_run_forget(cp_cmd_getenv);

	for (size_t i = 0; i < request->npaths; i++) {
		if (access(request->paths[i], F_OK) < 0) {
			fprintf(stderr,
				"cachepeek: %s: %s: name the directory of a run\n",
				request->paths[i], strerror(errno));
			return 1;
		}
		cp_run_remove(request->paths[i]);
		forgotten += access(request->paths[i], F_OK) < 0;
	}
	printf("%u run%s removed\n", forgotten, forgotten == 1 ? "" : "s");
	return 0;
}

int cp_show(char **argv, int argc, cp_report_builder *build, bool last)
{
	struct request request = {.paths = calloc((size_t)argc + 1, sizeof(char *)),
		.build = build,
		.may_forget = last};
	int status = !request.paths ? 1 : parse_arguments(&request, argc, argv) ? 0 : 2;

	if (!status && request.forget) {
		status = forget_runs(&request);
		free(request.paths);
		return status;
	}
	if (!status && !request.npaths && last) {
		const char *directory = last_run();

		if (directory)
			request.paths[request.npaths++] = directory;
		else
			status = 1;
	}
	if (!status && !request.npaths) {
		fprintf(stderr,
			"cachepeek: %s: name the directories or records of the ranks\n",
			argv[0]);
		status = 2;
	}
	if (!status)
		status = show_report(&request);
	free(request.outputs);
	free(request.paths);
	return status;
}

int cp_cmd_report(int argc, char **argv)
{
	return cp_show(argv, argc, cp_report_build, true);
}
