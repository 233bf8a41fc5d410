/* SPDX-License-Identifier: MIT
 *
 * From the raw sums of a record to counts with a provenance.
 */
#include <string.h>

#include "base/format.h"
#include "output/report_parts.h"

#define KERNEL_SLICE_NS 4e6 /* perf_event_mux_interval_ms, its default */
#define MIN_SLICES 8        /* without an event, to say 0 */
#define SIM_TIME "wall time is simulator time"

/* One region, taken apart. */
struct raw {
	struct cp_report *report;
	const struct cp_record *record;
	uint64_t inclusive[CP_MAX_COUNTERS], children[CP_MAX_COUNTERS];
	const struct cp_spread *spreads;
	const struct cp_times *times;
	uint64_t calls;
	bool sim;
	bool elsewhere;   /* CP_REGION_ELSEWHERE */
	const char *gap;  /* why nothing was counted, or NULL */
	const char *part; /* why not everything was, or NULL */
};

/* How well the counters of one quantity were covered. */
struct cover {
	double coverage; /* of the term that was covered worst */
	double enabled, running;
	const char *reason; /* why there is no value, or NULL */
};

double cp_scaling_error(double value, double coverage, double running_ns)
{
	double slices = running_ns / KERNEL_SLICE_NS, seen = value * coverage;

	if (slices < 1)
		slices = 1;
	if (seen < 1)
		return 3 / coverage;
	return 2 * value * __builtin_sqrt((1 - coverage) * (1 / slices + 1 / seen));
}

static struct cp_count no_count(const char *reason)
{
	return (struct cp_count){.status = CP_UNAVAILABLE, .reason = reason, .error = -1};
}

void cp_counts_unavailable(
	struct cp_report *report, struct cp_count *counts, const char *reason)
{
	for (size_t i = 0; i < report->nquantities; i++)
		counts[i] = no_count(reason);
}

/* Nothing was seen, and few slices looked: that is not 0. */
static const char *not_seen(struct cp_report *report, const struct cover *cover)
{
	char text[120];
	size_t length;

	if (cover->coverage > 1 - CP_MIN_COVERAGE ||
		cover->running >= MIN_SLICES * KERNEL_SLICE_NS)
		return NULL;
	length = cp_format(text, sizeof(text),
		"none seen, but counted only %.2g %% of the time: too little to say 0",
		100 * cover->coverage);
	return cp_arena_copy(report->arena, text, length);
}

static const char *too_little(struct cp_report *report, double coverage)
{
	char text[100];
	size_t length = cp_format(text, sizeof(text),
		"counted %.2g %% of the time: too little to scale", 100 * coverage);

	return cp_arena_copy(report->arena, text, length);
}

static struct cover cover_of(
	const struct raw *raw, const struct cp_quantity_item *quantity)
{
	struct cover cover = {.coverage = 1};

	for (uint32_t i = 0; !raw->sim && i < quantity->nterms; i++) {
		const struct cp_times *times =
			&raw->times[raw->record->counters[quantity->terms[i].counter]
					    ->perf_group];
		double coverage =
			times->enabled ? (double)times->running / (double)times->enabled
				       : 0;

		if (!times->enabled)
			cover.reason = "the counter was not enabled";
		else if (!times->running)
			cover.reason = "never scheduled on the PMU";
		if (i && coverage >= cover.coverage)
			continue;
		cover.coverage = coverage > 1 ? 1 : coverage;
		cover.enabled = (double)times->enabled;
		cover.running = (double)times->running;
	}
	if (!cover.reason && cover.coverage < CP_MIN_COVERAGE)
		cover.reason = too_little(raw->report, cover.coverage);
	return cover;
}

static double factor_of(const struct raw *raw, uint32_t counter)
{
	const struct cp_times *times;

	if (raw->sim)
		return 1;
	times = &raw->times[raw->record->counters[counter]->perf_group];
	if (times->running >= times->enabled)
		return 1;
	return (double)times->enabled / (double)times->running;
}

