/* SPDX-License-Identifier: MIT
 *
 * cachepeek compare --machines a,b,c PROGRAM [arguments]: the same program on
 * several simulated machines, side by side.  One run does for all machines whose
 * smallest lines are the same; others need a run of their own, because a reference is
 * cut up into lines before it comes to a machine.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/files/directory.h"
#include "base/format.h"
#include "base/machine/clock.h"
#include "base/text.h"
#include "base/counters/compared.h"
#include "regions/record_read.h"
#include "regions/rundir.h"
#include "tools/runs/again.h"
#include "tools/runs/alone.h"
#include "tools/shared/check.h"
#include "tools/shared/cmd.h"
#include "tools/compare/compare.h"
#include "tools/runs/launch.h"
#include "tools/shared/outputs.h"
#include "tools/shared/place.h"
#include "tools/profile/model/fit.h"
#include "tools/runs/watch.h"
#include "tools/runs/preloading.h"

/* ---- what is asked for ---- */

struct settings {
	struct cp_comparison c;
	struct cp_output_list outputs;
	bool json, verbose;
};

/* A process of the program may have gone to another directory. */
static const char *from_anywhere(struct cp_comparison *c, const char *name)
{
	char path[PATH_MAX];

	if (!strchr(name, '/') || !realpath(name, path))
		return name;
	return cp_arena_copy(&c->arena, path, strlen(path));
}

static bool add_machine(struct cp_comparison *c, const char *name)
{
	struct cp_compared *compared = &c->of[c->nmachines];
	char error[256];

	if (c->nmachines == CP_MAX_MACHINES) {
		fprintf(stderr, "cachepeek: compare takes %d machines at most\n",
			CP_MAX_MACHINES);
		return false;
	}
	if (cp_machine_find(&compared->machine, name, error, sizeof(error)) < 0) {
		fprintf(stderr, "cachepeek: %s%s\n", error,
			strchr(name, '/') ? ""
					  : "; `cachepeek list machines` shows them");
		return false;
	}
	compared->asked = from_anywhere(c, name);
	if (strlen(compared->asked) + 1 >= CP_COMPARED_SIZE / CP_MAX_MACHINES) {
		fprintf(stderr, "cachepeek: %s: the name is too long: link to the file\n",
			name);
		return false;
	}
	c->nmachines++;
	return true;
}

static bool take_machines(void *context, const struct cp_arg *arg, const char *list)
{
	struct settings *settings = context;
	struct cp_comparison *c = &settings->c;
	const char *piece;
	size_t length;

	(void)arg;
	while ((piece = cp_next_piece(&list, ',', &length)))
		if (!add_machine(c, cp_arena_copy(&c->arena, piece, length)))
			return false;
	return true;
}

#define AT(kind, member) CP_ARG_AT(kind, struct settings, member)

static const struct cp_arg args[] = {
	{"machines", 'm', CP_ARG_BY(TAKE, take_machines, NULL)},
	{"groups", 'g', AT(TEXT, c.groups)},
	{"events", 'e', AT(TEXT, c.events)},
	{"output", 'o', AT(OUTPUT, outputs)},
	{"json", 0, AT(FLAG, json)},
	{"reproducible", 0, AT(OPTIONAL, c.reproducible)},
	{"sample", 0, AT(TEXT, c.sample)},
	{"verbose", 'v', AT(FLAG, verbose)},
	{.name = NULL},
};

/* The host's clock is that of the TSC then, which all runs are told. */
static void measure_nothing(struct cp_comparison *c)
{
	char error[256];

	cp_clock_measure_nothing();
	for (unsigned i = 0; i < c->nmachines; i++)
		cp_machine_find(&c->of[i].machine, c->of[i].asked, error, sizeof(error));
}

static bool parse_arguments(struct settings *settings, int argc, char **argv)
{
	struct cp_comparison *c = &settings->c;

	if (!cp_cmd_args(argc, argv, args, settings))
		return false;
	if (c->reproducible)
		measure_nothing(c);
	c->program = argv + optind;
	if (c->nmachines && optind < argc)
		return true;
	fprintf(stderr,
		"cachepeek: %s: cachepeek compare --machines NAME,... "
		"PROGRAM [arguments]\n",
		c->nmachines ? "no program to run" : "no machines to compare");
	return false;
}

