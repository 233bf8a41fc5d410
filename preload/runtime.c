/* SPDX-License-Identifier: MIT
 *
 * The beginning.  The constructor runs before everybody else's (the
 * library is linked with -z initfirst): libc works, but `environ` is not set
 * yet, and getenv, setenv, malloc and stdio may be the program's own.
 */
#include "preload/runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/fd_limit.h"
#include "base/format.h"
#include "base/log.h"
#include "base/map.h"
#include "preload/markers/allocators.h"
#include "preload/choose.h"
#include "base/counters/clock.h"
#include "preload/program/descriptors.h"
#include "base/env.h"
#include "preload/follow.h"
#include "preload/cases/cases.h"
#include "preload/markers/functions.h"
#include "preload/cases/naming.h"
#include "preload/given.h"
#include "preload/program/layout.h"
#include "preload/life.h"
#include "preload/program/pinned.h"
#include "preload/libc/real.h"
#include "preload/reexec.h"
#include "preload/run.h"
#include "preload/report.h"
#include "preload/sampling/sampling.h"
#include "preload/simulated.h"
#include "preload/threads.h"
#include "regions/fold_records.h"
#include "base/counters/options.h"
#include "preload/decide.h"

/* Where our memory is under the simulated PMU: below the 16 TiB that its core
 * gives to programs, above what it, or any program's malloc, uses first. */
#define SIM_MEMORY 0x70000000000

struct cp_runtime cp_runtime;
struct cp_options cp_options;
CP_LOCK_LISTED(cp_runtime.record.lock);

/* Warnings made before there is a record to keep them in: one for each event that is
 * read as another, and then some. */
#define EARLY 64
static struct {
	unsigned count;
	char line[EARLY][320];
} early;

/* ---- small things ---- */

void cp_keep_warning(const char *line)
{
	if (cp_runtime.record.header)
		cp_record_put_meta(&cp_runtime.record, "warning", line, strlen(line));
	else if (early.count < EARLY)
		cp_format(early.line[early.count++], sizeof(early.line[0]), "%s", line);
}

void cp_say_first(const char *line)
{
	/* Children, and the root after an exec, would only repeat it. */
	bool first = cp_is_root() &&
		     (!cp_runtime.record.header || cp_runtime.record.header->image == 0);

	if (first && !cp_runtime.quiet)
		cp_say("%s", line);
}

void cp_warn(const char *line)
{
	cp_self.depth++; /* from wherever it is called: keeping it takes locks */
	cp_say_first(line);
	cp_keep_warning(line);
	cp_leave();
}

static void keep_early_warnings(void)
{
	for (unsigned i = 0; i < early.count; i++)
		cp_record_put_meta(&cp_runtime.record, "warning", early.line[i],
			strlen(early.line[i]));
	early.count = 0;
}

/* ---- the decision, in the root ---- */

static void tell_choice(const struct cp_choice *choice)
{
	if (choice->engine == &cp_engine_sim)
		cp_say("counting on the simulated PMU, 10 to 50 times slower than the "
		       "program alone (%s). CACHEPEEK_ENGINE=perf forbids this",
			choice->why);
	else
		cp_say("%s", choice->why);
}

static int become_root(void)
{
	struct cp_choice choice;

	cp_choose_engine(&choice);
	cp_run.engine = choice.engine;
	cp_run.root_pid = cp_runtime.pid;
	cp_format(cp_run.why, sizeof(cp_run.why), "%s", choice.why);
	if (choice.tell || cp_log_level > 0)
		tell_choice(&choice);
	return cp_run_found();
}

/* ---- counting begins ---- */

static void fold_records(void *bytes)
{
	*(int64_t *)bytes = cp_records_fold(cp_run.directory);
}

/* Of the processes that the root starts there may be any number. */
static bool is_refused(void)
{
	int64_t bytes = 0;

	if (cp_is_root())
		return false;
	cp_call_aside(fold_records, &bytes);
	if (bytes < 0 || (uint64_t)bytes < cp_options.limit)
		return false;
	cp_records_refuse(cp_run.directory);
	return true;
}

static int create_record(void)
{
	char ending[CP_JOB_ENDING];

	if (!cp_run.job.number)
		return cp_record_create(
			&cp_runtime.record, cp_run.directory, cp_runtime.pid);
	cp_job_ending(cp_run.job, cp_run.rank.number, ending);
	return cp_record_create_as(&cp_runtime.record, cp_run.directory, cp_runtime.pid,
		ending, CP_RECORD_MAGIC, CP_RECORD_VERSION);
}

int cp_start_record(void)
{
	char line[CP_RUNDIR_SIZE + 96];
	int result;

	if (is_refused())
		return -EDQUOT; /* the report says so */
	result = create_record();
	if (result == 0)
		result = cp_record_describe();
	if (result == 0)
		return 0;
	cp_format(line, sizeof(line),
		"no run record in %s (errno %d): process %d is not counted",
		cp_run.directory, -result, (int)cp_runtime.pid);
	/* In a child, too: there is no record to keep the line in. */
	cp_say("%s", line);
	return result;
}