/* The sum of a quantity's terms, exactly; false if it is no count. */
static bool sum_exactly(
	const struct cp_quantity_item *quantity, const uint64_t *values, uint64_t *sum)
{
	int64_t total = 0;

	for (uint32_t i = 0; i < quantity->nterms; i++) {
		uint64_t value = values[quantity->terms[i].counter];

		if (value > INT64_MAX ||
			__builtin_add_overflow(
				total, quantity->terms[i].sign * (int64_t)value, &total))
			return false;
	}
	*sum = (uint64_t)total;
	return total >= 0;
}

static bool sum_scaled(const struct raw *raw, const struct cp_quantity_item *quantity,
	const uint64_t *values, uint64_t *sum)
{
	double total = 0;

	for (uint32_t i = 0; i < quantity->nterms; i++) {
		uint32_t counter = quantity->terms[i].counter;

		total += quantity->terms[i].sign * (double)values[counter] *
			 factor_of(raw, counter);
	}
	if (!(total >= 0 && total < 9e18))
		return false;
	*sum = (uint64_t)(total + 0.5);
	return true;
}

static bool sum_terms(const struct raw *raw, const struct cp_quantity_item *quantity,
	bool scaled, const uint64_t *values, uint64_t *sum)
{
	return scaled ? sum_scaled(raw, quantity, values, sum)
		      : sum_exactly(quantity, values, sum);
}

static uint64_t exclusive_of(const struct raw *raw,
	const struct cp_quantity_item *quantity, bool scaled, uint64_t value)
{
	uint64_t own[CP_MAX_COUNTERS] = {0}, sum;

	for (uint32_t i = 0; i < quantity->nterms; i++) {
		uint32_t c = quantity->terms[i].counter;

		own[c] = raw->inclusive[c] > raw->children[c]
				 ? raw->inclusive[c] - raw->children[c]
				 : 0;
	}
	if (!sum_terms(raw, quantity, scaled, own, &sum))
		return 0;
	return sum < value ? sum : value;
}

static void set_status(
	struct cp_count *count, const struct raw *raw, const struct cover *cover)
{
	count->coverage = cover->coverage;
	count->covered = cover->running;
	count->wanted = cover->enabled;
	count->status = raw->sim ? CP_SIMULATED : CP_EXACT;
	if (cover->coverage < 1) {
		count->status = CP_SCALED;
		count->error = cp_scaling_error(
			(double)count->value, cover->coverage, cover->running);
	}
	if (raw->part) {
		count->status = CP_ESTIMATED;
		count->reason = raw->part;
	}
}

void cp_count_finish_calls(struct cp_count *count, uint64_t calls)
{
	double n = (double)calls, mean, variance;

	if (!count->calls_known || !calls || __builtin_isnan(count->squares)) {
		count->calls_known = false;
		return;
	}
	mean = count->call_mean = (double)count->value / n;
	variance = calls > 1 ? (count->squares - n * mean * mean) / (n - 1) : 0;
	count->call_stddev = variance > 0 ? __builtin_sqrt(variance) : 0;
}

/* The spread is of raw counts: scaled as the whole was. */
static void set_spread(struct cp_count *count, const struct raw *raw,
	const struct cp_quantity_item *quantity, const struct cp_spread *spread)
{
	uint64_t unscaled;
	double factor = 1;

	if (!raw->calls || raw->part || raw->elsewhere || spread->min > spread->max ||
		!(spread->sum_squares >= 0) || !__builtin_isfinite(spread->sum_squares))
		return;
	if (count->coverage < 1 && sum_exactly(quantity, raw->inclusive, &unscaled) &&
		unscaled)
		factor = (double)count->value / (double)unscaled;
	count->calls_known = true;
	count->call_min = (double)spread->min * factor;
	count->call_max = (double)spread->max * factor;
	count->squares = spread->sum_squares * factor * factor;
	cp_count_finish_calls(count, raw->calls);
}

static struct cp_count count_of(const struct raw *raw, uint32_t index, bool silent)
{
	const struct cp_quantity_item *quantity = raw->record->quantities[index];
	struct cp_count count = {.error = -1};
	struct cover cover;

