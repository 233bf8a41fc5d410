/* SPDX-License-Identifier: MIT */
#include "tools/runs/alone_record.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counters/clock.h"
#include "base/counters/described.h"
#include "base/counters/events.h"
#include "base/counters/options.h"
#include "base/counters/simtool.h"
#include "base/env.h"
#include "base/text.h"
#include "base/machine/clock.h"
#include "base/machine/weights.h"
#include "tools/runs/preloading.h"

#define REPRODUCIBLE "CACHEPEEK_REPRODUCIBLE"
#define COUNTED_ALONE                                                                    \
	"a static program: nothing can be preloaded into it, so that it is counted as "  \
	"a whole, its threads as one, without regions and without its children"

struct alone {
	struct cp_options options;
	struct cp_plan plan;
	struct cp_arena arena;
	struct cp_request request;
	struct cp_recording record;
	uint64_t start_ns, end_ns, realtime_ns;
};

/* ---- what is to be counted ---- */

static void say(const char *line)
{
	fprintf(stderr, "cachepeek: %s\n", line);
}

static void end_without_memory(void)
{
	say("no memory for what is to be counted");
	_exit(127);
}

static void complain(void *unused, const char *line)
{
	(void)unused;
	say(line);
}

/* Says which options are ignored, since they take the library in the program. */
static void say_ignored(const struct cp_options *options)
{
	const struct {
		bool asked;
		const char *what;
	} needed[] = {{options->call_paths, "--call-paths"},
		{options->regions, "CACHEPEEK_REGIONS (-R)"},
		{options->interval, "CACHEPEEK_INTERVAL (-I)"},
		{options->sample, "CACHEPEEK_SAMPLE (--sample)"},
		{options->sweep, "CACHEPEEK_SWEEP (--sweep)"},
		{options->working_set, "CACHEPEEK_WORKING_SET (--working-set)"}};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (needed[i].asked)
			fprintf(stderr,
				"cachepeek: %s is ignored: nothing can be preloaded into "
				"a static program\n",
				needed[i].what);
}

/* The strings of both are used as long as the options are. */
static void read_options(struct cp_options *options, char *const added[])
{
	size_t room = cp_env_count(environ) + cp_env_count(added) + 1;
	char **all = calloc(room, sizeof(*all));

	if (!all)
		end_without_memory();
	cp_env_merge(all, environ, added);
	cp_options_read(options, all, complain, NULL);
	free(all);
	say_ignored(options);
	/* The simulator's own: it looks there. */
	for (; *added; added++)
		if (cp_starts_with(*added, REPRODUCIBLE "=")) {
			setenv(REPRODUCIBLE, *added + sizeof(REPRODUCIBLE), 1);
			cp_clock_measure_nothing();
		}
}

static void find_machine(const struct cp_options *options, struct cp_machine *machine)
{
	const char *changes = options->what_if;
	char error[256] = "";

	if (cp_machine_find(machine, options->machine, error, sizeof(error)) < 0 &&
		cp_machine_find(machine, "host", error + strlen(error), 1) == 0)
		fprintf(stderr,
			"cachepeek: %s (the host's caches are simulated instead)\n",
			error);
	if (changes && *changes &&
		cp_machine_change(machine, changes, error, sizeof(error)) < 0)
		fprintf(stderr,
			"cachepeek: CACHEPEEK_WHAT_IF: %s (%s is simulated as it is)\n",
			error, machine->name);
	machine->timing = options->timing;
}

static const char *usual_groups(
	const struct cp_options *options, const struct cp_machine *machine)
{
	char missing[160];

	return options->timing == CP_TIMING_OFF || options->profile != CP_PROFILE_NONE ||
			       !cp_machine_tells_time(machine, missing, sizeof(missing))
		       ? "cache"
		       : "cache,time";
}

static void make_plan(struct alone *alone)
{
	const struct cp_options *options = &alone->options;
	struct cp_machine *machine = &alone->plan.machine[0];

	find_machine(options, machine);
	alone->plan.nmachines = 1;
	cp_request_read(&alone->request, &alone->arena,
		&(struct cp_request_text){options->events, options->groups, options->let,
			usual_groups(options, machine)},
		say);
	alone->plan.weights = cp_weights_of(machine, alone->request.weights);
	cp_events_for_sim(&alone->plan.set, &alone->request, machine, &alone->arena, say);
	machine->timed = alone->plan.set.timed;
	for (size_t i = 0; i < alone->request.ngroups; i++)
		cp_plan_add_text(&alone->plan, &alone->arena, CP_PLAN_GROUP,
			alone->request.groups[i]->text);
}

/* ---- what was counted ---- */

static void describe_program(struct cp_recording *record, const char *program)
{
	char path[PATH_MAX] = "", name[32];
	int fd = cp_program_open(program);

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (fd < 0 || readlink(name, path, sizeof(path) - 1) < 0)
		snprintf(path, sizeof(path), "%s", program);
	if (fd >= 0)
		close(fd);
	cp_describe_text(record, "exe", path);
}

static void describe_command(struct alone *alone, char **argv)
{
	size_t size = 0;
	char *words;

	for (char **word = argv; *word; word++)
		size += strlen(*word) + 1;
	words = cp_arena_alloc(&alone->arena, size);
	for (size_t at = 0; *argv; at += strlen(*argv++) + 1)
		memcpy(words + at, *argv, strlen(*argv) + 1);
	cp_record_put_meta(&alone->record, "command", words, size - 1);
}