static void on_exit_handler(int status, void *unused)
{
	(void)unused;
	cp_process_end(CP_HOW_EXIT, status & 0xff);
}

static void begin_counting(void)
{
	if (cp_start_record() < 0)
		return;
	keep_early_warnings();
	cp_report_start();
	cp_engine->configure(&cp_plan.set);
	cp_life(prepare);
	__atomic_store_n(&cp_runtime.state, CP_ON, __ATOMIC_RELEASE);
	cp_thread_begin();
	cp_life(start);
}

/* ---- the constructor ---- */

static void complain(void *context, const char *line)
{
	(void)context;
	cp_warn(line);
}

/* Where there is no number for a duplicate, it is 2, for as long as that is what it
 * is now: nowhere if it is closed, since the program's next file is 2 then. */
static void keep_stderr(void)
{
	cp_log_remember_stderr();
	cp_fd_keep_duplicate(STDERR_FILENO, &cp_log_fd);
}

/* Who this is, and what was asked for.  True: an earlier image, or a parent, has
 * decided for us. */
static bool know_ourselves(void)
{
	char *const *settings;
	bool inherited;

	keep_stderr();
	cp_runtime.pid = getpid();
	inherited = cp_run_inherit();
	if (!inherited)
		cp_run.root_pid = cp_runtime.pid;
	cp_runtime.quiet = inherited;
	settings = cp_follow_start();
	cp_options_read(&cp_options, settings, complain, NULL);
	cp_decide_settings(settings);
	cp_log_level = cp_options.verbose;
	cp_options.regions = cp_cases_expand(cp_options.regions);
	cp_names_filter(cp_options.regions);
	return inherited;
}

static bool is_left_alone(bool inherited)
{
	return cp_run_is_launcher() ||
	       (inherited && !cp_is_root() && cp_options.children == CP_CHILDREN_IGNORE);
}

static void prepare_sim(void)
{
	if (cp_options.profile != CP_PROFILE_NONE)
		cp_allocators_tell();
}

static void prepare_perf(void)
{
	cp_clock_start();
	if (cp_options.profile != CP_PROFILE_NONE)
		cp_sampling_choose();
	cp_warn_of_simulated();
}

/* What to count is decided. */
static void count(void)
{
	cp_runtime.quiet = false;
	if (cp_is_reexecuted())
		prepare_sim();
	else
		prepare_perf();
	cp_lines_complain(cp_options.regions);
	cp_cases_complain(cp_options.regions);
	cp_naming_complain(cp_options.regions);
	cp_life(begin);
	CP_REAL(on_exit)(on_exit_handler, NULL);
	begin_counting();
	cp_life(begun);
}

static void start(char **argv)
{
	bool inherited = know_ourselves();

	if (is_left_alone(inherited))
		return;
	if (!inherited && become_root() < 0)
		return;
	cp_decide(inherited);
	if (cp_run.engine == &cp_engine_sim && !cp_is_reexecuted())
		cp_run_simulated(argv, cp_run_entries());
	else
		count();
}

static bool is_off(void)
{
	const char *disabled = cp_env_get("CACHEPEEK_DISABLE");

	return (disabled && strcmp(disabled, "1") == 0) || getauxval(AT_SECURE);
}

static void begin(int argc, char **argv, char **envp)
{
	uint64_t began = cp_now_ns();

	if (cp_is_reexecuted()) {
		cp_map_from(SIM_MEMORY);
		cp_fd_hide_beyond_limit();
		cp_reexec_restore(argv, envp);
		cp_env_use(cp_pinned_environment(envp));
	}
	cp_layout_start(envp);
	cp_fd_widen(CP_FD_FEW);
	if (cp_given_keep(argc, argv, cp_env_all()) < 0 ||
		!cp_decide_with_memory(start, argv))
		cp_say("nothing is counted: no memory (is there a limit, `ulimit -v`?)");
	cp_fd_narrow();
	if (cp_runtime.record.header)
		cp_runtime.record.header->overhead_ns = cp_now_ns() - began;
}

__attribute__((constructor)) static void constructor(int argc, char **argv, char **envp)
{
	int saved = errno;

	/* What libc does for us from here on is not the program's. */
	cp_engine_start();
	cp_engine_pause();
	/* Even if nothing else is done: the hooks are there, and none of them may
	 * be the first to look for the real function. */
	cp_real_fill();
	cp_opens_fill();
	cp_env_use(cp_pinned_variables(envp));
	if (!is_off())
		begin(argc, argv, envp);
	errno = saved;
	cp_engine_resume();
}
