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
#include "preload/compared.h"
#include "preload/program/descriptors.h"
#include "base/engine/notes.h"
#include "base/env.h"
#include "preload/program/fatal.h"
#include "preload/follow.h"
#include "preload/markers/functions.h"
#include "preload/given.h"
#include "preload/hooks.h"
#include "preload/program/layout.h"
#include "preload/markers/injection.h"
#include "preload/life.h"
#include "preload/libc/real.h"
#include "preload/reexec.h"
#include "preload/run.h"
#include "preload/report.h"
#include "preload/sampling/sampling.h"
#include "preload/simulated.h"
#include "preload/threads.h"
#include "base/counters/weights.h"
#include "base/counters/windows.h"
#include "regions/fold_records.h"

/* Where our memory is under the simulated PMU: below the 16 TiB that its core
 * gives to programs, above what it, or any program's malloc, uses first. */
#define SIM_MEMORY 0x70000000000

struct cp_runtime cp_runtime;
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
		       "program "
		       "alone (%s). CACHEPEEK_ENGINE=perf forbids this",
			choice->why);
	else
		cp_say("%s", choice->why);
}

static int become_root(void)
{
	struct cp_choice choice;

	cp_choose_engine(&choice);
	cp_runtime.engine = choice.engine;
	cp_runtime.root_pid = cp_runtime.pid;
	cp_format(cp_runtime.why, sizeof(cp_runtime.why), "%s", choice.why);
	if (choice.tell || cp_log_level > 0)
		tell_choice(&choice);
	return cp_run_found();
}

/* ---- counting begins ---- */

static void note_machine(void)
{
	const char *siblings = cp_perf_note_siblings(&cp_runtime.set);

	cp_perf_note(&cp_runtime.set, cp_keep_warning);
	if (siblings)
		cp_keep_warning(siblings);
	if (cp_sim_is_foreign())
		cp_keep_warning(
			"the program runs under Valgrind: perf counts the work of "
			"both");
}

static void rotate_events(void)
{
	cp_perf_rotate(&cp_runtime.set);
	if (cp_runtime.set.reference[0])
		cp_warn("CACHEPEEK_SCHEDULE=rotate is not for machines with several "
			"kinds of core: events are multiplexed instead");
}

/* What this run, or this rank, counts of the events. */
static struct cp_share share_of_events(void)
{
	int rank = cp_runtime.rank.number;

	if (cp_runtime.options.pass || cp_runtime.options.schedule != CP_SCHEDULE_RANKS)
		return (struct cp_share){(unsigned)cp_runtime.options.pass, false};
	if (rank >= 0)
		return (struct cp_share){(unsigned)rank + 1, true};
	cp_warn("CACHEPEEK_SCHEDULE=ranks is for jobs of MPI, and no launcher's rank is "
		"in "
		"the environment: events are multiplexed instead");
	return (struct cp_share){0, false};
}

/* What the user set for a level that this machine has not. */
static void check_weights(void)
{
	struct cp_weights weights =
		cp_weights_of(cp_runtime.simulated, &cp_runtime.request);
	char line[120];

	for (enum cp_weight_of of = CP_OF_L1; of < CP_NWEIGHTS; of++) {
		if (!(cp_runtime.request.weights[of] > 0) ||
			weights.of[of].from != CP_WEIGHT_NONE)
			continue;
		cp_format(line, sizeof(line),
			"CACHEPEEK_LET: %s changes nothing: there is no such level here",
			cp_weight_name(of));
		cp_warn(line);
	}
}

static void read_request(const char *fallback)
{
	cp_request_read(&cp_runtime.request, &cp_runtime.arena, cp_runtime.options.events,
		cp_runtime.options.groups, cp_runtime.options.let, fallback, cp_warn);
	check_weights();
}

static void resolve_for_sim(void)
{
	struct cp_event_set *set = &cp_runtime.set;

	read_request("cache");
	cp_events_for_sim(set, &cp_runtime.request, &cp_runtime.machine,
		&cp_runtime.arena, cp_warn);
	cp_runtime.machine.timed = set->timed;
	cp_sweep_add_events(set, &cp_runtime.sweep);
	if (cp_runtime.window)
		cp_windows_add_events(set);
}

static const char *default_group_for_perf(void)
{
	struct cp_why why;

	if (cp_runtime.options.events || cp_runtime.options.groups)
		return "cache";
	return cp_default_group(&cp_engine_perf, cp_perf_hardware_works(&why));
}

