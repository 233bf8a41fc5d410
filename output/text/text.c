/* SPDX-License-Identifier: MIT */
#include "output/text/text.h"

#include <string.h>

#include "output/report/ended.h"
#include "output/report/job.h"
#include "output/text/text_parts.h"

#define AROUND_TABLE 16
#define FEWEST_ROWS 8
#define ROWS_OF_A_LOG 20

#define INDENT 11

void cp_text_labelled(struct cp_text *text, const char *label, const char *value)
{
	if (text->kept) {
		cp_answer_add(text->kept, label, value);
		return;
	}
	cp_out_format(
		text->out, text->colour ? "\033[1m%-*s\033[0m" : "%-*s", INDENT, label);
	cp_text_wrap(text->out, cp_text_safe(text->arena, cp_slice_of(value)), INDENT,
		INDENT, text->width);
}

static void print_command(struct cp_text *text)
{
	const struct cp_report *report = text->report;
	const char *words =
		cp_text_words(text->arena, report->command, report->narguments);

	cp_text_wrap(text->out,
		cp_text_format(text->arena, "cachepeek %s: %s", report->version,
			cp_text_cut(text->arena, words, CP_COMMAND_COLUMNS)),
		0, 2, text->width);
}

static void print_engine(struct cp_text *text)
{
	static const char *const names[] = {
		"none", "counters of the kernel (perf)", "simulated PMU (sim)"};
	const struct cp_report *report = text->report;
	const char *name = names[report->engine];

	cp_text_labelled(text, "engine",
		*report->why ? cp_text_format(text->arena, "%s: %s", name, report->why)
			     : name);
}

static const char *domain_text(const struct cp_report *report)
{
	if (strcmp(report->domain, "u") == 0)
		return "user mode only";
	return strcmp(report->domain, "k") == 0 ? "kernel mode only"
						: "user and kernel mode";
}

/* Lists what differs between runs that are to count the same everywhere. */
static void print_pinned(struct cp_text *text)
{
	const struct cp_report *report = text->report;
	const char *list = "";

	if (!report->pinned)
		return;
	for (size_t i = 0; i < report->nunpinned; i++)
		list = cp_text_listed(text->arena, list, report->unpinned[i]);
	cp_text_labelled(text, "pinned",
		report->nunpinned
			? cp_text_format(text->arena,
				  "environment, stack, "
				  "random numbers and time are the same in each run; "
				  "what may differ all the same: %s",
				  list)
			: "the counts of this program are the same in each run, "
			  "directory and environment");
}

static void print_counted(struct cp_text *text)
{
	const struct cp_report *report = text->report;
	bool simulated = report->engine == CP_ENGINE_SIM,
	     timed = simulated && report->total->seconds.status != CP_UNAVAILABLE;

	cp_text_labelled(text, "counted",
		cp_text_format(text->arena, "%s, from the library's constructor on%s",
			domain_text(report),
			timed       ? "; simulated; times and cycles "
				      "are estimated by a timing model"
			: simulated ? "; simulated, so times are not shown"
				    : ""));
}

/* Behind the numbers: who sees a second report knows them. */
static void print_limits(struct cp_text *text)
{
	char limits[CP_LIMITS];

	if (text->report->engine != CP_ENGINE_SIM)
		return;
	cp_report_limits(text->report, limits, sizeof(limits));
	cp_out_text(text->out, "\n");
	cp_text_labelled(text, "limits", cp_text_format(text->arena, "%s", limits));
}

static size_t count_processes(const struct cp_report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->nprocesses; i++)
		count += report->processes[i].folded ? report->processes[i].folded : 1;
	return count;
}

static size_t count_threads(const struct cp_report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->nprocesses; i++)
		count += cp_process_threads(&report->processes[i]);
	return count;
}

static void print_job(struct cp_text *text)
{
	const struct cp_job *job = text->report->job;

	cp_text_labelled(text, "ran",
		cp_text_format(text->arena, "%zu%s rank%s, %zu process%s, %zu thread%s%s",
			job->nranks,
			job->wanted ? cp_text_format(text->arena, " of %d", job->wanted)
				    : "",
			(job->wanted ? (size_t)job->wanted : job->nranks) == 1 ? "" : "s",
			job->nprocesses, job->nprocesses == 1 ? "" : "es",
			text->report->total->nthreads,
			text->report->total->nthreads == 1 ? "" : "s",
			job->ncut ? cp_text_format(text->arena,
					    "; %zu cut short, what they did until "
					    "then is counted",
					    job->ncut)
				  : ""));
}

