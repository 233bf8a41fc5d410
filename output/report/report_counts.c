/* SPDX-License-Identifier: MIT
 *
 * From the raw sums of a region to counts with a provenance.
 */
#include <string.h>

#include "base/counts.h"
#include "base/text.h"
#include "output/report/report_raw.h"

#define TOO_MUCH "its terms do not add up to a count (less than nothing, or too much)"

struct cp_count cp_no_count(const char *reason)
{
	return (struct cp_count){.status = CP_UNAVAILABLE, .reason = reason, .error = -1};
}

void cp_counts_unavailable(
	struct cp_report *report, struct cp_count *counts, const char *reason)
{
	for (size_t i = 0; i < report->nquantities; i++)
		counts[i] = cp_no_count(reason);
}

/* Has the time of some instructions been estimated by that of others?  Single executions
 * have none of their own then, and a sum of what was more and less than expected may be
 * less than nothing (tools/sim/request.h). */
static bool samples_time(const struct cp_raw *raw)
{
	static const enum cp_time_sample tell[] = {
		CP_UNTIMED_INSTRUCTIONS, CP_TIME_VARIANCE};

	for (uint32_t i = 0; i < raw->record->header->ncounters; i++)
		for (int t = 0; raw->inclusive[i] && t < 2; t++)
			if (strcmp(raw->record->counters[i]->name,
				    cp_time_sample_quantity(tell[t])) == 0)
				return true;
	return false;
}

/* The sum of a quantity's terms, exactly; false if it is no count. */
static bool sum_exactly(const struct cp_raw *raw, const struct cp_quantity_item *quantity,
	const uint64_t *values, uint64_t *sum)
{
	int64_t total = 0;
	bool below = false;

	for (uint32_t i = 0; i < quantity->nterms; i++) {
		uint64_t value = values[quantity->terms[i].counter];
		int64_t term;

		below |= value > INT64_MAX;
		if (__builtin_mul_overflow(
			    quantity->terms[i].sign, (int64_t)value, &term) ||
			__builtin_add_overflow(total, term, &total))
			return false;
	}
	if ((below || total < 0) && !samples_time(raw))
		return false;
	*sum = total < 0 ? 0 : (uint64_t)total;
	return true;
}

static bool sum_scaled(const struct cp_raw *raw, const struct cp_quantity_item *quantity,
	const uint64_t *values, uint64_t *sum)
{
	double total = 0;

	for (uint32_t i = 0; i < quantity->nterms; i++) {
		uint32_t counter = quantity->terms[i].counter;

		total += quantity->terms[i].sign * (double)values[counter] *
			 cp_raw_factor(raw, counter);
	}
	if (!(total >= 0 && total < 9e18))
		return false;
	*sum = (uint64_t)(total + 0.5);
	return true;
}

static bool sum_terms(const struct cp_raw *raw, const struct cp_quantity_item *quantity,
	bool scaled, const uint64_t *values, uint64_t *sum)
{
	return scaled ? sum_scaled(raw, quantity, values, sum)
		      : sum_exactly(raw, quantity, values, sum);
}

static uint64_t exclusive_of(const struct cp_raw *raw,
	const struct cp_quantity_item *quantity, bool scaled, uint64_t value)
{
	uint64_t own[CP_MAX_READ] = {0}, sum;

	for (uint32_t i = 0; i < quantity->nterms; i++) {
		uint32_t c = quantity->terms[i].counter;

		own[c] = (int64_t)(raw->inclusive[c] - raw->children[c]) > 0
				 ? raw->inclusive[c] - raw->children[c]
				 : 0;
	}
	if (!sum_terms(raw, quantity, scaled, own, &sum))
		return 0;
	return sum < value ? sum : value;
}