static void resolve_for_perf(void)
{
	struct cp_share share;

	read_request(default_group_for_perf());
	share = share_of_events();
	if (share.number)
		cp_request_add_common(&cp_runtime.request);
	cp_events_for_perf(
		&cp_runtime.set, &cp_runtime.request, share, &cp_runtime.arena, cp_warn);
	note_machine();
	if (cp_runtime.options.schedule == CP_SCHEDULE_ROTATE)
		rotate_events();
	if (cp_runtime.set.nrotated && cp_runtime.options.sparse)
		cp_warn("CACHEPEEK_SPARSE=1 is ignored: groups of events take turns "
			"(CACHEPEEK_SCHEDULE=rotate), and need every execution for that");
}

static void fold_records(void *bytes)
{
	*(int64_t *)bytes = cp_records_fold(cp_runtime.directory);
}

/* Of the processes that the root starts there may be any number. */
static bool is_refused(void)
{
	int64_t bytes = 0;

	if (cp_is_root())
		return false;
	cp_call_aside(fold_records, &bytes);
	if (bytes < 0 || (uint64_t)bytes < cp_runtime.options.limit)
		return false;
	cp_records_refuse(cp_runtime.directory);
	return true;
}

static int create_record(void)
{
	char ending[CP_JOB_ENDING];

	if (!cp_runtime.job.number)
		return cp_record_create(
			&cp_runtime.record, cp_runtime.directory, cp_runtime.pid);
	cp_job_ending(cp_runtime.job, cp_runtime.rank.number, ending);
	return cp_record_create_as(&cp_runtime.record, cp_runtime.directory,
		cp_runtime.pid, ending, CP_RECORD_MAGIC, CP_RECORD_VERSION);
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
		cp_runtime.directory, -result, (int)cp_runtime.pid);
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
	cp_engine->configure(&cp_runtime.set);
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
	bool inherited;

	keep_stderr();
	cp_runtime.pid = getpid();
	inherited = cp_run_inherit();
	if (!inherited)
		cp_runtime.root_pid = cp_runtime.pid;
	cp_runtime.quiet = inherited;
	cp_options_read(&cp_runtime.options, cp_follow_start(), complain, NULL);
	cp_log_level = cp_runtime.options.verbose;
	cp_names_filter(cp_runtime.options.regions);
	return inherited;
}

static bool is_left_alone(bool inherited)
{
	return cp_run_is_launcher() ||
	       (inherited && !cp_is_root() &&
		       cp_runtime.options.children == CP_CHILDREN_IGNORE);
}

static void prepare_sim(void)
{
	cp_simulated_machine(); /* what is wrong with it, the image before has said */
	cp_runtime.quiet = false;
	resolve_for_sim();
	if (cp_runtime.options.profile != CP_PROFILE_NONE)
		cp_allocators_tell();
}

static void prepare_perf(void)
{
	cp_runtime.quiet = false;
	resolve_for_perf();
	cp_clock_start();
	if (cp_runtime.options.profile != CP_PROFILE_NONE)
		cp_sampling_choose();
	cp_warn_of_simulated();
}

/* What to count is decided. */
static void count(void)
{
	if (cp_is_reexecuted())
		prepare_sim();
	else
		prepare_perf();
	cp_lines_complain(cp_runtime.options.regions);
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
	if (!inherited) {
		cp_request_quietly();
		if (become_root() < 0)
			return;
	}
	if (cp_runtime.engine == &cp_engine_sim && !cp_is_reexecuted())
		cp_run_simulated(argv, cp_run_entries());
	else
		count();
}

static bool is_off(void)
{
	const char *disabled = cp_env_get("CACHEPEEK_DISABLE");

	return (disabled && strcmp(disabled, "1") == 0) || getauxval(AT_SECURE);
}

/* False: there was no memory for what is to be counted. */
static bool start_with_memory(char **argv)
{
	struct cp_escape out_of_memory;
	volatile bool enough = false;

	cp_runtime.arena.out_of_memory = &out_of_memory;
	if (CP_ESCAPE_SET(out_of_memory) == 0) {
		start(argv);
		enough = true;
	}
	cp_runtime.arena.out_of_memory = NULL;
	return enough;
}

static void begin(int argc, char **argv, char **envp)
{
	uint64_t began = cp_now_ns();

	if (cp_is_reexecuted()) {
		cp_map_from(SIM_MEMORY);
		cp_fd_hide_beyond_limit();
		cp_reexec_restore(argv, envp);
	}
	cp_layout_start(envp);
	cp_fd_widen(CP_FD_FEW);
	if (cp_given_keep(argc, argv, envp) < 0 || !start_with_memory(argv))
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
	cp_env_use(envp);
	if (!is_off())
		begin(argc, argv, envp);
	errno = saved;
	cp_engine_resume();
}
