/* SPDX-License-Identifier: MIT
 *
 * Estimates what the simulated PMU has sampled (CACHEPEEK_SAMPLE): from parts of a count
 * to the whole with a 95 % interval.
 *
 * First levels are counted in bursts.  The thread's beginning is counted in full; of the
 * rest, the ratio of counts to instructions in the bursts is taken for all instructions,
 * whose number is known.  Bursts were drawn into groups at random; how much the groups'
 * counts differ from what their instructions let expect tells how well the ratio is
 * known.
 *
 * L2 and what is behind it are counted all the time, in some groups of sets: the mean of
 * a group times the number of groups.
 *
 * Threads, processes and ranks are pooled before anything is estimated: 30 bursts of all
 * of them are enough.
 *
 * Of the misses in bursts some may be none: a burst's warming has not filled what they
 * filled (tools/sim/sample/sample.h).  What sampled sets tell of that counts
 * (report_kept.h); else the interval reaches from none of those to all of them.  If it is
 * as wide as the value there is no value.
 *
 * What no sample shows is allowed for: single sets that are like no other (a program's
 * stack is in a few).
 */
#include <string.h>

#include "base/stats.h"
#include "output/report/report_kept.h"
#include "output/report/report_raw.h"

#define MIN_GROUPS 14 /* of CP_SAMPLE_GROUPS: about as many as 30 bursts leave empty */
#define FEW_BURSTS                                                                       \
	"sampled: it was seen in fewer than about 30 bursts (CACHEPEEK_SAMPLE with a "   \
	"shorter period, or without)"

#define UNSURE                                                                           \
	"sampled: many misses may be none, since the plan's warm (CACHEPEEK_SAMPLE) is " \
	"too short to fill the caches or TLBs that count them: raise warm="

#define SAMPLED "sampled (CACHEPEEK_SAMPLE): error is half of its 95 % interval"
#define NOT_SAID "its record does not say how it was sampled"
#define DIFFERS "sampled in different ways in different processes"

#define ALLOWED_SHARE 0.005 /* of the value, on either side */
#define BURSTS_RATE 0.00003 /* of the instructions */
#define SETS_RATE 0.00005

enum kind { IN_FULL, IN_BURSTS, IN_SETS };

static enum kind kind_of(const struct cp_record *record, uint32_t counter)
{
	uint32_t mirror = record->counters[counter]->mirror;

	if (record->header->engine != CP_ENGINE_SIM || mirror < CP_MIRROR_SIZE)
		return IN_FULL;
	return mirror < CP_MIRROR_SIZE + CP_SAMPLE_BURSTS * CP_SAMPLE_PARTS ? IN_BURSTS
									    : IN_SETS;
}

bool cp_is_sampled(
	const struct cp_record *record, const struct cp_quantity_item *quantity)
{
	for (uint32_t i = 0; i < quantity->nterms; i++)
		if (kind_of(record, quantity->terms[i].counter) != IN_FULL)
			return true;
	return false;
}

/* ---- what there is of a thread ---- */

uint32_t cp_counter_at(const struct cp_record *record, uint32_t at)
{
	uint32_t i = 0;

	while (i < record->header->ncounters && record->counters[i]->mirror != at)
		i++;
	return i;
}

/* The parts of the terms of one kind, summed. */
static bool add_parts(const struct cp_record *record,
	const struct cp_quantity_item *quantity, const uint64_t *counts, enum kind kind,
	double parts[CP_SAMPLE_PARTS])
{
	bool any = false;

	for (uint32_t i = 0; i < quantity->nterms; i++) {
		uint32_t counter = quantity->terms[i].counter;

		if (kind_of(record, counter) != kind)
			continue;
		any = true;
		for (unsigned p = 0; p < (kind == IN_FULL ? 1 : CP_SAMPLE_PARTS); p++)
			parts[p] +=
				(p == CP_SAMPLE_UNSURE ? 1 : quantity->terms[i].sign) *
				(double)counts[counter + p];
	}
	return any;
}