/* Can machine i be in the run with those before it that are? */
static bool fits_in_run(const struct cp_comparison *c, unsigned i, unsigned run)
{
	for (unsigned j = 0; j < i; j++)
		if (c->of[j].run == run &&
			(c->of[j].machine.sampled != c->of[i].machine.sampled ||
				!cp_machine_shares_run(
					&c->of[j].machine, &c->of[i].machine)))
			return false;
	return true;
}

/* Numbers the runs. */
static void plan_runs(struct cp_comparison *c)
{
	for (unsigned i = 0; i < c->nmachines; i++) {
		unsigned run = 1;

		while (run <= c->nruns && !fits_in_run(c, i, run))
			run++;
		c->of[i].run = run;
		if (run > c->nruns)
			c->nruns = run;
	}
}

/* Machine `number` of the run. */
static struct cp_compared *machine_of(
	struct cp_comparison *c, unsigned run, unsigned number)
{
	for (unsigned i = 0; i < c->nmachines; i++)
		if (c->of[i].run == run && number-- == 0)
			return &c->of[i];
	return NULL;
}

/* ---- what each run sees and shows ---- */

static void tell_machines(struct cp_comparison *c, unsigned run)
{
	char names[CP_COMPARED_SIZE];
	size_t used = 0;

	for (unsigned i = 0; i < c->nmachines; i++)
		if (c->of[i].run == run)
			used += (size_t)snprintf(names + used, sizeof(names) - used,
				"%s,", c->of[i].asked);
	memset(names + used, ',', sizeof(names) - 1 - used);
	names[sizeof(names) - 1] = '\0';
	setenv(CP_COMPARED, names, 1);
	if (c->sample && machine_of(c, run, 0)->machine.sampled)
		setenv("CACHEPEEK_SAMPLE", c->sample, 1);
	else
		unsetenv("CACHEPEEK_SAMPLE");
}

/* ---- what each run counted ---- */

static void add_counts(struct cp_compared *compared, const uint64_t *count)
{
	for (unsigned i = 0; compared && i < CP_SIM_NCOUNTERS; i++)
		compared->count[i] += count[i];
}

static void add_parts(struct cp_compared *compared, const uint64_t *parts)
{
	for (unsigned i = 0; compared && parts && i < CP_SAMPLE_WORDS; i++)
		compared->parts[i] += parts[i];
}

/* Has the record what all machines of the run counted, and no other? */
static bool has_all_machines(
	struct cp_comparison *c, unsigned run, const struct cp_record *record)
{
	unsigned others = 0, sampled = 0;

	for (size_t i = 0; i < record->nmachines; i++) {
		others += record->machines[i]->number > 0;
		sampled += record->machines[i]->parts > 0;
	}
	if (machine_of(c, run, others + 1) || !machine_of(c, run, others))
		return false;
	return sampled == (machine_of(c, run, 0)->machine.sampled ? others + 1 : 0);
}

static void note_difference(struct cp_comparison *c, const char *what)
{
	for (size_t i = 0; i < c->ndiffers; i++)
		if (strcmp(c->differs[i], what) == 0)
			return;
	if (c->ndiffers < CP_COMPARED_DIFFERS)
		c->differs[c->ndiffers++] = cp_arena_copy(&c->arena, what, strlen(what));
}

/* Each process, on every machine of the run: else they are not comparable. */
static bool add_record(
	struct cp_comparison *c, unsigned run, const struct cp_record *record)
{
	if (!has_all_machines(c, run, record))
		return false;
	c->nprocesses += run == 1;
	for (size_t i = 0; i < record->nmetas; i++)
		if (cp_meta_is(record->metas[i], "unpinned"))
			note_difference(c, cp_meta_value(record->metas[i]));
	add_counts(machine_of(c, run, 0), record->header->process);
	for (size_t i = 0; i < record->nmachines; i++) {
		struct cp_compared *of = machine_of(c, run, record->machines[i]->number);

		add_counts(of, record->machines[i]->process);
		add_parts(of, cp_machine_parts(record->machines[i]));
	}
	return true;
}

/* n: how many records there are; 0 if one of them is not whole. */
struct reading {
	struct cp_comparison *c;
	unsigned run, n;
};

