/* SPDX-License-Identifier: MIT
 *
 * cachepeek compare --machines a,b,c PROGRAM [arguments]: the same program on
 * several simulated machines, one run each, side by side.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "output/report.h"
#include "output/table.h"
#include "preload/machine.h"
#include "regions/rundir.h"
#include "tools/again.h"
#include "tools/cmd.h"
#include "tools/place.h"

#define MAX_MACHINES 16
#define MAX_ADDED 4
#define WIDTH 100

struct comparison {
	struct cp_arena arena;
	size_t nmachines, nadded;
	const char *names[MAX_MACHINES];
	const struct cp_report *reports[MAX_MACHINES];
	int status[MAX_MACHINES]; /* of wait(2) */
	char *added[MAX_ADDED + 1];
	const char *output;
};

/* ---- what is asked for ---- */

static const struct option long_options[] = {
	{"machines", required_argument, NULL, 'm'},
	{"groups", required_argument, NULL, 'g'},
	{"events", required_argument, NULL, 'e'},
	{"output", required_argument, NULL, 'o'},
	{NULL, 0, NULL, 0},
};

static bool add_machines(struct comparison *c, const char *list)
{
	const char *piece;
	size_t length;

	while ((piece = cp_next_piece(&list, ',', &length))) {
		struct cp_machine machine;
		char error[256];

		if (c->nmachines == MAX_MACHINES) {
			fprintf(stderr, "cachepeek: compare takes 16 machines at most\n");
			return false;
		}
		c->names[c->nmachines] = cp_arena_copy(&c->arena, piece, length);
		if (cp_machine_find(
			    &machine, c->names[c->nmachines], error, sizeof(error)) < 0) {
			fprintf(stderr, "cachepeek: %s%s\n", error,
				strchr(c->names[c->nmachines], '/')
					? ""
					: "; `cachepeek list machines` shows them");
			return false;
		}
		c->nmachines++;
	}
	return true;
}

static void add_variable(struct comparison *c, const char *name, const char *value)
{
	if (c->nadded < MAX_ADDED &&
		asprintf(&c->added[c->nadded], "%s=%s", name, value) >= 0)
		c->nadded++;
}

static bool parse(struct comparison *c, int argc, char **argv)
{
	int option;

	optind = 1;
	while ((option = cp_cmd_option(argc, argv, "+:m:g:e:o:", long_options)) != -1) {
		if (option == 'm' && !add_machines(c, optarg))
			return false;
		else if (option == 'g')
			add_variable(c, "CACHEPEEK_GROUPS", optarg);
		else if (option == 'e')
			add_variable(c, "CACHEPEEK_EVENTS", optarg);
		else if (option == 'o')
			c->output = optarg;
		else if (option != 'm')
			return false;
	}
	if (c->nmachines && optind < argc)
		return true;
	fprintf(stderr,
		"cachepeek: %s: cachepeek compare --machines NAME,... PROGRAM "
		"[arguments]\n",
		c->nmachines ? "no program to run" : "no machines to compare");
	return false;
}

/* ---- the runs ---- */

static const char *environment(const char *name)
{
	return getenv(name);
}

/* Of all runs after the first, nothing is seen. */
static int simulate(struct comparison *c, size_t i, char **argv, long input)
{
	char directory[CP_RUNDIR_SIZE], error[1024];
	const char *path = directory;
	struct cp_launch launch;
	int result;

	result = cp_run_make(environment, NULL, directory, sizeof(directory));
	if (result < 0) {
		fprintf(stderr, "cachepeek: no directory for the run: %s\n",
			strerror(-result));
		return result;
	}
	setenv("CACHEPEEK_MACHINE", c->names[i], 1);
	result = cp_run_again(&launch, directory, argv, input, i == 0);
	c->status[i] = launch.status;
	if (result == 0) {
		c->reports[i] =
			cp_report_build(&c->arena, &path, 1, error, sizeof(error));
		if (!c->reports[i])
			fprintf(stderr, "cachepeek: %s: %s\n", c->names[i], error);
	} else {
		fprintf(stderr, "cachepeek: %s cannot be run: %s\n", argv[0],
			strerror(-result));
	}
	cp_run_remove(directory);
	return result == 0 && !c->reports[i] ? -ENOENT : result;
}

static int simulate_all(struct comparison *c, char **argv)
{
	long input = cp_keep_input();
	int result = 0;

	for (size_t i = 0; i < c->nmachines && result == 0; i++) {
		result = simulate(c, i, argv, input);
		if (result == 0 && c->status[i] != c->status[0])
			fprintf(stderr,
				"cachepeek: the run on %s ended otherwise than the "
				"first: "
				"it may have done something else\n",
				c->names[i]);
	}
	return result;
}