	if (quantity->available == CP_QUANTITY_UNAVAILABLE || silent)
		return no_count(quantity->reason_length
					? quantity->text + quantity->name_length + 1
					: "not available on this PMU");
	if (raw->gap)
		return no_count(raw->gap);
	cover = cover_of(raw, quantity);
	if (cover.reason)
		return no_count(cover.reason);
	if (!sum_terms(raw, quantity, cover.coverage < 1, raw->inclusive, &count.value))
		return no_count("its terms do not add up to a count (less than nothing, "
				"or too much)");
	if (!count.value && (cover.reason = not_seen(raw->report, &cover)))
		return no_count(cover.reason);
	count.exclusive = exclusive_of(raw, quantity, cover.coverage < 1, count.value);
	set_status(&count, raw, &cover);
	set_spread(&count, raw, quantity, &raw->spreads[index]);
	return count;
}

/* The simulated PMU keeps a thread's counts in mirror, to its very end: later
 * than the library's last reading, and whether there was one or not. */
static void take_mirror(struct raw *raw, const struct cp_thread_item *thread)
{
	for (uint32_t i = 0; i < raw->record->header->ncounters; i++) {
		uint32_t m = raw->record->counters[i]->mirror;

		if (thread->mirror[m] < thread->base[m])
			raw->gap = "the simulator had not written the thread's counts";
		raw->inclusive[i] = thread->mirror[m] - thread->base[m];
		/* Regions end more often than time slices do. */
		if (raw->inclusive[i] < raw->children[i])
			raw->inclusive[i] = raw->children[i];
	}
}

static const char *open_reason(const char *how)
{
	if (strcmp(how, "running") == 0)
		return "the process is still running";
	if (strcmp(how, "killed") == 0)
		return "the process was killed";
	return "the thread was not seen to end";
}

/* What is known of a region that has not ended even once. */
static void take_open(struct raw *raw, const struct cp_region_item *item, const char *how)
{
	uint64_t enabled = 0;

	for (uint32_t i = 0; i < raw->record->header->nperf_groups; i++)
		enabled |= raw->times[i].enabled;
	if (raw->elsewhere)
		return;
	if (item->parent)
		raw->gap = "no execution of it had ended";
	else if (raw->sim || strcmp(how, "exec") == 0)
		return; /* the mirror knows; an exec takes a last reading */
	else if (!enabled)
		raw->gap = open_reason(how);
	else
		raw->part = "counted up to the last reading";
}

static void take_apart(struct raw *raw, const struct cp_region_item *item)
{
	const struct cp_record_header *header = raw->record->header;
	const struct cp_sum *sums = cp_region_sums(item);

	for (uint32_t i = 0; i < header->ncounters; i++) {
		raw->inclusive[i] = sums[i].inclusive;
		raw->children[i] = sums[i].children;
	}
	raw->spreads = cp_region_spreads(item, header->ncounters);
	raw->times = cp_region_times(item, header->ncounters, header->nquantities);
	raw->calls = item->calls;
	raw->sim = header->engine == CP_ENGINE_SIM;
	raw->elsewhere = item->flags & CP_REGION_ELSEWHERE;
	if (item->flags & CP_REGION_READ_FAILED)
		raw->part = "a reading failed: counts are incomplete";
}

static struct cp_value seconds_of(
	const struct raw *raw, const struct cp_region_item *item, const char *how)
{
	if (raw->sim)
		return cp_unavailable(SIM_TIME);
	if (!item->calls && item->parent && !raw->elsewhere)
		return cp_unavailable(raw->gap);
	if (!item->calls && !item->time_ns)
		return cp_unavailable(open_reason(how));
	return (struct cp_value){.value = (double)item->time_ns / 1e9,
		.status = item->calls || raw->elsewhere ? CP_EXACT : CP_ESTIMATED};
}

static const char *lost_reason(
	const struct cp_source *source, const struct cp_thread_item *thread)
{
	const struct cp_string_item *reason;

	if (!(thread->state & CP_THREAD_LOST))
		return NULL;
	reason = cp_record_string(&source->record, thread->reason);
	return reason ? reason->text : "its counters could not be opened";
}

static void count_all(
	const struct raw *raw, const struct cp_source *source, struct cp_count *counts)
{
	cp_counts_unavailable(raw->report, counts, "not asked for in this process");
	for (uint32_t i = 0; i < raw->record->header->nquantities; i++)
		if (source->quantity[i] != CP_NOT_NUMBERED)
			counts[source->quantity[i]] = count_of(raw, i, source->silent[i]);
}

