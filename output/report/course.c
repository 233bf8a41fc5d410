/* SPDX-License-Identifier: MIT
 *
 * From the rows of a record's time series to what was counted in each interval.
 */
#include "output/report/course.h"
#include "base/search.h"

#include <string.h>

#include "output/report/report_parts.h"

#define NONE -1.0
#define LESS "less was counted than in the interval before"
#define LONGER                                                                            \
	"sampled: some executions lasted longer than an interval, and are counted where " \
	"they ended"

/* The sums so far of a line, row by row from its first one on. */
struct sums {
	const struct cp_region *region;
	size_t first;
	uint64_t *words; /* [nrows - first][block_words] */
	bool longer;     /* executions that were sampled lasted more than an interval */
};

struct work {
	struct cp_report *report;
	const struct cp_source *source;
	const struct cp_record *record;
	const struct cp_series_item *series;
	const struct cp_region *total;
	size_t nrows, nlines;
	const uint64_t **rows;
	struct sums *lines;
	struct sums *of_block[CP_SERIES_BLOCKS]; /* NULL: it is in no line */
	uint64_t grown[CP_MAX_READ]; /* by how much each counter did in an interval */
};

/* ---- rows ---- */

/* The row after that one (NULL: the first); NULL at the end, and at damage: blocks
 * never become fewer. */
static const uint64_t *next_row(const struct cp_series_item *series, const uint64_t *row)
{
	const uint64_t *start = series->rows[series->half],
		       *end = start + series->used[series->half] / 8;
	const uint64_t *next = row ? row + 2 + row[1] * series->block_words : start;

	if (end - next < 2 || next[1] > series->nblocks || (row && next[1] < row[1]) ||
		(uint64_t)(end - next) < 2 + next[1] * series->block_words)
		return NULL;
	return next;
}

static void find_rows(struct work *work)
{
	for (const uint64_t *row = next_row(work->series, NULL); row;
		row = next_row(work->series, row))
		work->nrows++;
	work->rows = cp_arena_alloc(
		work->report->arena, (work->nrows + 1) * sizeof(*work->rows));
	work->nrows = 0;
	for (const uint64_t *row = next_row(work->series, NULL); row;
		row = next_row(work->series, row))
		work->rows[work->nrows++] = row;
}

/* ---- lines ---- */

/* The region of the merged tree that this one of a thread's went into. */
static const struct cp_region *merged_region(
	const struct cp_region *total, const struct cp_region *region)
{
	const struct cp_region *parent;

	if (!region || !region->parent)
		return region ? total : NULL;
	parent = merged_region(total, region->parent);
	return parent ? cp_region_child_like(parent, region) : NULL;
}

static size_t item_index(const struct cp_record *record, uint64_t offset)
{
	const struct cp_region_item *item = cp_record_region(record, offset);

	return CP_IN_FRONT(record->nregions, i, !item || record->regions[i] < item);
}

/* Simulated threads are brought up to date when they end: the process's own block
 * is what the whole process has. */
static const struct cp_region *region_of_block(
	const struct work *work, uint64_t offset, struct cp_region *const *regions)
{
	bool sim = work->record->header->engine == CP_ENGINE_SIM;
	const struct cp_region *region;
	size_t index;

	if (!offset)
		return sim ? work->total : NULL;
	index = item_index(work->record, offset);
	if (index == work->record->nregions || !regions[index])
		return NULL;
	region = merged_region(work->total, regions[index]);
	return sim && region == work->total ? NULL : region;
}

/* The first row that has the block. */
static size_t first_row(const struct work *work, uint32_t block)
{
	return CP_IN_FRONT(work->nrows, i, work->rows[i][1] <= block);
}

static struct sums *line_of(
	struct work *work, const struct cp_region *region, uint32_t block)
{
	struct sums *line;

	for (size_t i = 0; i < work->nlines; i++)
		if (work->lines[i].region == region)
			return &work->lines[i];
	line = &work->lines[work->nlines];
	line->region = region;
	line->first = first_row(work, block);
	if (line->first == work->nrows)
		return NULL; /* younger than the last row */
	line->words = cp_arena_alloc(work->report->arena,
		(work->nrows - line->first) * work->series->block_words *
			sizeof(*line->words));
	work->nlines++;
	return line;
}