/* ---- the table ---- */

static struct cp_value value_of(const struct cp_report *report, const char *name)
{
	int metric = cp_report_metric(report, name),
	    quantity = cp_report_quantity(report, name);
	const struct cp_count *count;

	if (metric >= 0)
		return report->total->metrics[metric].value;
	if (quantity < 0)
		return cp_unavailable("not asked for");
	count = &report->total->counts[quantity];
	if (count->status == CP_UNAVAILABLE)
		return cp_unavailable(count->reason);
	return (struct cp_value){.value = (double)count->value, .status = count->status};
}

static bool is_anywhere(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->nmachines; i++)
		if (value_of(c->reports[i], name).status != CP_UNAVAILABLE)
			return true;
	return false;
}

static const char *cell(
	struct comparison *c, const struct cp_metric *metric, struct cp_value value)
{
	bool share = metric && strcmp(metric->unit, "ratio") == 0;
	const char *text;

	if (value.status == CP_UNAVAILABLE)
		return "\u2014";
	if (!metric)
		return cp_text_integer(&c->arena, (uint64_t)value.value);
	text = cp_text_decimal(&c->arena, value.value * (share ? 100 : 1));
	return share ? cp_text_format(&c->arena, "%s %%", text) : text;
}

static void set_row(struct comparison *c, struct cp_table *table, size_t row,
	const char *name, const struct cp_metric *metric)
{
	bool unit = metric && *metric->unit && strcmp(metric->unit, "ratio") != 0;

	cp_table_set(table, row, 0,
		unit ? cp_text_format(&c->arena, "%s [%s]", name, metric->unit) : name);
	for (size_t i = 0; i < c->nmachines; i++)
		cp_table_set(table, row, i + 1,
			cell(c, metric, value_of(c->reports[i], name)));
}

static void print_table(struct comparison *c, struct cp_out *out)
{
	const struct cp_report *report = c->reports[0];
	struct cp_table *table = cp_table_new(
		&c->arena, c->nmachines + 1, report->nquantities + report->nmetrics);
	size_t row = 0;

	table->left = 1;
	for (size_t i = 0; i < c->nmachines; i++)
		cp_table_heading(table, i + 1, c->names[i], "");
	for (size_t i = 0; i < report->nquantities; i++)
		if (is_anywhere(c, report->quantities[i]))
			set_row(c, table, row++, report->quantities[i], NULL);
	for (size_t i = 0; i < report->nmetrics; i++)
		if (is_anywhere(c, report->metrics[i]->name))
			set_row(c, table, row++, report->metrics[i]->name,
				report->metrics[i]);
	table->nrows = row;
	cp_table_print(table, out, WIDTH, false);
}

static void print(struct comparison *c, struct cp_out *out, char **argv)
{
	cp_out_format(out, "cachepeek %s: %s on %zu simulated machines, one run each\n\n",
		CP_VERSION, argv[0], c->nmachines);
	for (size_t i = 0; i < c->nmachines; i++)
		cp_text_wrap(out, c->reports[i]->machine, 0, 2, WIDTH);
	cp_out_text(out, "\n");
	print_table(c, out);
	cp_out_text(out,
		"\n\u2014: the machine has no such level, or the simulated PMU does not "
		"count it\n");
}

static int write_table(struct comparison *c, char **argv)
{
	bool standard = c->output && strcmp(c->output, "-") == 0;
	bool file = c->output && !standard && strcmp(c->output, "stderr") != 0;
	int fd = standard ? STDOUT_FILENO : STDERR_FILENO, error;
	struct cp_out out;

	if (file)
		fd = open(c->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		fprintf(stderr, "cachepeek: %s: %s\n", c->output, strerror(errno));
		return 1;
	}
	cp_out_open(&out, fd);
	print(c, &out, argv);
	error = cp_out_flush(&out);
	if (error)
		fprintf(stderr, "cachepeek: the table: %s\n", strerror(-error));
	return error ? 1 : 0;
}

int cp_cmd_compare(int argc, char **argv)
{
	static struct comparison c;
	char **program;

	if (!parse(&c, argc, argv))
		return 2;
	program = argv + optind;
	add_variable(&c, "CACHEPEEK_ENGINE", "sim");
	if (cp_prepare_preload(c.added) < 0)
		return 127;
	unsetenv("CACHEPEEK_OUTPUT");
	if (simulate_all(&c, program) < 0 || write_table(&c, program))
		return 1;
	return WIFEXITED(c.status[0]) ? WEXITSTATUS(c.status[0])
				      : 128 + WTERMSIG(c.status[0]);
}