/* What the region of many threads knows of them. */
static void take_folded(const struct cp_record *record, const struct cp_region_item *item,
	struct cp_region *region)
{
	const struct cp_record_header *header = record->header;
	const struct cp_folded *folded =
		(const void *)(cp_region_times(
				       item, header->ncounters, header->nquantities) +
			       header->nperf_groups);

	region->folded = true;
	if (item->item.size < cp_region_item_size(header->ncounters, header->nquantities,
				      header->nperf_groups) +
				      sizeof(*folded))
		return;
	region->nthreads = folded->threads;
	region->longest_ns = folded->longest_ns;
}

void cp_count_region(struct cp_report *report, const struct cp_source *source,
	const struct cp_region_item *item, const struct cp_thread_item *thread,
	const char *how, struct cp_region *region)
{
	struct raw raw = {.report = report, .record = &source->record};

	take_apart(&raw, item);
	if (raw.sim && !item->parent &&
		!(thread->state & (CP_THREAD_FOLDED | CP_THREAD_FOLDS)))
		take_mirror(&raw, thread);
	if (!item->calls)
		take_open(&raw, item, how);
	if (thread->state & CP_THREAD_LOST)
		raw.gap = lost_reason(source, thread);
	count_all(&raw, source, region->counts);
	region->calls = item->calls;
	region->flags = item->flags;
	region->time_ns = region->longest_ns = item->time_ns;
	region->children_ns = item->children_ns;
	region->seconds = seconds_of(&raw, item, how);
	region->nthreads = 1;
	if (thread->state & CP_THREAD_FOLDS)
		take_folded(&source->record, item, region);
}

/* Counts that no region has, from the raw counters by their index. */
static void count_bare(struct cp_report *report, const struct cp_source *source,
	const uint64_t mirror[CP_MIRROR_SIZE], struct cp_count *counts)
{
	static const struct cp_spread no_spreads[CP_MAX_QUANTITIES] = {{1, 0, 0}};
	const struct cp_record *record = &source->record;
	struct raw raw = {
		.report = report, .record = record, .spreads = no_spreads, .sim = true};

	for (uint32_t i = 0; i < record->header->ncounters; i++)
		raw.inclusive[i] = mirror[record->counters[i]->mirror];
	count_all(&raw, source, counts);
}

/* Of the whole process, where the engine knows: the simulated PMU does. */
void cp_count_process(
	struct cp_report *report, const struct cp_source *source, struct cp_count *counts)
{
	const struct cp_record_header *header = source->record.header;

	if (header->engine != CP_ENGINE_SIM)
		cp_counts_unavailable(report, counts, "counted from the constructor");
	else
		count_bare(report, source, header->process, counts);
}

/* What a thread has of counter c: all that it executed, since it was created. */
static uint64_t of_thread(
	const struct cp_record *record, const struct cp_thread_item *thread, uint32_t c)
{
	const struct cp_region_item *root = cp_record_region(record, thread->root);

	if (!(thread->state & (CP_THREAD_FOLDED | CP_THREAD_FOLDS)))
		return thread->mirror[record->counters[c]->mirror];
	return root ? cp_region_sums(root)[c].inclusive : 0;
}

void cp_count_unattributed(
	struct cp_report *report, const struct cp_source *source, struct cp_count *counts)
{
	const struct cp_record *record = &source->record;
	uint64_t left[CP_MIRROR_SIZE];

	if (record->header->engine != CP_ENGINE_SIM) {
		cp_counts_unavailable(report, counts, "counters are opened per thread");
		return;
	}
	memcpy(left, record->header->process, sizeof(left));
	for (uint32_t c = 0; c < record->header->ncounters; c++) {
		uint64_t *of = &left[record->counters[c]->mirror];

		for (size_t i = 0; i < record->nthreads; i++) {
			uint64_t one = of_thread(record, record->threads[i], c);

			*of -= one < *of ? one : *of;
		}
	}
	count_bare(report, source, left, counts);
}