static void find_lines(struct work *work, struct cp_region *const *regions)
{
	work->lines = cp_arena_alloc(
		work->report->arena, (work->series->nblocks + 1) * sizeof(*work->lines));
	for (uint32_t b = 0; b < work->series->nblocks; b++) {
		const struct cp_region *region =
			region_of_block(work, work->series->blocks[b], regions);

		work->of_block[b] = region ? line_of(work, region, b) : NULL;
	}
}

static void add_up(struct work *work)
{
	uint32_t size = work->series->block_words;

	for (size_t r = 0; r < work->nrows; r++)
		for (uint32_t b = 0; b < work->rows[r][1]; b++) {
			const uint64_t *from = work->rows[r] + 2 + (size_t)b * size;
			struct sums *line = work->of_block[b];

			for (uint32_t i = 0; line && r >= line->first && i < size; i++)
				line->words[(r - line->first) * size + i] += from[i];
		}
}

/* ---- values ---- */

/* How much a word grew in the interval that row `at` of the line ends. */
static bool has_grown(const struct work *work, const struct sums *line, size_t at,
	uint32_t word, double *by)
{
	uint32_t size = work->series->block_words;
	uint64_t now = line->words[at * size + word],
		 before = at ? line->words[(at - 1) * size + word] : 0;

	*by = (double)(now - before);
	return now >= before;
}

/* One counter, scaled if it was on the PMU for a part of the time. */
static double counter_value(const struct work *work, const struct sums *line, size_t at,
	uint32_t counter, enum cp_status *status)
{
	const struct cp_record_header *header = work->record->header;
	uint32_t group = work->record->counters[counter]->perf_group;
	double count, enabled, running;

	if (!has_grown(work, line, at, counter, &count))
		return NONE;
	if (header->engine == CP_ENGINE_SIM)
		return count;
	if (header->reference[group] ||
		!has_grown(work, line, at, header->ncounters + 2 * group, &enabled) ||
		!has_grown(work, line, at, header->ncounters + 2 * group + 1, &running))
		return NONE;
	if (enabled <= running)
		return count;
	if (running < CP_MIN_COVERAGE * enabled)
		return NONE;
	*status = CP_SCALED;
	return count * enabled / running;
}

/* By how much each counter did; false: one has less than before. */
static bool count_growth(struct work *work, const struct sums *line, size_t at)
{
	uint32_t size = work->series->block_words;

	for (uint32_t i = 0; i < work->record->header->ncounters; i++) {
		uint64_t now = line->words[at * size + i],
			 before = at ? line->words[(at - 1) * size + i] : 0;

		if (now < before)
			return false;
		work->grown[i] = now - before;
	}
	return true;
}

/* Did more of the region end in an interval than the process did in it?  Executions are
 * counted where they end: some were longer, then. */
static bool is_longer(
	const struct work *work, const struct sums *line, const struct sums *whole)
{
	uint32_t word = cp_counter_at(work->record, CP_MIRROR_INSTRUCTIONS);
	double own, all;

	for (size_t r = line->first; r < work->nrows; r++)
		if (has_grown(work, line, r - line->first, word, &own) &&
			r >= whole->first &&
			has_grown(work, whole, r - whole->first, word, &all) && own > all)
			return true;
	return false;
}

static double value_at(const struct work *work, const struct sums *line, size_t at,
	const struct cp_quantity_item *quantity, enum cp_status *status)
{
	double sum = 0;

	for (uint32_t t = 0; t < quantity->nterms; t++) {
		double value =
			counter_value(work, line, at, quantity->terms[t].counter, status);

		if (value < 0)
			return NONE;
		sum += quantity->terms[t].sign * value;
	}
	return sum < 0 ? NONE : sum;
}

