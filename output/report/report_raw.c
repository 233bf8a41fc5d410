/* SPDX-License-Identifier: MIT
 *
 * Reads what a record says of one region.
 */
#include <string.h>

#include "base/counts.h"
#include "base/text.h"
#include "output/report/report_raw.h"

#define SIM_TIME "wall time is simulator time"
#define NO_CLOCK "the machine file names no clock-mhz"
#define NS 1e9

/* The simulated PMU keeps a thread's counts in mirror, to its very end: later
 * than the library's last reading, and whether there was one or not. */
static void take_mirror(struct cp_raw *raw, const struct cp_thread_item *thread)
{
	for (uint32_t i = 0; i < raw->record->header->ncounters; i++) {
		uint32_t m = raw->record->counters[i]->mirror;

		uint64_t base = cp_thread_base(thread, m),
			 counted = cp_thread_mirror(thread, m);

		if (!cp_thread_is_written(raw->record->header, thread, m))
			raw->gap = "the simulator had not written the thread's counts";
		raw->inclusive[i] = counted - base;
		/* Regions end more often than time slices do. */
		if ((int64_t)(raw->inclusive[i] - raw->children[i]) < 0)
			raw->inclusive[i] = raw->children[i];
	}
}

static const char *open_reason(const struct cp_record *record, const char *how)
{
	if (strcmp(how, "running") == 0)
		return "the process is still running";
	if (strcmp(how, "killed") == 0)
		return "the process was killed";
	if (strcmp(how, "unknown") == 0)
		return "the process was not seen to end: "
		       "one that is killed does not tell, "
		       "nor one that makes the exit system call itself, "
		       "as Go programs do";
	if (cp_record_meta(record, "unseen_exit", NULL))
		return "the process made the exit system call itself, as Go programs do: "
		       "its last counts ended with it";
	return "the thread was not seen to end";
}

/* Takes the values of a region that has not ended even once. */
static void take_open(
	struct cp_raw *raw, const struct cp_region_item *item, const char *how)
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
		raw->gap = open_reason(raw->record, how);
	else
		raw->part = "counted up to the last reading";
}

static void take_sampled(struct cp_raw *raw, const struct cp_region_item *item)
{
	const struct cp_record_header *header = raw->record->header;
	const struct cp_sampled *sampled = cp_region_sampled(
		item, header->ncounters, header->nquantities, header->nperf_groups);

	if (!item->parent || item->calls == sampled->counted)
		return;
	if (cp_sampled_is_sound(sampled, header->nquantities, item->calls))
		raw->sampled = sampled;
	else
		raw->gap = "its record of the executions that were counted is damaged";
}

static void take_apart(struct cp_raw *raw, const struct cp_region_item *item)
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
	raw->item = item;
	raw->turns_ns = cp_rotated_time(raw->record, item);
	raw->sim = header->engine == CP_ENGINE_SIM;
	raw->elsewhere = item->flags & (CP_REGION_ELSEWHERE | CP_REGION_PARTS);
	if (item->flags & CP_REGION_READ_FAILED)
		raw->part = "a reading failed: counts are incomplete";
	if (header->flags & CP_RECORD_SPARSE)
		take_sampled(raw, item);
}

static const char *lost_reason(
	const struct cp_source *source, const struct cp_thread_item *thread)
{
	const struct cp_string_item *reason =
		cp_record_string(&source->record, thread->reason);

	return reason ? reason->text : "its counters could not be opened";
}

void cp_raw_take(struct cp_raw *raw, const struct cp_source *source,
	const struct cp_region_item *item, const struct cp_thread_item *thread,
	const char *how)
{
	take_apart(raw, item);
	if (raw->sim && !item->parent &&
		!(thread->state & (CP_THREAD_FOLDED | CP_THREAD_FOLDS)))
		take_mirror(raw, thread);
	if (!item->calls)
		take_open(raw, item, how);
	if (item->flags & CP_REGION_FUNCTION &&
		cp_record_meta(raw->record, "functions_untold", NULL))
		raw->gap = "where it began and ended could not be told from the stack";
	if (thread->state & CP_THREAD_LOST)
		raw->gap = lost_reason(source, thread);
}

/* ---- time ---- */

/* The cycles of the timing model by the machine's clock. */
static struct cp_value simulated_seconds(const struct cp_raw *raw)
{
	const char *clock = cp_record_meta(raw->record, "clock", NULL), *end;
	uint64_t hz;

	if (!clock)
		return cp_unavailable(SIM_TIME);
	if (cp_parse_u64_prefix(clock, &end, &hz) < 0 || *end || !hz)
		return cp_unavailable(NO_CLOCK);
	for (uint32_t i = 0; i < raw->record->header->ncounters; i++)
		if (strcmp(raw->record->counters[i]->name, "cycles") == 0)
			return (struct cp_value){
				.value = (double)raw->inclusive[i] / (double)hz,
				.status = CP_ESTIMATED};
	return cp_unavailable(SIM_TIME);
}

uint64_t cp_raw_time(const struct cp_raw *raw, const struct cp_region_item *item)
{
	double ns = (double)item->time_ns;

	if (raw->sim)
		return cp_count_of(simulated_seconds(raw).value * NS);
	if (!raw->sampled)
		return item->time_ns;
	ns += cp_sampled_tail(raw->sampled, raw->calls, (double)raw->sampled->time_ns);
	return ns > 0 && ns < 9e18 ? (uint64_t)(ns + 0.5) : 0;
}

struct cp_value cp_raw_seconds(
	const struct cp_raw *raw, const struct cp_region_item *item, const char *how)
{
	if (raw->sim)
		return raw->gap ? cp_unavailable(raw->gap) : simulated_seconds(raw);
	if (!item->calls && item->parent && !raw->elsewhere)
		return cp_unavailable(raw->gap);
	if (!item->calls && !item->time_ns)
		return cp_unavailable(open_reason(raw->record, how));
	return (struct cp_value){.value = (double)cp_raw_time(raw, item) / 1e9,
		.status = raw->sampled                    ? CP_SCALED
			  : item->calls || raw->elsewhere ? CP_EXACT
							  : CP_ESTIMATED};
}