static void describe_run(struct alone *alone, char **argv)
{
	struct cp_recording *record = &alone->record;
	struct utsname host;

	cp_describe_text(record, "tool", CP_VERSION);
	describe_program(record, argv[0]);
	describe_command(alone, argv);
	if (uname(&host) == 0)
		cp_describe_text(record, "host", host.nodename);
	cp_describe_text(record, "why", "nothing else counts a static program as it is");
	cp_describe_text(record, "warning", COUNTED_ALONE);
}

static void put_header(
	const struct alone *alone, const struct cp_launch *launch, const uint64_t *count)
{
	struct cp_record_header *header = alone->record.header;

	cp_describe_header(header, &alone->plan);
	header->engine = CP_ENGINE_SIM;
	header->ppid = getpid();
	header->root_pid = launch->pid;
	header->rank = -1;
	header->realtime_ns = alone->realtime_ns;
	header->start_ns = alone->start_ns;
	header->end_ns = alone->end_ns;
	header->flags |= CP_RECORD_ROOT;
	memcpy(header->process, count, CP_SIM_NCOUNTERS * sizeof(*count));
}

static int put_thread(
	struct alone *alone, const struct cp_launch *launch, const uint64_t *count)
{
	const struct cp_record_header *header = alone->record.header;
	struct cp_thread_item *thread =
		cp_record_reserve(&alone->record, sizeof(*thread));
	struct cp_region_item *root = cp_record_reserve(
		&alone->record, cp_region_item_size(header->ncounters,
					header->nquantities, header->nperf_groups));

	if (!thread || !root)
		return -ENOSPC;
	thread->tid = launch->pid;
	thread->state = CP_THREAD_ENDED;
	thread->start_ns = alone->start_ns;
	thread->end_ns = alone->end_ns;
	thread->root = cp_record_offset(&alone->record, root);
	memcpy(thread->mirror, count, CP_SIM_NCOUNTERS * sizeof(*count));
	root->thread = cp_record_offset(&alone->record, thread);
	root->calls = 1;
	root->time_ns = alone->end_ns - alone->start_ns;
	for (uint32_t i = 0; i < header->nquantities; i++)
		cp_region_spreads(root, header->ncounters)[i].min = UINT64_MAX;
	cp_item_publish(thread, CP_ITEM_THREAD);
	cp_item_publish(root, CP_ITEM_REGION);
	return 0;
}

static int write_record(struct alone *alone, char **argv, const char *directory,
	const struct cp_launch *launch, const uint64_t *count)
{
	const struct cp_event_set *set = &alone->plan.set;
	struct cp_recording *record = &alone->record;
	int result = cp_record_create(record, directory, launch->pid);

	if (result < 0)
		return result;
	put_header(alone, launch, count);
	describe_run(alone, argv);
	cp_describe_plan(record, &alone->plan);
	result = cp_describe_counters(record, set);
	for (unsigned i = 0; result == 0 && i < set->nquantities; i++)
		if (!cp_describe_quantity(record, set, &set->quantities[i]))
			result = -ENOSPC;
	if (result == 0)
		result = put_thread(alone, launch, count);
	if (result == 0)
		record->header->flags |= CP_RECORD_BEGUN;
	cp_record_close(record);
	return result;
}

/* ---- all of it ---- */

static int run(struct alone *alone, char **argv, const char *directory,
	struct cp_launch *launch, struct cp_counted_alone *counted)
{
	const struct cp_options *options = &alone->options;
	struct cp_alone_profile wanted = {
		directory, options->profile == CP_PROFILE_SHARING, options->line_use};
	int result;

	alone->realtime_ns = cp_clock_realtime();
	alone->start_ns = cp_clock_of_kernel();
	result = cp_count_alone(argv,
		&(struct cp_alone_run){.machines = alone->plan.machine,
			.nmachines = 1,
			.profile = options->profile == CP_PROFILE_NONE ? NULL : &wanted},
		launch, counted);
	alone->end_ns = cp_clock_of_kernel();
	return result;
}

/* Killed, or it executed another one, whose image has its pid. */
static void say_unseen(const char *program, int status)
{
	fprintf(stderr,
		"cachepeek: %s is not counted: %s before the simulator could tell its "
		"counts\n",
		program,
		WIFSIGNALED(status) ? "it was killed" : "it became another program");
}

bool cp_alone_possible(const char *program, struct cp_why *why)
{
	char directory[PATH_MAX] = "?", path[32];
	int fd = cp_program_open(program);
	const char *refused;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	refused = fd < 0 ? NULL : cp_sim_refuses(path);
	if (fd >= 0)
		close(fd);
	if (refused)
		snprintf(why->text, sizeof(why->text),
			"the simulated PMU does not run it: %s", refused);
	cp_alone_directory(directory, sizeof(directory));
	return !refused && cp_sim_may_write_code(why) &&
	       cp_sim_is_installed(directory, why) == 0;
}

int cp_alone_record(
	char **argv, char *const added[], const char *directory, struct cp_launch *launch)
{
	static struct cp_counted_alone counted;
	struct alone *alone = calloc(1, sizeof(*alone));
	int result, written;

	if (!alone)
		return -ENOMEM;
	alone->arena.give_up = end_without_memory;
	read_options(&alone->options, added);
	make_plan(alone);
	result = run(alone, argv, directory, launch, &counted);
	if (result == 0 && counted.seen) {
		written = write_record(alone, argv, directory, launch, counted.count[0]);
		if (written < 0)
			fprintf(stderr, "cachepeek: no run record in %s: %s\n", directory,
				strerror(-written));
		cp_launch_note(launch, directory);
	}
	if (result == 0 && !counted.seen)
		say_unseen(argv[0], launch->status);
	cp_arena_free(&alone->arena);
	free(alone);
	return result;
}