static void print_ran(struct cp_text *text)
{
	const struct cp_report *report = text->report;
	const char *cut = cp_report_cut(text->arena, report);
	const struct cp_process *root = cp_report_root(report);
	size_t threads = count_threads(report), processes = count_processes(report);

	cp_text_labelled(text, "ran",
		cp_text_format(text->arena, "%zu process%s, %zu thread%s%s%s", processes,
			processes == 1 ? "" : "es", threads, threads == 1 ? "" : "s",
			root ? "; " : "",
			cut    ? cut
			: root ? cp_process_ended(text->arena, root)
			       : ""));
}

static void print_cost(struct cp_text *text)
{
	const struct cp_report *report = text->report;
	uint64_t total = 0, pair = 0;

	for (size_t i = 0; i < report->nprocesses; i++) {
		total += report->processes[i].overhead_ns;
		if (report->processes[i].pair_ns > pair)
			pair = report->processes[i].pair_ns;
	}
	if (!total && !pair)
		return;
	cp_text_labelled(text, "our cost",
		cp_text_format(text->arena, "%.3f ms at start and end%s",
			(double)total / 1e6,
			pair ? cp_text_format(text->arena,
				       ", %lu ns per execution of a region",
				       (unsigned long)pair)
			     : ""));
}

static bool any_unseen_end(const struct cp_report *report)
{
	for (size_t i = 0; i < report->nprocesses; i++)
		if (report->processes[i].unseen)
			return true;
	return false;
}

/* The regions end at their last boundary; this does not. */
static void print_totals(struct cp_text *text)
{
	const struct cp_report *report = text->report;
	const char *line = "of the whole tree, to its end (user and kernel mode):";

	if (!report->ntotals || !any_unseen_end(report))
		return;
	for (size_t i = 0; i < report->ntotals; i++)
		line = cp_text_format(text->arena, "%s%s %s %lu", line, i ? "," : "",
			report->totals[i].name, (unsigned long)report->totals[i].value);
	cp_text_labelled(text, "totals", line);
}

static void print_warnings(struct cp_text *text)
{
	const struct cp_report *report = text->report;

	if (report->nwarnings)
		cp_out_text(text->out, "\n");
	for (size_t i = 0; i < report->nwarnings; i++) {
		cp_out_text(text->out,
			text->colour ? "\033[1;33mwarning:\033[0m " : "warning: ");
		cp_text_wrap(text->out,
			cp_text_safe(text->arena, cp_slice_of(report->warnings[i])), 9, 9,
			text->width);
	}
}

/* The rows of a screen below the header, the headings and a prompt; a
 * small one scrolls.  Where there is none, as in a log: the costliest. */
static size_t rows_for(const struct cp_text_options *options)
{
	size_t height = options->height;

	if (options->whole)
		return 0;
	if (!height)
		return ROWS_OF_A_LOG;
	return height > AROUND_TABLE + FEWEST_ROWS ? height - AROUND_TABLE : FEWEST_ROWS;
}

/* The first part of "what is so: why: what to do". */
static const char *in_short(struct cp_text *text, const char *why)
{
	const char *colon = strstr(why, ": ");

	return colon ? cp_arena_copy(text->arena, why, (size_t)(colon - why)) : why;
}

/* Half-widths of the 95 % intervals of what is asked for most, as far as it is there. */
static const char *intervals_text(struct cp_text *text)
{
	static const char *const names[] = {"instructions", "l1d_misses", "l1i_misses",
		"l2_misses", "llc_misses", "dtlb_walks"};
	const char *line = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int q = cp_report_quantity(text->report, names[i]);
		const struct cp_count *count =
			q < 0 ? NULL : &text->report->total->counts[q];

		if (!count || count->status != CP_ESTIMATED || !count->value ||
			count->error < 0)
			continue;
		line = cp_text_format(text->arena, "%s%s %s ±%s %%", line,
			*line ? "," : "; 95 % intervals:", names[i],
			cp_text_decimal(
				text->arena, 100 * count->error / (double)count->value));
	}
	return line;
}

