/* SPDX-License-Identifier: MIT
 *
 * The ranks of a job: how many threads each had, how long it ran, and how much of that
 * it was in MPI: those that wait for others are there long, and whom they wait for is
 * there least.
 */
#include <string.h>

#include "output/report/job.h"
#include "output/text/text_parts.h"

/* All of so many; of more, those that differ most. */
#define MAX_ROWS 12
#define MOST_UNLIKE 4

/* The columns of the table, and those before its times. */
enum { COLUMNS = 6, TIMES = 3 };

#define UNLIKE                                                                           \
	0.1 /* of a rank's time: from this difference on, one waits for another          \
	     */

static double mpi_share(const struct cp_job_rank *rank)
{
	double all = (double)rank->time_ns;

	return all > 0 ? (double)rank->mpi_ns / all : 0;
}

/* Can this rank's share be compared with others? */
static bool is_known(const struct cp_job_rank *rank)
{
	return rank->timed && rank->mpi_known && rank->time_ns;
}

static const char *seconds_text(struct cp_text *text, uint64_t ns, bool known)
{
	if (!known)
		return "\u2014";
	return cp_text_format(text->arena, "~%.3f", (double)ns / 1e9);
}

static void fill_row(struct cp_text *text, struct cp_table *table, size_t row,
	const struct cp_job_rank *rank)
{
	cp_table_set(table, row, 0, cp_text_format(text->arena, "%d", rank->rank));
	cp_table_set(table, row, 1, cp_text_integer(text->arena, rank->processes));
	cp_table_set(table, row, 2, cp_text_integer(text->arena, rank->threads));
	if (table->ncolumns == TIMES)
		return;
	cp_table_set(table, row, 3, seconds_text(text, rank->time_ns, rank->timed));
	cp_table_set(table, row, 4, seconds_text(text, rank->mpi_ns, rank->mpi_known));
	cp_table_set(table, row, 5,
		is_known(rank)
			? cp_text_format(text->arena, "~%.1f", 100 * mpi_share(rank))
			: "\u2014");
}

/* Lists the n that are in MPI least, then the n that are there most, of what is not
 * shown yet. */
static void show_extremes(const struct cp_job *job, bool *shown)
{
	size_t rows = job->nlisted > MAX_ROWS ? MOST_UNLIKE : MAX_ROWS;

	for (size_t i = 0; i < rows; i++) {
		const struct cp_job_rank *best = NULL;

		for (size_t j = 0; j < job->nlisted; j++) {
			const struct cp_job_rank *rank = &job->ranks[j];

			if (!shown[j] &&
				(!best || (i % 2 ? mpi_share(rank) > mpi_share(best)
						 : mpi_share(rank) < mpi_share(best))))
				best = rank;
		}
		if (best)
			shown[best - job->ranks] = true;
	}
}

/* Times that no rank has (the simulator's are not the program's) take no columns. */
static size_t columns_of(const struct cp_job *job)
{
	for (size_t i = 0; i < job->nlisted; i++)
		if (job->ranks[i].timed || job->ranks[i].mpi_known)
			return COLUMNS;
	return TIMES;
}

static void print_table(struct cp_text *text, const struct cp_job *job)
{
	static const char *const headings[COLUMNS][2] = {{"", "rank"}, {"", "processes"},
		{"", "threads"}, {"time", "s"}, {"in MPI", "s"}, {"in MPI", "%"}};
	struct cp_table *table = cp_table_new(text->arena, columns_of(job), MAX_ROWS);
	bool *shown = cp_arena_alloc(text->arena, job->nlisted * sizeof(*shown));
	size_t row = 0;

	show_extremes(job, shown);
	for (size_t i = 0; i < table->ncolumns; i++)
		cp_table_heading(table, i, headings[i][0], headings[i][1]);
	for (size_t i = 0; i < job->nlisted; i++)
		if (shown[i])
			fill_row(text, table, row++, &job->ranks[i]);
	table->nrows = row;
	cp_out_text(text->out, "\n");
	cp_table_print(table, text->out, text->width, false);
	if (row < job->nlisted)
		cp_out_format(
			text->out, "\u2026 and %zu more ranks\n", job->nlisted - row);
}

/* Finds the ranks that are in MPI least and most; false: it is not known of all ranks,
 * or there is one. */
static bool find_ends(const struct cp_job *job, const struct cp_job_rank **least,
	const struct cp_job_rank **most)
{
	*least = *most = job->ranks;
	for (size_t i = 0; i < job->nlisted; i++) {
		const struct cp_job_rank *rank = &job->ranks[i];

		if (!is_known(rank))
			return false;
		if (mpi_share(rank) < mpi_share(*least))
			*least = rank;
		if (mpi_share(rank) > mpi_share(*most))
			*most = rank;
	}
	return job->nlisted > 1;
}

void cp_text_waits(struct cp_text *text)
{
	const struct cp_job *job = text->report->job;
	const struct cp_job_rank *least, *most;

	if (!job || !find_ends(job, &least, &most))
		return;
	cp_text_labelled(text, "waits",
		mpi_share(most) - mpi_share(least) < UNLIKE
			? cp_text_format(text->arena,
				  "no rank much longer than another: "
				  "~%.1f to ~%.1f %% of their time is in MPI",
				  100 * mpi_share(least), 100 * mpi_share(most))
			: cp_text_format(text->arena,
				  "rank %d most, ~%.1f %% of its time is in MPI; "
				  "for rank %d, which is there least (~%.1f %%)",
				  most->rank, 100 * mpi_share(most), least->rank,
				  100 * mpi_share(least)));
}

void cp_text_ranks(struct cp_text *text)
{
	const struct cp_job *job = text->report->job;

	if (!job || !job->nlisted)
		return;
	print_table(text, job);
	if (text->whole) /* a screen has it on top */
		cp_text_waits(text);
}

/* ---- regions that some ranks have ---- */

static const char *list_of(struct cp_text *text, const struct cp_region *region)
{
	const char *list = "";

	for (size_t i = 0; i < region->nranks; i++)
		list = cp_text_listed(text->arena, list,
			cp_text_format(text->arena, "%d", region->entered[i]));
	return cp_text_format(
		text->arena, "rank%s %s", region->nranks == 1 ? "" : "s", list);
}

/* Inside a region that is named itself, nothing else can be expected. */
static bool is_few(const struct cp_report *report, const struct cp_region *region)
{
	return region->nranks <= CP_FEW_RANKS && region->nranks < report->total->nranks;
}

void cp_text_entered(struct cp_text *text)
{
	const struct cp_report *report = text->report;
	size_t lines = 0;

	for (const struct cp_region *r = report->total; r;
		r = cp_region_next(report->total, r)) {
		if (!is_few(report, r) || (r->parent && is_few(report, r->parent) &&
						  r->parent->nranks == r->nranks))
			continue;
		if (lines == 0)
			cp_out_text(text->out, "\nregions of some ranks only\n");
		if (lines++ < MAX_ROWS)
			cp_text_wrap(text->out,
				cp_text_format(text->arena, "%s: %s",
					cp_text_path(text, r), list_of(text, r)),
				0, 2, text->width);
	}
	if (lines > MAX_ROWS)
		cp_out_format(text->out, "\u2026 and %zu more\n", lines - MAX_ROWS);
}
