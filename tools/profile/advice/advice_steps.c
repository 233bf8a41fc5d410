/* SPDX-License-Identifier: MIT
 *
 * The rules about how the lines that an instruction fetches follow one another: more
 * streams in step than the DTLB has entries, and records that lie on two lines.
 */
#include <string.h>

#include "base/text.h"
#include "base/counts.h"
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/model/line_use.h"
#include "tools/profile/model/rows.h"

/* The share of a line's fetches: while its page is known, a stream has one for each page.
 */
#define LOST_SHARE 0.5
/* The share of the DTLB's entries: the loop's other pages may have the rest, or the
 * streams' be in few of its sets. */
#define STREAMS_SHARE 0.5
/* Per thousand instructions: at the 7 cycles and more that STLBs take, a hundredth of a
 * cycle for each. */
#define LOST_RATE 1.0
/* Where one instruction meets both lines, half of its misses are of the second one. */
#define PAIRED_SHARE 0.375
#define STRIDED_MOST 0.5 /* of its misses at one distance: that is a walk */

struct search {
	const struct cp_profile *profile;
	uint64_t all; /* misses of that kind */
	void (*add)(void *context, struct cp_finding finding);
	void *context;
};

/* The sums of an instruction, in all threads and processes. */
struct sum {
	uint64_t asked, in_step, lost, walks, pairs;
	bool first; /* none before it tells the same */
};

static uint64_t count_of(const struct cp_profiled_site *site, unsigned counter)
{
	return site->count[counter - CP_PROFILE_FIRST];
}

static uint64_t lost_by(const struct cp_profiled_site *site)
{
	return count_of(site, CP_SIM_dtlb_load_misses) +
	       count_of(site, CP_SIM_dtlb_store_misses);
}

static const char *number(const struct search *s, uint64_t value)
{
	return cp_text_integer(s->profile->arena, value);
}

static struct sum sum_over_threads(const struct search *s,
	const struct cp_profiled_site *site,
	bool (*is)(const struct cp_profile *profile, const struct cp_profiled_site *site))
{
	struct sum sum = {.first = true};

	for (size_t i = 0; i < s->profile->nsites; i++) {
		const struct cp_profiled_site *twin = &s->profile->sites[i];

		if (!cp_is_same_instruction(&site->at, &twin->at) ||
			!is(s->profile, twin))
			continue;
		sum.first &= twin >= site;
		sum.asked += twin->asked;
		sum.in_step += twin->steps->in_step;
		sum.pairs += twin->steps->pairs;
		sum.lost += lost_by(twin);
		sum.walks += count_of(twin, CP_SIM_dtlb_load_walks) +
			     count_of(twin, CP_SIM_dtlb_store_walks);
	}
	return sum;
}

const struct cp_profiled_object *cp_missed_data(
	const struct cp_profile *profile, const struct cp_profiled_site *site)
{
	const struct cp_profiled_object *most = NULL;
	uint64_t misses = 0;

	for (size_t i = 0; i < profile->nobjects; i++) {
		const struct cp_profiled_object *object = &profile->objects[i];

		for (size_t k = 0, at = object->access; k < object->naccesses; k++) {
			const struct cp_profiled_site *of = &profile->accesses[at].site;
			uint64_t here = count_of(of, CP_SIM_l1d_load_misses) +
					count_of(of, CP_SIM_l1d_store_misses);

			at = profile->accesses[at].next;
			if (here <= misses || of->thread != site->thread ||
				!cp_is_same_instruction(&of->at, &site->at))
				continue;
			most = object;
			misses = here;
		}
	}
	return most;
}

/* "Heap: main, 4096 B (file.c:10)" */
static const char *data_text(
	const struct search *s, const struct cp_profiled_object *object)
{
	if (!*object->file)
		return object->name;
	return cp_text_format(s->profile->arena, "%s (%s:%u)", object->name,
		cp_base_name(object->file), object->line);
}

/* Is at most half of these misses of lines of its data of which less than three quarters
 * were used? */
bool cp_uses_whole_lines(const struct cp_profile *profile,
	const struct cp_profiled_site *site, uint64_t misses)
{
	const struct cp_profiled_object *data =
		profile->has_line_use ? cp_missed_data(profile, site) : NULL;
	struct cp_line_use use;

	return data && cp_line_use_of(data, &use) && 2 * use.sparse < misses;
}

/* ---- streams ---- */