/* Fills in what sampled sets tell of each of its terms, where the record has that. */
static void fill_kept(struct cp_pool *pool, const struct cp_record *record,
	const struct cp_quantity_item *quantity, const uint64_t *counts)
{
	enum { WORDS = CP_SAMPLE_HELP * CP_SAMPLE_PARTS };
	uint32_t all = record->header->ncounters,
		 first = CP_MIRROR_SIZE + CP_SAMPLE_WORDS - WORDS,
		 at = cp_counter_at(record, first);
	unsigned firsts = 0;

	for (uint32_t i = 0; i < quantity->nterms; i++) {
		uint32_t counter = quantity->terms[i].counter;

		if (kind_of(record, counter) == IN_BURSTS)
			firsts |= cp_sample_firsts(
				(record->counters[counter]->mirror - CP_MIRROR_SIZE) /
				CP_SAMPLE_PARTS);
	}
	if (all - at >= WORDS &&
		record->counters[at + WORDS - 1]->mirror == first + WORDS - 1)
		cp_kept_take(pool, counts + at, firsts);
}

static void fill_pool(struct cp_pool *pool, const struct cp_record *record,
	const struct cp_quantity_item *quantity, const uint64_t *counts)
{
	uint32_t none = record->header->ncounters,
		 all = cp_counter_at(record, CP_MIRROR_INSTRUCTIONS),
		 in = cp_counter_at(record, CP_MIRROR_SIZE);
	double exact[CP_SAMPLE_PARTS] = {0};

	pool->nsets = record->header->sample_sets;
	pool->ngroups = record->header->sample_groups;
	pool->instructions = all != none ? (double)counts[all] : 0;
	for (unsigned g = 0; in != none && g < CP_SAMPLE_GROUPS; g++)
		pool->in[g] = (double)counts[in + g];
	pool->full =
		in != none ? (double)counts[in + CP_SAMPLE_GROUPS] : pool->instructions;
	add_parts(record, quantity, counts, IN_FULL, exact);
	pool->exact = exact[0];
	pool->in_bursts = add_parts(record, quantity, counts, IN_BURSTS, pool->bursts);
	pool->in_sets = add_parts(record, quantity, counts, IN_SETS, pool->sets);
	if (pool->in_bursts)
		fill_kept(pool, record, quantity, counts);
}

/* ---- bursts ---- */

struct bursts {
	double all;      /* instructions that were not counted in full */
	double in;       /* of those, the ones in bursts */
	unsigned groups; /* that have any */
};

static struct bursts bursts_of(const struct cp_pool *pool)
{
	struct bursts b = {.all = pool->instructions - pool->full};

	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++) {
		b.in += pool->in[g];
		b.groups += pool->in[g] > 0;
	}
	return b;
}

/* So many of all misses may be none. */
static double unsure_of(const struct cp_pool *pool)
{
	struct bursts b = bursts_of(pool);

	return b.all > 0 && b.in > 0 ? b.all / b.in * pool->bursts[CP_SAMPLE_UNSURE] : 0;
}

double cp_pool_unsure(const struct cp_pool *pool)
{
	return cp_kept_share(pool).error * unsure_of(pool);
}

/* As far as is known, so many are. */
static double none_of(const struct cp_pool *pool)
{
	return (1 - cp_kept_share(pool).missed) * unsure_of(pool);
}

static struct cp_pooled from_bursts(const struct cp_pool *pool)
{
	struct bursts b = bursts_of(pool);
	struct cp_kept_fit fit = cp_kept_fit(pool, -1);
	struct cp_pooled e = {.value = pool->bursts[CP_SAMPLE_GROUPS]};
	double sum = 0, least;

	if (b.all <= 0)
		return e;
	if (b.groups < MIN_GROUPS)
		return (struct cp_pooled){.none = FEW_BURSTS};
	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++)
		sum += pool->bursts[g];
	e.value += cp_kept_sum(&fit, pool->bursts) - none_of(pool);
	e.square = cp_kept_square(&fit, pool->bursts);
	least = CP_UNSEEN * b.all / b.in;
	if (sum < 1 && e.square < least * least)
		e.square = least * least;
	return e;
}

/* ---- sets ---- */