static void fill_sampled(struct work *work, const struct sums *from,
	const struct cp_quantity_item *quantity, struct cp_course_line *line,
	uint32_t index)
{
	size_t n = work->nrows - from->first;
	double *errors = cp_arena_alloc(work->report->arena, n * sizeof(*errors));
	const char *why = from->longer ? LONGER : NULL;

	for (size_t i = 0; i < n; i++) {
		struct cp_sampled_part part = {.none = why};

		if (!from->longer && count_growth(work, from, i))
			part = cp_sampled_part_of(work->record, quantity, work->grown);
		else if (!why)
			part.none = LESS;
		line->values[index][i] = part.none ? NONE : part.value;
		errors[i] = part.none ? NONE : part.error;
		why = part.none ? part.none : why;
	}
	line->status[index] = CP_ESTIMATED;
	line->errors[index] = errors;
	line->why[index] = why;
}

static void fill_quantity(struct work *work, const struct sums *from, uint32_t q,
	struct cp_course_line *line)
{
	const struct cp_quantity_item *quantity = work->record->quantities[q];
	uint32_t index = work->source->quantity[q];
	size_t n = work->nrows - from->first;

	if (!quantity->available || work->source->silent[q] ||
		index >= work->report->nquantities)
		return;
	line->values[index] =
		cp_arena_alloc(work->report->arena, n * sizeof(**line->values));
	if (cp_is_sampled(work->record, quantity)) {
		fill_sampled(work, from, quantity, line, index);
		return;
	}
	line->status[index] =
		work->record->header->engine == CP_ENGINE_SIM ? CP_SIMULATED : CP_EXACT;
	for (size_t i = 0; i < n; i++)
		line->values[index][i] =
			value_at(work, from, i, quantity, &line->status[index]);
}

static void fill_line(struct work *work, struct sums *from, struct cp_course_line *line)
{
	size_t n = work->report->nquantities;

	from->longer = work->record->header->sample_sets &&
		       is_longer(work, from, &work->lines[0]);

	line->region = from->region;
	line->first = from->first;
	line->values = cp_arena_alloc(work->report->arena, n * sizeof(*line->values));
	line->status = cp_arena_alloc(work->report->arena, n * sizeof(*line->status));
	line->errors = cp_arena_alloc(work->report->arena, n * sizeof(*line->errors));
	line->why = cp_arena_alloc(work->report->arena, n * sizeof(*line->why));
	for (uint32_t q = 0; q < work->record->header->nquantities; q++)
		fill_quantity(work, from, q, line);
}

static void fill_ends(const struct work *work, struct cp_course *course)
{
	uint64_t start = work->series->start_ns;

	course->ends =
		cp_arena_alloc(work->report->arena, work->nrows * sizeof(*course->ends));
	for (size_t r = 0; r < work->nrows; r++)
		course->ends[r] = work->rows[r][0] > start
					  ? (double)(work->rows[r][0] - start) / 1e9
					  : 0;
}

const struct cp_course *cp_course_of(struct cp_report *report,
	const struct cp_source *source, const struct cp_process *process,
	struct cp_region *const *regions)
{
	struct cp_course *course = cp_arena_alloc(report->arena, sizeof(*course));
	struct work *work = cp_arena_alloc(report->arena, sizeof(*work));

	work->report = report;
	work->source = source;
	work->record = &source->record;
	work->series = source->record.series;
	work->total = process->total;
	find_rows(work);
	find_lines(work, regions);
	add_up(work);
	course->asked_s = (double)work->series->asked_ns / 1e9;
	course->interval_s = (double)work->series->interval_ns / 1e9;
	course->simulated = source->record.header->engine == CP_ENGINE_SIM;
	course->dropped = work->series->dropped;
	course->npoints = work->nrows;
	course->start_ns = work->series->start_ns;
	fill_ends(work, course);
	course->nlines = work->nlines;
	course->lines = cp_arena_alloc(
		report->arena, (work->nlines + 1) * sizeof(*course->lines));
	for (size_t i = 0; i < work->nlines; i++)
		fill_line(work, &work->lines[i], &course->lines[i]);
	cp_course_spread(report, course, process->nthreads == 1);
	return work->nrows ? course : NULL;
}