bool cp_goes_in_step(const struct cp_profiled_site *site)
{
	return site->steps && site->steps->streams > 1 && site->asked &&
	       2 * site->steps->in_step >= site->asked;
}

static bool is_in_step(
	const struct cp_profile *profile, const struct cp_profiled_site *site)
{
	(void)profile;
	return cp_goes_in_step(site);
}

static bool are_too_many(const struct search *s, const struct cp_profiled_site *site,
	const struct sum *sum)
{
	uint64_t instructions = cp_profile_totals(s->profile).count[CP_SIM_instructions];

	return (double)site->steps->streams >=
		       STREAMS_SHARE * (double)s->profile->dtlb_entries &&
	       sum->lost >= CP_ADVICE_MISSES &&
	       (double)sum->lost >= CP_ADVICE_SHARE * (double)s->all &&
	       (double)sum->lost >= LOST_SHARE * (double)sum->asked &&
	       1000.0 * (double)sum->lost >= LOST_RATE * (double)instructions;
}

static const char *streams_evidence(const struct search *s,
	const struct cp_profiled_site *site, const struct sum *sum,
	const struct cp_profiled_object *data)
{
	return cp_text_format(s->profile->arena,
		"it goes through about %s streams in step%s%s: %s of its %s misses in "
		"L1D%s are of the line beside one that it missed %s such misses "
		"before. The DTLB has %s entries%s, so that pages lose theirs until "
		"their stream goes on: %s DTLB misses, %s for each line "
		"(%.1f %% of the run's), %s of them walks of the page table",
		number(s, site->steps->streams), data ? ", in " : "",
		data ? data_text(s, data) : "", number(s, sum->in_step),
		number(s, sum->asked), s->profile->prefetches ? CP_SPARED_TOO "," : "",
		number(s, site->steps->streams), number(s, s->profile->dtlb_entries),
		site->steps->streams < s->profile->dtlb_entries
			? ", of which other pages have some, or few sets are met"
			: "",
		number(s, sum->lost),
		cp_text_decimal(
			s->profile->arena, (double)sum->lost / (double)sum->asked),
		100 * (double)sum->lost / (double)s->all, number(s, sum->walks));
}

static const char *streams_advice(const struct search *s, const struct sum *sum)
{
	double left = (double)sum->asked * (double)s->profile->line /
		      (double)s->profile->page,
	       saved = (double)sum->lost - left;

	return cp_text_format(s->profile->arena,
		"Go through fewer streams at a time: block the loops, so that the inner one "
		"goes some lines or pages along one stream, split them, or interleave the "
		"arrays (an array of structures); or try huge pages. One stream at a "
		"time has a DTLB miss for each page, which saves up to %s of these; "
		"compare before and after by cachepeek diff.",
		number(s, saved > 0 ? cp_count_of(saved) : 0));
}

static void judge_streams(const struct search *s, const struct cp_profiled_site *site)
{
	const struct cp_profiled_object *data;
	struct sum sum;

	if (!cp_goes_in_step(site))
		return;
	sum = sum_over_threads(s, site, is_in_step);
	if (!sum.first || !are_too_many(s, site, &sum))
		return;
	data = cp_missed_data(s->profile, site);
	s->add(s->context, (struct cp_finding){
				   .rule = "streams",
				   .at = &site->at,
				   .data = data ? data->name : "",
				   .evidence = streams_evidence(s, site, &sum, data),
				   .threshold = cp_text_format(s->profile->arena,
					   "half as many streams as entries, of most of "
					   "its lines, a DTLB miss for each second line, "
					   "%.0f %% of the run's, and %.0f per thousand "
					   "instructions",
					   100 * CP_ADVICE_SHARE, LOST_RATE),
				   .advice = streams_advice(s, &sum),
				   .weight = (double)sum.lost,
			   });
}

void cp_advise_streams(const struct cp_profile *profile,
	void (*add)(void *context, struct cp_finding finding), void *context)
{
	struct search s = {profile, 0, add, context};

	if (!profile->line || !profile->page || !profile->dtlb_entries)
		return;
	for (size_t i = 0; i < profile->nsites; i++)
		s.all += lost_by(&profile->sites[i]);
	for (size_t i = 0; i < profile->nsites; i++)
		judge_streams(&s, &profile->sites[i]);
}

/* ---- records on two lines ---- */