static double square_of_sets(const struct cp_pool *pool)
{
	double n = pool->nsets, groups = pool->ngroups, sum = 0, squares = 0, error;

	for (unsigned g = 0; g < pool->nsets; g++)
		sum += pool->sets[g];
	for (unsigned g = 0; g < pool->nsets; g++)
		squares += (pool->sets[g] - sum / n) * (pool->sets[g] - sum / n);
	error = cp_student(n - 1) * groups / n *
		__builtin_sqrt(squares * n / (n - 1) * (1 - n / groups));
	return error * error;
}

static struct cp_pooled from_sets(const struct cp_pool *pool)
{
	double of = (double)pool->ngroups / pool->nsets, sum = 0;

	for (unsigned g = 0; g < pool->nsets; g++)
		sum += pool->sets[g];
	return (struct cp_pooled){.value = of * sum,
		.square =
			sum < 1 ? CP_UNSEEN * CP_UNSEEN * of * of : square_of_sets(pool)};
}

/* ---- together ---- */

static void allow_error(struct cp_pooled *e, double events)
{
	double share = ALLOWED_SHARE * e->value;

	e->square += share * share + events * events;
}

/* They tell too little of a value to have one.  No more than is allowed for anyway is no
 * harm. */
static bool is_too_unsure(const struct cp_pool *pool, double value)
{
	double unsure = cp_pool_unsure(pool);

	return 2 * unsure > value && unsure > BURSTS_RATE * pool->instructions;
}

static double with_unsure(double square, double unsure)
{
	double error = __builtin_sqrt(square) + unsure;

	return error * error;
}

struct cp_pooled cp_pool_estimate(const struct cp_pool *pool)
{
	struct cp_pooled e = {0}, more;

	if (!pool->nsets)
		return (struct cp_pooled){.none = NOT_SAID};
	if (pool->differs)
		return (struct cp_pooled){.none = DIFFERS};
	if (pool->in_bursts)
		e = from_bursts(pool);
	e.value += pool->exact;
	allow_error(&e, BURSTS_RATE * pool->instructions);
	if (!e.none && pool->in_sets) {
		more = from_sets(pool);
		allow_error(&more, SETS_RATE * pool->instructions);
		e.value += more.value;
		e.square += more.square;
	}
	if (!e.none && is_too_unsure(pool, e.value))
		return (struct cp_pooled){.none = UNSURE};
	e.square = with_unsure(e.square, cp_pool_unsure(pool));
	return e;
}

/* ---- of parts ---- */

double cp_pool_without(const struct cp_pool *pool, int burst, int set)
{
	struct cp_kept_fit fit = cp_kept_fit(pool, burst);
	double value = pool->exact + pool->bursts[CP_SAMPLE_GROUPS] - none_of(pool),
	       sets = 0, n = pool->nsets - (set >= 0);

	for (int g = 0; g < CP_SAMPLE_GROUPS; g++)
		sets += g == set ? 0 : pool->sets[g];
	if (pool->instructions > pool->full)
		value += cp_kept_sum(&fit, pool->bursts);
	return pool->in_sets && n > 0 ? value + pool->ngroups / n * sets : value;
}

/* As estimate does it for each kind. */
double cp_pool_unseen(const struct cp_pool *pool)
{
	struct bursts b = bursts_of(pool);
	double seen = 0, sets = 0, of_sets = SETS_RATE * pool->instructions;
	struct cp_pooled e = {0};

	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++) {
		seen += pool->bursts[g];
		sets += pool->sets[g];
	}
	e.value = cp_pool_without(pool, -1, -1);
	allow_error(&e, BURSTS_RATE * pool->instructions);
	if (pool->in_bursts && seen < 1 && b.in > 0 && b.all > 0)
		e.square += CP_UNSEEN * CP_UNSEEN * (b.all / b.in) * (b.all / b.in);
	if (pool->in_sets)
		e.square += of_sets * of_sets;
	if (pool->in_sets && sets < 1)
		e.square += CP_UNSEEN * CP_UNSEEN * pool->ngroups / pool->nsets *
			    pool->ngroups / pool->nsets;
	return e.square;
}

/* ---- of what is made of several ---- */