/* Behind those, metrics that tables have. */
static const char *metric_intervals(struct cp_text *text)
{
	const struct cp_report *report = text->report;
	const char *line = "";

	for (size_t i = 0; i < report->nmetrics; i++) {
		const struct cp_metric *metric = report->metrics[i];
		const char *interval = cp_text_interval(text, metric->name);
		bool column = false;

		for (size_t j = 0; j < metric->group->ncolumns; j++)
			column |=
				strcmp(metric->group->columns[j].name, metric->name) == 0;
		if (column && *interval)
			line = cp_text_format(
				text->arena, "%s, %s%s", line, metric->name, interval);
	}
	return line;
}

static void print_sampled(struct cp_text *text)
{
	cp_text_labelled(text, "sampled",
		cp_text_format(text->arena,
			"estimates for the machine below (CACHEPEEK_SAMPLE: %s), %s; "
			"instructions and calls are exact%s%s",
			text->report->sample, domain_text(text->report),
			intervals_text(text), metric_intervals(text)));
}

static void print_source(struct cp_text *text)
{
	const struct cp_report *report = text->report;
	const char *why = in_short(text, report->why);

	if (report->engine != CP_ENGINE_SIM) {
		print_engine(text);
		return;
	}
	if (*report->sample) {
		print_sampled(text);
		return;
	}
	cp_text_labelled(text, "simulated",
		cp_text_format(text->arena,
			"exact for the machine below, %s, "
			"not counted by this processor%s%s%s%s",
			domain_text(report), *why ? " (" : "", why,
			why == report->why ? "" : "; see cachepeek doctor",
			*why ? ")" : ""));
}

static size_t count_unavailable(const struct cp_report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->nmetrics; i++)
		count += report->total->metrics[i].value.status == CP_UNAVAILABLE;
	return count;
}

static void print_more(struct cp_text *text)
{
	size_t none = count_unavailable(text->report);

	cp_text_labelled(text, "more",
		cp_text_format(text->arena,
			"cachepeek report -v: limits and totals%s; -o x.html: a page",
			none ? cp_text_format(text->arena,
				       ", why %zu metric%s not available", none,
				       none == 1 ? " is" : "s are")
			     : ""));
}

static void print_ran_or_job(struct cp_text *text)
{
	if (text->report->job)
		print_job(text);
	else
		print_ran(text);
}

static void print_details(struct cp_text *text)
{
	cp_text_ranks(text);
	cp_text_sweep(text);
	cp_text_windows(text);
	cp_text_course(text);
	cp_text_notes(text);
}

void cp_text_answers(struct cp_text *text)
{
	cp_text_waits(text);
	cp_text_sweep_answer(text);
	cp_text_windows_answer(text);
	cp_text_course_answer(text);
}

/* The answer first, then what it was counted on. */
static void write_screen(struct cp_text *text)
{
	print_command(text);
	print_ran_or_job(text);
	print_source(text);
	print_totals(text);
	cp_text_answers(text);
	cp_text_regions(text);
	cp_text_processes(text);
	print_details(text);
	cp_out_text(text->out, "\n");
	if (*text->report->machine)
		cp_text_labelled(text, "machine", text->report->machine);
	print_pinned(text);
	cp_text_assumptions(text);
	print_more(text);
	print_warnings(text);
}

static void write_whole(struct cp_text *text)
{
	const char *cut = cp_report_cut(text->arena, text->report);

	print_command(text);
	if (cut)
		cp_text_labelled(text, "ended", cut);
	print_engine(text);
	if (*text->report->sample)
		print_sampled(text);
	if (*text->report->machine)
		cp_text_labelled(text, "machine", text->report->machine);
	print_pinned(text);
	print_counted(text);
	print_ran_or_job(text);
	print_cost(text);
	print_totals(text);
	cp_text_processes(text);
	cp_text_regions(text);
	print_details(text);
	print_limits(text);
	print_warnings(text);
}

void cp_text_write(struct cp_out *out, struct cp_arena *arena,
	const struct cp_report *report, const struct cp_text_options *options)
{
	struct cp_text text = {.out = out,
		.arena = arena,
		.report = report,
		.width = options->width ? options->width : 80,
		.rows = rows_for(options),
		.colour = options->colour,
		.whole = options->whole};

	if (text.whole)
		write_whole(&text);
	else
		write_screen(&text);
}
