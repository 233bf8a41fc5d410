/* SPDX-License-Identifier: MIT
 *
 * The beginning.  The constructor runs before everybody else's (the
 * library is linked with -z initfirst): libc works, but `environ` is not set
 * yet, and getenv, setenv, malloc and stdio may be the program's own.
 */
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
#include "preload/program/sanitizers.h"
#include "preload/sampling/allocators.h"
#include "preload/choose.h"
#include "base/counters/clock.h"
#include "base/engine/simclient.h"
#include "preload/program/descriptors.h"
#include "base/env.h"
#include "preload/cases/cases.h"
#include "preload/cases/naming.h"
#include "preload/follow.h"
#include "preload/markers/functions.h"
#include "preload/markers/loaded.h"
#include "preload/given.h"
#include "preload/program/layout.h"
#include "preload/life.h"
#include "preload/program/pinned.h"
#include "preload/libc/real.h"
#include "preload/reexec.h"
#include "preload/runtime.h"
#include "preload/describe.h"
#include "preload/process.h"
#include "preload/warn.h"
#include "preload/planned.h"
#include "preload/parallel/launcher.h"
#include "preload/run.h"
#include "preload/report.h"
#include "preload/sampling/sampling.h"
#include "preload/simulated.h"
#include "preload/threads/threads.h"
#include "base/counters/options.h"
#include "preload/decide.h"

/* Where our memory is under the simulated PMU: below the 16 TiB that its core
 * gives to programs, above what it, or any program's malloc, uses first. */
#define SIM_MEMORY 0x70000000000

/* ---- the decision, in the root ---- */

static void tell_choice(const struct cp_choice *choice)
{
	if (choice->engine == &cp_engine_sim)
		cp_say("on the simulated PMU, 10 to 70 times slower (%s); "
		       "CACHEPEEK_ENGINE=perf forbids it",
			*choice->cause && !cp_log_level ? choice->cause : choice->why);
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

static void on_exit_handler(int status, void *unused)
{
	(void)unused;
	cp_process_end(CP_HOW_EXIT, status & 0xff);
}

static void begin_counting(void)
{
	if (cp_start_record() < 0)
		return;
	cp_keep_early_warnings();
	cp_report_start();
	cp_engine->configure(&cp_plan.set);
	cp_life(prepare);
	__atomic_store_n(&cp_runtime.state, CP_ON, __ATOMIC_RELEASE);
	cp_thread_begin();
	cp_life(start);
}

/* ---- the constructor ---- */

static void complain_of_options(void *context, const char *line)
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

/* Finds out whose process this is, and reads the settings.  True: an earlier image, or a
 * parent, has decided for us. */
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
	cp_options_read(&cp_options, settings, complain_of_options, NULL);
	cp_decide_settings(settings);
	cp_log_level = cp_options.verbose;
	cp_options.regions = cp_cases_expand(cp_options.regions);
	cp_names_filter(cp_options.regions);
	return inherited;
}

static bool is_left_alone(bool inherited)
{
	return cp_launcher_is_here() ||
	       (inherited && !cp_is_root() && cp_options.children == CP_CHILDREN_IGNORE);
}

/* It was initialised in the image that has executed this one, too. */
static void warn_of_twice(void)
{
	const char *path = cp_loaded_before_us(),
		   *slash = path ? strrchr(path, '/') : NULL;
	char line[320];

	if (!path)
		return;
	cp_format(line, sizeof(line),
		"%s asks to be initialised first: its constructors, and others of "
		"libraries, run twice on the simulated PMU",
		slash ? slash + 1 : path);
	cp_warn(line);
}

static void prepare_sim(void)
{
	warn_of_twice();
	if (cp_options.profile != CP_PROFILE_NONE)
		cp_allocators_tell();
}

static void prepare_perf(void)
{
	cp_clock_start();
	cp_engine_map_own();
	if (cp_options.profile != CP_PROFILE_NONE)
		cp_sampling_choose();
	cp_warn_of_simulated();
}

/* Counts what was decided. */
static void start_counting(void)
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

static void start_run(char **argv)
{
	bool inherited = know_ourselves();

	if (is_left_alone(inherited))
		return;
	if (!inherited && become_root() < 0)
		return;
	cp_decide(inherited);
	if (cp_run.engine == &cp_engine_sim && !cp_is_reexecuted()) {
		cp_decide_hand_over();
		cp_run_simulated(argv, cp_run_entries());
	} else {
		start_counting();
	}
}

static bool is_off(void)
{
	const char *disabled = cp_env_get("CACHEPEEK_DISABLE");

	return (disabled && strcmp(disabled, "1") == 0) || getauxval(AT_SECURE);
}

static void begin_image(int argc, char **argv, char **envp)
{
	uint64_t began = cp_now_ns();

	if (cp_is_reexecuted()) {
		cp_map_from(SIM_MEMORY);
		cp_fd_hide_beyond_limit();
		cp_sim_descriptors(&cp_runtime.pid);
		cp_reexec_restore(argv, envp);
		cp_env_use(cp_pinned_environment(envp));
	}
	cp_layout_start(envp);
	cp_fd_widen(CP_FD_FEW);
	if (cp_given_keep(argc, argv, cp_env_all()) < 0 ||
		!cp_decide_with_memory(start_run, argv))
		cp_say("nothing is counted: no memory (is there a limit, `ulimit -v`?)");
	cp_fd_narrow();
	if (cp_runtime.record.header)
		cp_runtime.record.header->overhead_ns = cp_now_ns() - began;
}

__attribute__((constructor)) static void start_library(int argc, char **argv, char **envp)
{
	int saved = errno;

	/* Work of libc for us is from here on not the program's. */
	cp_engine_start();
	cp_engine_pause();
	/* Even if nothing else is done: the hooks are there, and none of them may
	 * be the first to look for the real function. */
	cp_real_fill();
	cp_opens_fill();
	cp_sanitizers_start();
	cp_loaded_note_first();
	cp_env_use(cp_pinned_variables(envp));
	if (!is_off())
		begin_image(argc, argv, envp);
	errno = saved;
	cp_engine_resume();
}