void cp_pool_mix(struct cp_pool *to, const struct cp_pool *from, double times)
{
	to->nsets = from->nsets;
	to->ngroups = from->ngroups;
	to->instructions = from->instructions;
	to->full = from->full;
	to->in_bursts |= from->in_bursts;
	to->in_sets |= from->in_sets;
	memcpy(to->in, from->in, sizeof(to->in));
	memcpy(to->kept, from->kept, sizeof(to->kept));
	to->kept_all = from->kept_all;
	for (unsigned p = 0; p < CP_SAMPLE_PARTS; p++) {
		to->bursts[p] += times * from->bursts[p];
		to->sets[p] += times * from->sets[p];
	}
}

double cp_pool_mixed_square(const struct cp_pool *mix)
{
	struct cp_kept_fit fit = cp_kept_fit(mix, -1);
	struct bursts b = bursts_of(mix);
	double square = 0;

	if (mix->in_bursts && b.all > 0 && b.groups > 1)
		square += cp_kept_square(&fit, mix->bursts);
	return mix->in_sets ? square + square_of_sets(mix) : square;
}

/* ---- of places ---- */

/* A pool with the parts of a place, of which as large a share may be none as of all. */
static struct cp_pool pool_of_place(
	const struct cp_pool *place, const struct cp_pool *all)
{
	struct cp_pool pool = *place;
	double value = cp_pool_without(place, -1, -1),
	       whole = cp_pool_without(all, -1, -1) + none_of(all);

	pool.bursts[CP_SAMPLE_UNSURE] =
		whole > 0 ? all->bursts[CP_SAMPLE_UNSURE] * value / whole : 0;
	return pool;
}

/* But all that may be none may be of that place. */
static double unsure_of_place(const struct cp_pool *pool, const struct cp_pool *all)
{
	double most = cp_pool_without(pool, -1, -1) + none_of(pool),
	       unsure = unsure_of(all);

	return (unsure < most ? unsure : most) - none_of(pool);
}

static bool is_in_few(const struct cp_pool *place, double value)
{
	struct bursts b = bursts_of(place);
	unsigned with = 0;

	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++)
		with += place->bursts[g] > 0;
	return b.all > 0 && with < MIN_GROUPS &&
	       2 * place->bursts[CP_SAMPLE_GROUPS] <= value;
}

/* The place's share of what may be wrong with the estimate of all, as a square. */
static double square_of_place(
	const struct cp_pool *pool, const struct cp_pool *all, double value)
{
	struct bursts b = bursts_of(pool);
	double whole = cp_pool_without(all, -1, -1), sum = 0, least,
	       share = whole > 0 ? value / whole : 0;
	struct cp_pooled e = {.value = value, .square = cp_pool_mixed_square(pool)};

	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++)
		sum += pool->bursts[g];
	least = b.all > 0 && b.in > 0 ? 3 * b.all / b.in : 0;
	if (sum < 1 && e.square < least * least)
		e.square = least * least;
	allow_error(&e, BURSTS_RATE * pool->instructions * share);
	return with_unsure(e.square, unsure_of_place(pool, all));
}

struct cp_pooled cp_pool_of_place(const struct cp_pool *place, const struct cp_pool *all)
{
	struct bursts b = bursts_of(place);
	struct cp_pool pool = pool_of_place(place, all);
	double value = cp_pool_without(&pool, -1, -1);

	if ((b.all > 0 && b.groups < MIN_GROUPS) || is_in_few(&pool, value))
		return (struct cp_pooled){.none = FEW_BURSTS};
	return (struct cp_pooled){
		.value = value, .square = square_of_place(&pool, all, value)};
}

struct cp_pooled cp_pool_share(const struct cp_pool *place, const struct cp_pool *all)
{
	struct cp_pool pool = pool_of_place(place, all), mix = {0};
	double total = cp_pool_without(all, -1, -1), unseen,
	       share = cp_pool_without(&pool, -1, -1) / total;
	struct cp_pooled e = {.value = share};