static bool read_record(void *context, int dir, const char *name)
{
	struct reading *reading = context;
	struct cp_record record;
	char error[256];

	if (cp_record_read(&reading->c->arena, dir, name, &record, error, sizeof(error)) <
		0) {
		fprintf(stderr, "cachepeek: %s: %s\n", name, error);
		return false;
	}
	if (add_record(reading->c, reading->run, &record)) {
		reading->n++;
		return false;
	}
	fprintf(stderr, "cachepeek: %s: not counted on all machines\n", name);
	reading->n = 0;
	return true;
}

static unsigned read_records(struct cp_comparison *c, unsigned run, const char *directory)
{
	struct reading reading = {c, run, 0};

	cp_directory_each(directory, ".rec", read_record, &reading);
	return reading.n;
}

/* ---- the runs ---- */

static int run_preloaded(struct cp_comparison *c, unsigned run, int terminal, int *status)
{
	char directory[CP_RUNDIR_SIZE], which[40] = "";
	struct cp_launch launch;
	struct cp_watch watch;
	int result = cp_launch_make_run(NULL, directory, sizeof(directory));

	if (result < 0) {
		fprintf(stderr, "cachepeek: no directory for the run: %s\n",
			strerror(-result));
		return result;
	}
	setenv("CACHEPEEK__LAUNCHER", directory, 1);
	unsetenv("CACHEPEEK__SCOPE"); /* no report but ours */
	tell_machines(c, run);
	if (c->nruns > 1)
		snprintf(which, sizeof(which), "run %u of %u: ", run, c->nruns);
	cp_watch_start(&watch, directory, which);
	cp_watch_show_on(&watch, terminal);
	result = cp_launch(&launch, c->program, &watch);
	*status = launch.status;
	if (result == 0 && read_records(c, run, directory) == 0)
		result = -ENODATA;
	cp_run_remove(directory);
	return result;
}

static int run_alone(struct cp_comparison *c, unsigned run, int *status)
{
	static struct cp_machine machines[CP_MAX_MACHINES];
	static struct cp_counted_alone counted;
	struct cp_launch launch = {0};
	const struct cp_sample_plan *sample;
	const struct cp_compared *compared;
	unsigned n = 0;
	int result;

	for (; (compared = machine_of(c, run, n)); n++)
		machines[n] = compared->machine;
	sample = machine_of(c, run, 0)->machine.sampled ? &machine_of(c, run, 0)->sample
							: NULL;
	result = cp_count_alone(c->program,
		&(struct cp_alone_run){machines, n, sample, NULL}, &launch, &counted);
	*status = launch.status;
	if (result == 0 && !counted.seen)
		result = -ENODATA;
	while (result == 0 && n-- > 0) {
		add_counts(machine_of(c, run, n), counted.count[n]);
		add_parts(machine_of(c, run, n), counted.parts[n]);
	}
	c->nprocesses += run == 1;
	return result;
}

static int complain_of_run(struct cp_comparison *c, unsigned run, int result)
{
	if (result == -ENODATA)
		fprintf(stderr, "cachepeek: the run of %s on %s was not counted\n",
			c->program[0], machine_of(c, run, 0)->machine.name);
	else if (result < 0)
		fprintf(stderr, "cachepeek: %s cannot be run: %s\n", c->program[0],
			strerror(-result));
	return result;
}

static int run_one(struct cp_comparison *c, unsigned run, long input)
{
	int status = 0, terminal = STDERR_FILENO, result;
	struct cp_again again;

	cp_again_begin(&again, input, run == 1);
	if (again.saved[1] >= 0)
		terminal = again.saved[1];
	result = c->alone ? run_alone(c, run, &status)
			  : run_preloaded(c, run, terminal, &status);
	cp_again_end(&again);
	if (run == 1)
		c->status = status;
	else if (result == 0 && status != c->status)
		fprintf(stderr,
			"cachepeek: the run on %s ended otherwise than the first: "
			"it may have done something else\n",
			machine_of(c, run, 0)->machine.name);
	return complain_of_run(c, run, result);
}