/* The factor that the raw counts were multiplied by. */
static double scale_of(const struct cp_count *count, const struct cp_raw *raw,
	const struct cp_quantity_item *quantity, const struct cp_cover *cover)
{
	uint64_t unscaled;

	if (cover->coverage < 1 &&
		sum_exactly(raw, quantity, raw->inclusive, &unscaled) && unscaled)
		return (double)count->value / (double)unscaled;
	return 1;
}

/* Executions of which none in a row of several was counted yet are taken for
 * the others' like; the error bar has both its causes. */
static void add_sampled(
	struct cp_count *count, const struct cp_raw *raw, uint32_t index, double scale)
{
	const struct cp_sampled *sampled = raw->sampled;
	const struct cp_chosen *chosen = &sampled->of[index];
	double share = (double)sampled->counted / (double)raw->calls,
	       tail = scale * cp_sampled_tail(sampled, raw->calls, (double)chosen->sum),
	       error = scale * cp_sampled_error(sampled, raw->calls, chosen),
	       scaled = count->error > 0 ? count->error : 0;

	tail += (double)count->value;
	if (!(tail < 9e18)) {
		*count = cp_no_count(TOO_MUCH);
		return;
	}
	count->value = cp_count_of(tail + 0.5);
	if (count->exclusive > count->value)
		count->exclusive = count->value;
	count->coverage *= share;
	count->wanted /= share;
	if (count->status == CP_ESTIMATED)
		return;
	count->status = CP_SCALED;
	count->error = __builtin_sqrt(error * error + scaled * scaled);
	if (error >= 0)
		return;
	count->status = CP_ESTIMATED;
	count->error = -1;
	count->reason = "too few of its executions were counted for an error bar";
}

static void set_status(
	struct cp_count *count, const struct cp_raw *raw, const struct cp_cover *cover)
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

/* A value of the timing model is an estimate at best. */
static void set_model(struct cp_count *count, const struct cp_quantity_item *quantity)
{
	if (quantity->available != CP_QUANTITY_ESTIMATED || count->status >= CP_ESTIMATED)
		return;
	count->status = CP_ESTIMATED;
	count->reason = quantity->text + quantity->name_length + 1;
}

/* Not scaled: its coverage is the share of the time on this kind of core. */
static void set_residency(struct cp_count *count, const struct cp_times *times)
{
	count->covered = (double)times->running;
	count->wanted = (double)times->enabled;
	count->coverage = times->enabled ? count->covered / count->wanted : 0;
	if (count->coverage > 1)
		count->coverage = 1;
}

void cp_count_finish_calls(struct cp_count *count, uint64_t calls)
{
	double n = (double)calls;

	if (!count->calls_known || !calls || !__builtin_isfinite(count->squares)) {
		count->calls_known = false;
		return;
	}
	count->call_mean = (double)count->value / n;
	count->call_stddev = calls > 1 ? __builtin_sqrt(count->squares / (n - 1)) : 0;
}

/* The spread is of raw counts: scaled as the whole was. */
static void set_spread(struct cp_count *count, const struct cp_raw *raw,
	const struct cp_spread *spread, double scale)
{
	if (!raw->calls || raw->part || raw->elsewhere || spread->min > spread->max ||
		!(spread->squares >= 0) || !__builtin_isfinite(spread->squares))
		return;
	count->calls_known = true;
	count->executions = raw->calls;
	count->call_min = (double)spread->min * scale;
	count->call_max = (double)spread->max * scale;
	count->squares = spread->squares * scale * scale;
	cp_count_finish_calls(count, raw->calls);
}

/* ---- groups that took turns ---- */

/* The error of the sum: those of its terms may all have the same sign. */
static struct cp_guess guess_quantity(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity)
{
	struct cp_guess sum = {0};

	for (uint32_t i = 0; i < quantity->nterms; i++) {
		uint32_t counter = quantity->terms[i].counter;
		struct cp_guess term = {.value = (double)raw->inclusive[counter]};

		if (cp_raw_takes_turns(raw, counter))
			term = cp_rotated_guess(
				raw->report, raw->record, raw->item, counter);
		sum.value += quantity->terms[i].sign * term.value;
		sum.error += term.error;
		sum.loose = term.loose ? term.loose : sum.loose;
		sum.none = term.none ? term.none : sum.none;
	}
	if (!(sum.value >= 0 && sum.value < 9e18))
		sum.none = TOO_MUCH;
	return sum;
}

