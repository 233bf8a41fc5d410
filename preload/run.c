/* SPDX-License-Identifier: MIT */
#include "preload/run.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/format.h"
#include "base/log.h"
#include "base/text.h"
#include "regions/ancestors.h"
#include "base/env.h"
#include "base/counters/options.h"

struct cp_run cp_run;

#define RUN "CACHEPEEK__RUN"
#define WHY "CACHEPEEK__WHY"
#define LAUNCHER "CACHEPEEK__LAUNCHER" /* the run's directory */
#define SCOPE "CACHEPEEK__SCOPE"       /* and its number */

/* ---- what the parent process decided ---- */

/* RUN is "ENGINE:ROOT_PID:SELF:SCOPE:NUMBER:RANK:RANKS:DIRECTORY". */
struct run {
	const struct cp_engine *engine;
	uint64_t root, self, scope, number, rank, ranks;
	const char *directory;
};

static bool next_number(const char **at, uint64_t *number)
{
	const char *end;

	if (cp_parse_u64_prefix(*at, &end, number) < 0 || *end != ':')
		return false;
	*at = end + 1;
	return true;
}

static bool parse_run(const char *text, struct run *run)
{
	uint64_t *const numbers[] = {&run->root, &run->self, &run->scope, &run->number,
		&run->rank, &run->ranks};

	if (!text || (!cp_starts_with(text, "sim:") && !cp_starts_with(text, "perf:")))
		return false;
	run->engine = cp_starts_with(text, "sim:") ? &cp_engine_sim : &cp_engine_perf;
	text = strchr(text, ':') + 1;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!next_number(&text, numbers[i]))
			return false;
	run->directory = text;
	return run->root <= INT32_MAX && run->number <= INT32_MAX &&
	       run->rank <= INT32_MAX && run->ranks <= INT32_MAX;
}

/* False: the run is over, or its directory is somebody else's, which is said. */
static bool is_there(const struct run *run)
{
	if (access(run->directory, W_OK | X_OK) == 0)
		return true;
	if (errno != ENOENT)
		cp_say("%s, where the run's records are, cannot be written (errno %d): "
		       "process %d is a run of its own, with a report of its own",
			run->directory, errno, (int)cp_runtime.pid);
	return false;
}

static void join_run(const struct run *run)
{
	const char *why = cp_env_get(WHY);

	cp_run.engine = run->engine;
	cp_run.root_pid = (pid_t)run->root;
	cp_run.job.number = (unsigned)run->number;
	cp_run.rank.self = run->self;
	if (run->number) {
		cp_run.rank.number = (int)run->rank;
		cp_run.rank.of = (int)run->ranks;
	}
	cp_format(cp_run.why, sizeof(cp_run.why), "%s", why ? why : "");
}

bool cp_run_inherit(void)
{
	const char *launcher = cp_env_get(LAUNCHER);
	struct run run;

	cp_rank_find(&cp_run.rank, cp_env_get);
	cp_run.launched = launcher && access(launcher, W_OK | X_OK) == 0;
	cp_run.gathered =
		cp_run.launched && (!cp_env_get(SCOPE) || cp_env_get("CACHEPEEK_PASS"));
	if (!parse_run(cp_env_get(RUN), &run) || !is_there(&run))
		return false;
	cp_format(cp_run.directory, sizeof(cp_run.directory), "%s", run.directory);
	cp_run.job.scope = run.scope;
	cp_run.shared = true;
	if (cp_run.rank.self && cp_run.rank.self != run.self)
		return false;
	join_run(&run);
	return true;
}

char *const *cp_run_entries(void)
{
	static char run[CP_RUNDIR_SIZE + 128], why[sizeof(cp_run.why) + 32];
	static char *entries[3] = {run, why, NULL};
	const struct cp_job_id *job = &cp_run.job;

	/* Padded: a program's misses depend on how long its environment is. */
	cp_format(run, sizeof(run), RUN "=%s:%07d:0x%016llx:0x%016llx:%05u:%07d:%07d:%s",
		cp_run.engine->name, (int)cp_run.root_pid,
		(unsigned long long)cp_run.rank.self, (unsigned long long)job->scope,
		job->number, job->number ? cp_run.rank.number : 0,
		job->number ? cp_run.rank.of : 0, cp_run.directory);
	cp_format(why, sizeof(why), WHY "=%s", cp_run.why);
	return entries;
}

/* ---- what a root decides ---- */

static int make_run_directory(void)
{
	int result = 0;

	if (cp_run.directory[0])
		return 0; /* the launcher's run has one */
	if (cp_run.launched)
		cp_format(cp_run.directory, sizeof(cp_run.directory), "%s",
			cp_env_get(LAUNCHER));
	else if (cp_run.rank.job && !cp_options.dir)
		result = cp_run_share(cp_env_get, cp_run.job.scope, cp_run.directory,
			sizeof(cp_run.directory));
	else
		result = cp_run_make(cp_env_get, cp_options.dir, cp_run.directory,
			sizeof(cp_run.directory));
	cp_run.shared = cp_options.dir || cp_run.launched || cp_run.rank.job;
	if (result == 0)
		return 0;
	cp_say("no place for the run's records (%s: errno %d): nothing is counted. "
	       "Set CACHEPEEK_DIR to a directory that can be written",
		cp_run.directory, -result);
	return result;
}

/* Whom the run belongs to: a run that we join, the `cachepeek` command, a launcher,
 * or nobody else. */
static void find_scope(void)
{
	const char *scope = cp_env_get(SCOPE);
	struct cp_ancestor self;

	if (cp_run.job.scope ||
		(cp_run.launched && scope && cp_parse_u64(scope, &cp_run.job.scope) == 0))
		return;
	if (cp_run.rank.job)
		cp_run.job.scope = cp_rank_scope(&cp_run.rank);
	else if (cp_ancestor_read(cp_runtime.pid, &self))
		cp_run.job.scope = cp_ancestor_key(&self);
}

static void take_job(void)
{
	uint64_t key = cp_run.rank.job;

	if (!key || !cp_run.job.scope)
		return;
	if (cp_run.rank.spawned)
		key = cp_job_spawned(cp_run.directory, key, cp_run.rank.number);
	cp_run.job.number = cp_job_claim(
		cp_run.directory, cp_run.job.scope, (unsigned)cp_options.pass, key);
}

int cp_run_found(void)
{
	int result;

	find_scope();
	result = make_run_directory();
	if (result == 0)
		take_job();
	return result;
}