	cp_pool_mix(&mix, &pool, 1);
	cp_pool_mix(&mix, all, -share);
	/* It is not known which places have what no sample shows. */
	unseen = BURSTS_RATE * all->instructions / total *
		 __builtin_sqrt(share < 1 ? share * (1 - share) : 0);
	e.square = cp_pool_mixed_square(&mix) / total / total;
	allow_error(&e, unseen);
	e.square = with_unsure(e.square, unsure_of_place(&pool, all) / total);
	return e;
}

/* ---- counts ---- */

static double coverage_of(const struct cp_pool *pool)
{
	struct bursts b = bursts_of(pool);

	if (!pool->in_bursts)
		return pool->nsets / (double)pool->ngroups;
	return pool->instructions > 0 ? (b.in + pool->full) / pool->instructions : 0;
}

/* Regions inside are estimated by themselves; what remains is no more than all. */
static uint64_t exclusive_of(const struct cp_pool *own, uint64_t value)
{
	struct cp_pooled e = cp_pool_estimate(own);
	uint64_t exclusive = e.none ? value : cp_count_of(e.value + 0.5);

	return exclusive < value ? exclusive : value;
}

void cp_count_conclude(struct cp_count *count)
{
	const struct cp_pools *pools = count->pools;
	struct cp_pooled e = cp_pool_estimate(&pools->all);

	count->status = e.none ? CP_UNAVAILABLE : CP_ESTIMATED;
	count->reason = e.none ? e.none : SAMPLED;
	count->value = e.none ? 0 : cp_count_of(e.value + 0.5);
	count->error = e.none ? -1 : __builtin_sqrt(e.square);
	count->exclusive = exclusive_of(&pools->own, count->value);
	count->coverage = count->covered = e.none ? 0 : coverage_of(&pools->all);
	count->wanted = 1;
}

struct cp_count cp_count_sampled(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity)
{
	struct cp_pools *pools = cp_arena_alloc(raw->report->arena, sizeof(*pools));
	struct cp_count count = {.pools = pools};
	uint64_t own[CP_MAX_READ];

	memset(pools, 0, sizeof(*pools));
	for (uint32_t i = 0; i < raw->record->header->ncounters; i++)
		own[i] = raw->inclusive[i] > raw->children[i]
				 ? raw->inclusive[i] - raw->children[i]
				 : 0;
	fill_pool(&pools->all, raw->record, quantity, raw->inclusive);
	fill_pool(&pools->own, raw->record, quantity, own);
	cp_count_conclude(&count);
	return count;
}

struct cp_sampled_part cp_sampled_part_of(const struct cp_record *record,
	const struct cp_quantity_item *quantity, const uint64_t *counts)
{
	struct cp_pool pool = {0};
	struct cp_pooled e;

	fill_pool(&pool, record, quantity, counts);
	e = cp_pool_estimate(&pool);
	return (struct cp_sampled_part){e.value, __builtin_sqrt(e.square), e.none};
}

/* ---- of several threads ---- */

static void add_pool(struct cp_pool *to, const struct cp_pool *from)
{
	bool first = !to->nsets;

	to->differs |=
		from->differs ||
		(!first && (to->nsets != from->nsets || to->ngroups != from->ngroups));
	to->nsets = from->nsets;
	to->ngroups = from->ngroups;
	to->exact += from->exact;
	to->instructions += from->instructions;
	to->full += from->full;
	to->in_bursts |= from->in_bursts;
	to->in_sets |= from->in_sets;
	to->kept_all += from->kept_all;
	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++) {
		to->in[g] += from->in[g];
		to->kept[g] += from->kept[g];
		to->firsts[g] += from->firsts[g];
		to->missed[g] += from->missed[g];
	}
	for (unsigned p = 0; p < CP_SAMPLE_PARTS; p++) {
		to->bursts[p] += from->bursts[p];
		to->sets[p] += from->sets[p];
	}
}

void cp_count_pool(
	struct cp_report *report, struct cp_count *to, const struct cp_count *from)
{
	if (!to->pools) {
		to->pools = cp_arena_alloc(report->arena, sizeof(*to->pools));
		memset(to->pools, 0, sizeof(*to->pools));
	}
	add_pool(&to->pools->all, &from->pools->all);
	add_pool(&to->pools->own, &from->pools->own);
}