/* No better than the share of time that each group had. */
static struct cp_count count_loosely(const struct cp_raw *raw,
	const struct cp_quantity_item *quantity, const struct cp_cover *cover,
	const char *why)
{
	struct cp_count count = {.error = -1, .status = CP_ESTIMATED, .reason = why};

	if (!sum_scaled(raw, quantity, raw->inclusive, &count.value))
		return cp_no_count(TOO_MUCH);
	count.exclusive = exclusive_of(raw, quantity, true, count.value);
	count.coverage = cover->coverage;
	return count;
}

static struct cp_count count_in_turns(const struct cp_raw *raw,
	const struct cp_quantity_item *quantity, const struct cp_cover *cover)
{
	struct cp_guess sum = guess_quantity(raw, quantity);
	struct cp_count count = {.error = -1};
	uint64_t by_time = 0;

	if (!sum.loose && sum.none)
		return cp_no_count(sum.none);
	if (sum.loose)
		count = count_loosely(raw, quantity, cover, sum.loose);
	if (sum.loose && count.status == CP_UNAVAILABLE)
		return count;
	if (!sum.loose) {
		count.value = cp_count_of(sum.value + 0.5);
		sum_scaled(raw, quantity, raw->inclusive, &by_time);
		count.exclusive = exclusive_of(raw, quantity, true, by_time);
		if (by_time)
			count.exclusive = cp_count_of(
				(double)count.exclusive / (double)by_time * sum.value);
		set_status(&count, raw, cover);
		count.error = sum.error;
	}
	count.covered = cover->running;
	count.wanted = cover->enabled;
	return count;
}

static struct cp_count count_here(const struct cp_raw *raw, uint32_t index, bool silent)
{
	const struct cp_quantity_item *quantity = raw->record->quantities[index];
	struct cp_count count = {.error = -1};
	struct cp_cover cover;
	double scale;

	if (quantity->available == CP_QUANTITY_UNAVAILABLE || silent) {
		const char *reason = quantity->text + quantity->name_length + 1;

		count = cp_no_count(
			quantity->reason_length ? reason : "not available on this PMU");
		count.shared = cp_starts_with(count.reason, CP_IN_PASS);
		return count;
	}
	if (raw->gap)
		return cp_no_count(raw->gap);
	if (cp_is_sampled(raw->record, quantity))
		return raw->item ? cp_count_sampled(raw, quantity)
				 : cp_no_count("sampled in each thread by itself");
	cover = cp_raw_cover(raw, quantity);
	if (cover.reason)
		return cp_no_count(cover.reason);
	if (cover.coverage < 1 && cp_raw_any_takes_turns(raw, quantity))
		return count_in_turns(raw, quantity, &cover);
	if (!sum_terms(raw, quantity, cover.coverage < 1, raw->inclusive, &count.value))
		return cp_no_count(TOO_MUCH);
	if (!count.value && (cover.reason = cp_raw_not_seen(raw->report, &cover)))
		return cp_no_count(cover.reason);
	count.exclusive = exclusive_of(raw, quantity, cover.coverage < 1, count.value);
	set_status(&count, raw, &cover);
	set_model(&count, quantity);
	scale = scale_of(&count, raw, quantity, &cover);
	if (raw->sampled)
		add_sampled(&count, raw, index, scale);
	if (cp_raw_tells_residency(raw, quantity))
		set_residency(&count, cp_raw_tells_residency(raw, quantity));
	if (count.status < CP_ESTIMATED || !samples_time(raw))
		set_spread(&count, raw, &raw->spreads[index], scale);
	return count;
}