static void note_when_and_where(struct cp_comparison *c)
{
	struct timespec now;
	struct utsname host;

	if (clock_gettime(CLOCK_REALTIME, &now) == 0)
		c->realtime_ns =
			(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (uname(&host) == 0)
		cp_format(c->host, sizeof(c->host), "%s", host.nodename);
}

static int run_all(struct cp_comparison *c)
{
	long input = cp_keep_input();
	int result = 0;

	note_when_and_where(c);
	for (unsigned run = 1; run <= c->nruns && result == 0; run++)
		result = run_one(c, run, input);
	return result;
}

static int prepare_run(const struct cp_comparison *c)
{
	static char engine[] = "CACHEPEEK_ENGINE=sim";
	char *added[] = {engine, NULL};

	if (c->groups)
		setenv("CACHEPEEK_GROUPS", c->groups, 1);
	if (c->events)
		setenv("CACHEPEEK_EVENTS", c->events, 1);
	if (c->reproducible)
		setenv("CACHEPEEK_REPRODUCIBLE", c->reproducible, 1);
	unsetenv("CACHEPEEK_OUTPUT");
	unsetenv("CACHEPEEK_SWEEP"); /* and each machine is as it is */
	unsetenv("CACHEPEEK_WHAT_IF");
	unsetenv("CACHEPEEK_WORKING_SET");
	unsetenv("CACHEPEEK_PROFILE");
	unsetenv("CACHEPEEK_CALL_PATHS");
	unsetenv("CACHEPEEK_INTERVAL");
	return c->alone ? 0 : cp_prepare_preload(added);
}

/* ---- the result ---- */

static const struct {
	const char *ending;
	void (*write)(struct cp_comparison *, struct cp_out *);
} formats[] = {
	{".txt", cp_compare_text},
	{".json", cp_compare_json},
	{".csv", cp_compare_csv},
	{".html", cp_compare_html},
};

static void write_one(struct cp_output *output, int format, const void *document)
{
	struct settings *s = *(struct settings *const *)document;

	if (s->json)
		cp_compare_json(&s->c, &output->out);
	else if (format == 0 && !s->verbose && cp_output_is_stream(output))
		cp_compare_screen(&s->c, &output->out, cp_fit_terminal(output->out.fd));
	else
		formats[format].write(&s->c, &output->out);
}

static int write_result(struct settings *s)
{
	return cp_output_write_all(&s->outputs, CP_ENDINGS(formats), write_one, &s);
}

/* Before anything runs: what cannot be written is not worth the time. */
static bool can_write(struct settings *s)
{
	if (!s->outputs.count)
		s->outputs.count = 1; /* standard error */
	return cp_output_check_all("compare", &s->outputs,
		s->json ? (struct cp_endings){NULL, 0, 0} : CP_ENDINGS(formats));
}

static bool is_right(const struct cp_comparison *c)
{
	const struct cp_machine *others[CP_MAX_MACHINES + 1] = {NULL};
	const struct cp_wanted wanted = {.groups = c->groups,
		.events = c->events,
		.machine = c->of[0].asked,
		.others = others};

	for (unsigned i = 1; i < c->nmachines; i++)
		others[i - 1] = &c->of[i].machine;
	return cp_check_wanted(&wanted);
}

int cp_cmd_compare(int argc, char **argv)
{
	static struct settings settings;
	struct cp_comparison *const c = &settings.c;
	static struct cp_escape out_of_memory; /* as long as c points to it */

	if (CP_ESCAPE_SET(out_of_memory)) {
		cp_output_abandon();
		fprintf(stderr, "cachepeek: no memory\n");
		return 1;
	}
	c->arena.out_of_memory = &out_of_memory;
	if (!parse_arguments(&settings, argc, argv))
		return 2;
	if (!is_right(c) || !can_write(&settings))
		return 2;
	if (!cp_compare_plan_samples(c))
		return 2;
	c->lets = getenv("CACHEPEEK_LET");
	cp_compare_resolve(c);
	plan_runs(c);
	cp_compare_join_groups(c);
	c->alone = cp_can_be_preloaded(c->program[0]) == CP_STATIC;
	if (prepare_run(c) < 0)
		return 127;
	if (run_all(c) < 0 || write_result(&settings))
		return 1;
	return WIFEXITED(c->status) ? WEXITSTATUS(c->status) : 128 + WTERMSIG(c->status);
}