static bool is_paired(
	const struct cp_profile *profile, const struct cp_profiled_site *site)
{
	return site->steps && site->steps->pair_size &&
	       site->steps->pair_size % profile->line == 0 &&
	       (double)site->steps->pairs >= PAIRED_SHARE * (double)site->asked &&
	       (double)site->strided < STRIDED_MOST * (double)site->asked;
}

static bool can_be_moved(const struct cp_profiled_object *data)
{
	return data && (data->data == CP_DATA_HEAP || data->data == CP_DATA_VARIABLE ||
			       data->data == CP_DATA_TLS || data->data == CP_DATA_MMAP);
}

/* Asks about both lines of its records: a prefetcher that brings the second one only when
 * the first is asked for spares misses, and fetches as much. */
static bool is_followed(const struct cp_profiled_object *data)
{
	struct cp_asked both = cp_asked_for(data);

	return cp_is_followed(&both);
}

/* Would what is used of two lines fit one?  It would if records are no larger than it;
 * of larger ones the bytes tell. */
static bool would_fit(const struct cp_profile *profile,
	const struct cp_profiled_site *site, const struct cp_profiled_object *data)
{
	struct cp_line_use use;

	if (!profile->has_line_use)
		return site->steps->pair_size == profile->line;
	return cp_line_use_of(data, &use) &&
	       2 * cp_line_use_bytes(&use) <= (double)profile->line;
}

static const char *pairs_evidence(const struct search *s,
	const struct cp_profiled_site *site, const struct sum *sum,
	const struct cp_profiled_object *data)
{
	uint64_t line = s->profile->line, at = site->steps->beside_at, apart, other;
	bool is_first = site->steps->beside > 0;

	apart = is_first ? (uint64_t)site->steps->beside
			 : 0 - (uint64_t)site->steps->beside;
	other = (at + (uint64_t)site->steps->beside) % line;
	return cp_text_format(s->profile->arena,
		"%s of its %s misses in L1D%s come right behind one %s bytes %s, on the "
		"line beside: in records of %s, a multiple of %s bytes apart, what is "
		"used together is at byte %s of one line and at byte %s of the next "
		"(%.1f %% of the run's misses)",
		number(s, sum->pairs), number(s, sum->asked),
		s->profile->prefetches ? CP_SPARED_TOO "," : "", number(s, apart),
		is_first ? "further" : "before", data_text(s, data),
		number(s, site->steps->pair_size), number(s, is_first ? at : other),
		number(s, is_first ? other : at),
		100 * (double)sum->pairs / (double)s->all);
}

static void judge_pairs(const struct search *s, const struct cp_profiled_site *site)
{
	const struct cp_profiled_object *data;
	struct sum sum;

	if (!is_paired(s->profile, site))
		return;
	sum = sum_over_threads(s, site, is_paired);
	if (!sum.first || sum.pairs < CP_ADVICE_MISSES ||
		(double)sum.pairs < CP_ADVICE_SHARE * (double)s->all)
		return;
	data = cp_missed_data(s->profile, site);
	if (!can_be_moved(data) || is_followed(data) ||
		!would_fit(s->profile, site, data))
		return;
	s->add(s->context,
		(struct cp_finding){
			.rule = "split-records",
			.at = &site->at,
			.data = data->name,
			.evidence = pairs_evidence(s, site, &sum, data),
			.threshold = cp_text_format(s->profile->arena,
				"%.1f %% of its misses in pairs at the same bytes of two "
				"lines, not %.0f %% at one distance, and %.0f %% of the "
				"run's",
				100 * PAIRED_SHARE, 100 * STRIDED_MOST,
				100 * CP_ADVICE_SHARE),
			.advice = cp_text_format(s->profile->arena,
				"Let each record begin on a line (aligned_alloc(%s, ...), "
				"alignas(%s); malloc aligns to 16), or move the fields that "
				"are used together, so that one line has them: it saves "
				"about %s misses, one of each two; compare before and after "
				"by cachepeek diff.",
				number(s, s->profile->line), number(s, s->profile->line),
				number(s, sum.pairs)),
			.weight = (double)sum.pairs,
		});
}

void cp_advise_pairs(const struct cp_profile *profile, uint64_t all,
	void (*add)(void *context, struct cp_finding finding), void *context)
{
	struct search s = {profile, all, add, context};

	if (!profile->line)
		return;
	for (size_t i = 0; profile->prefetches && i < profile->nsites; i++)
		s.all += cp_asked_of(&profile->sites[i]).spared_l1d;
	for (size_t i = 0; i < profile->nsites; i++)
		judge_pairs(&s, &profile->sites[i]);
}