static bool is_of_socket(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity)
{
	for (uint32_t i = 0; i < quantity->nterms && !raw->sim; i++) {
		uint32_t counter = quantity->terms[i].counter;

		if (raw->record->header
				->socket[raw->record->counters[counter]->perf_group])
			return true;
	}
	return false;
}

static struct cp_count count_of(const struct cp_raw *raw, uint32_t index, bool silent)
{
	struct cp_count count = count_here(raw, index, silent);

	if (!is_of_socket(raw, raw->record->quantities[index]))
		return count;
	count.socket = true;
	count.of_socket = count.status;
	count.status = CP_UNAVAILABLE;
	count.reason = "it counts what a whole socket did, not one thread";
	return count;
}

static void count_all(
	const struct cp_raw *raw, const struct cp_source *source, struct cp_count *counts)
{
	cp_counts_unavailable(raw->report, counts, "not asked for in this process");
	for (uint32_t i = 0; i < raw->record->header->nquantities; i++)
		if (source->quantity[i] != CP_NOT_NUMBERED)
			counts[source->quantity[i]] = count_of(raw, i, source->silent[i]);
}

/* Takes the values that a region of many threads has kept of them. */
static void take_folded(const struct cp_record *record, const struct cp_region_item *item,
	struct cp_region *region)
{
	const struct cp_record_header *header = record->header;
	uint64_t size = cp_record_region_size(header);
	const struct cp_folded *folded = (const void *)((const char *)item + size);

	region->folded = true;
	if (item->item.size < size + sizeof(*folded))
		return;
	region->nthreads = folded->threads;
	region->longest_ns = folded->longest_ns;
}

void cp_count_region(struct cp_report *report, const struct cp_source *source,
	const struct cp_region_item *item, const struct cp_thread_item *thread,
	const char *how, struct cp_region *region)
{
	struct cp_raw raw = {.report = report, .record = &source->record};

	cp_raw_take(&raw, source, item, thread, how);
	count_all(&raw, source, region->counts);
	region->calls = item->calls;
	region->flags = item->flags;
	region->time_ns = region->longest_ns = cp_raw_time(&raw, item);
	region->children_ns = item->children_ns;
	region->seconds = cp_raw_seconds(&raw, item, how);
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
	struct cp_raw raw = {
		.report = report, .record = record, .spreads = no_spreads, .sim = true};

	for (uint32_t i = 0; i < record->header->ncounters; i++)
		if (record->counters[i]->mirror < CP_MIRROR_SIZE)
			raw.inclusive[i] = mirror[record->counters[i]->mirror];
	count_all(&raw, source, counts);
}

/* The whole process's count, where the engine has it: the simulated PMU does. */
void cp_count_process(
	struct cp_report *report, const struct cp_source *source, struct cp_count *counts)
{
	const struct cp_record_header *header = source->record.header;

	if (header->engine != CP_ENGINE_SIM)
		cp_counts_unavailable(report, counts, "counted from the constructor");
	else
		count_bare(report, source, header->process, counts);
}

/* A thread's counter c since the thread was created. */
static uint64_t of_thread(
	const struct cp_record *record, const struct cp_thread_item *thread, uint32_t c)
{
	const struct cp_region_item *root = cp_record_region(record, thread->root);

	if (!(thread->state & (CP_THREAD_FOLDED | CP_THREAD_FOLDS)))
		return cp_thread_mirror(thread, record->counters[c]->mirror);
	return root ? cp_region_sums(root)[c].inclusive +
			       cp_thread_mirror(thread, record->counters[c]->mirror)
		    : 0;
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
		uint32_t m = record->counters[c]->mirror;

		for (size_t i = 0; m < CP_MIRROR_SIZE && i < record->nthreads; i++) {
			uint64_t one = of_thread(record, record->threads[i], c);

			left[m] -= one < left[m] ? one : left[m];
		}
	}
	count_bare(report, source, left, counts);
}
