/* SPDX-License-Identifier: MIT
 *
 * What the simulated PMU has sampled (CACHEPEEK_SAMPLE): from parts of a count to the
 * whole with a 95 % interval.
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
 * What no sample shows is allowed for: single sets that are like no other (a program's
 * stack is in a few), and what caches and TLBs still hold of the burst before.
 */
#include "base/format.h"
#include "output/report/report_raw.h"

#define MIN_GROUPS 14 /* of CP_SAMPLE_GROUPS: about as many as 30 bursts leave empty */
#define FEW_BURSTS                                                                       \
	"sampled: fewer than about 30 bursts were in it (CACHEPEEK_SAMPLE with a "       \
	"shorter "                                                                       \
	"period, or without)"

#define ALLOWED_SHARE 0.005 /* of the value, on either side */
#define BURSTS_RATE 0.00002 /* of the instructions */
#define SETS_RATE 0.00005

/* A value, and the square of its error bar's half-width. */
struct estimate {
	double value, square;
	const char *none; /* why there is no value, or NULL */
};

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

/* The counter that is in that place of the mirrors; NULL: nobody asked for it. */
static const uint64_t *find(const struct cp_raw *raw, const uint64_t *counts, uint32_t at)
{
	for (uint32_t i = 0; i < raw->record->header->ncounters; i++)
		if (raw->record->counters[i]->mirror == at)
			return &counts[i];
	return NULL;
}

/* The parts of the terms of one kind, summed. */
static bool add_parts(const struct cp_raw *raw, const struct cp_quantity_item *quantity,
	const uint64_t *counts, enum kind kind, double parts[CP_SAMPLE_PARTS])
{
	bool any = false;

	for (uint32_t i = 0; i < quantity->nterms; i++) {
		uint32_t counter = quantity->terms[i].counter;

		if (kind_of(raw->record, counter) != kind)
			continue;
		any = true;
		for (unsigned p = 0; p < (kind == IN_FULL ? 1 : CP_SAMPLE_PARTS); p++)
			parts[p] += quantity->terms[i].sign * (double)counts[counter + p];
	}
	return any;
}

/* ---- bursts ---- */

struct bursts {
	double all;         /* instructions that were not counted in full */
	double in, squares; /* of those, the ones in bursts */
	unsigned groups;    /* that have any */
	const uint64_t *instructions;
};

static struct bursts bursts_of(const struct cp_raw *raw, const uint64_t *counts)
{
	const uint64_t *all = find(raw, counts, 0);
	struct bursts b = {.instructions = find(raw, counts, CP_MIRROR_SIZE)};

	if (!all || !b.instructions)
		return b;
	b.all = (double)*all - (double)b.instructions[CP_SAMPLE_GROUPS];
	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++) {
		b.in += (double)b.instructions[g];
		b.groups += b.instructions[g] != 0;
	}
	return b;
}

static struct estimate from_bursts(
	const struct bursts *b, const double parts[CP_SAMPLE_PARTS])
{
	struct estimate e = {.value = parts[CP_SAMPLE_GROUPS]};
	double sum = 0, squares = 0, groups = b->groups, factor, error;

	if (b->all <= 0)
		return e;
	if (b->groups < MIN_GROUPS)
		return (struct estimate){.none = FEW_BURSTS};
	factor = b->all / b->in;
	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++)
		sum += parts[g];
	for (unsigned g = 0; g < CP_SAMPLE_GROUPS; g++) {
		double off = parts[g] - sum / b->in * (double)b->instructions[g];

		squares += off * off;
	}
	error = cp_student(groups - 1) * factor *
		__builtin_sqrt(squares * groups / (groups - 1));
	if (error < 3 * factor && sum < 1) /* the rule of three */
		error = 3 * factor;
	e.value += factor * sum;
	e.square = error * error;
	return e;
}

/* ---- sets ---- */

static struct estimate from_sets(
	const struct cp_record_header *header, const double parts[CP_SAMPLE_PARTS])
{
	double n = header->sample_sets, groups = header->sample_groups, sum = 0,
	       squares = 0, error;

	for (unsigned g = 0; g < header->sample_sets; g++)
		sum += parts[g];
	for (unsigned g = 0; g < header->sample_sets; g++)
		squares += (parts[g] - sum / n) * (parts[g] - sum / n);
	error = cp_student(n - 1) * groups / n *
		__builtin_sqrt(squares * n / (n - 1) * (1 - n / groups));
	if (sum < 1)
		error = 3 * groups / n;
	return (struct estimate){.value = groups / n * sum, .square = error * error};
}

/* ---- together ---- */

static double all_instructions(const struct cp_raw *raw, const uint64_t *counts)
{
	const uint64_t *all = find(raw, counts, 0);

	return all ? (double)*all : 0;
}

static void allow(struct estimate *e, double events)
{
	double share = ALLOWED_SHARE * e->value;

	e->square += share * share + events * events;
}

static struct estimate estimate(const struct cp_raw *raw,
	const struct cp_quantity_item *quantity, const uint64_t *counts)
{
	double exact[CP_SAMPLE_PARTS] = {0}, bursts[CP_SAMPLE_PARTS] = {0},
	       sets[CP_SAMPLE_PARTS] = {0};
	struct bursts b = bursts_of(raw, counts);
	struct estimate e = {0}, more;

	add_parts(raw, quantity, counts, IN_FULL, exact);
	if (add_parts(raw, quantity, counts, IN_BURSTS, bursts))
		e = from_bursts(&b, bursts);
	e.value += exact[0];
	allow(&e, BURSTS_RATE * all_instructions(raw, counts));
	if (!e.none && add_parts(raw, quantity, counts, IN_SETS, sets)) {
		more = from_sets(raw->record->header, sets);
		allow(&more, SETS_RATE * all_instructions(raw, counts));
		e.value += more.value;
		e.square += more.square;
	}
	return e;
}

static double coverage_of(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity)
{
	struct bursts b = bursts_of(raw, raw->inclusive);
	double parts[CP_SAMPLE_PARTS] = {0}, full;

	if (!add_parts(raw, quantity, raw->inclusive, IN_BURSTS, parts))
		return raw->record->header->sample_sets /
		       (double)raw->record->header->sample_groups;
	full = b.instructions ? (double)b.instructions[CP_SAMPLE_GROUPS] : 0;
	return b.all + full > 0 ? (b.in + full) / (b.all + full) : 0;
}

/* Regions inside are estimated by themselves; what remains is no more than all. */
static uint64_t exclusive_of(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity, uint64_t value)
{
	uint64_t own[CP_MAX_READ], exclusive;
	struct estimate e;

	for (uint32_t i = 0; i < raw->record->header->ncounters; i++)
		own[i] = raw->inclusive[i] > raw->children[i]
				 ? raw->inclusive[i] - raw->children[i]
				 : 0;
	e = estimate(raw, quantity, own);
	exclusive = e.none ? value : cp_count_of(e.value + 0.5);
	return exclusive < value ? exclusive : value;
}

struct cp_count cp_count_sampled(
	const struct cp_raw *raw, const struct cp_quantity_item *quantity)
{
	struct estimate e = estimate(raw, quantity, raw->inclusive);
	struct cp_count count = {.status = CP_ESTIMATED,
		.reason =
			"sampled (CACHEPEEK_SAMPLE): error is half of its 95 % interval",
		.value = cp_count_of(e.value + 0.5),
		.error = __builtin_sqrt(e.square)};

	if (!e.none && !raw->record->header->sample_sets)
		e.none = "its record does not say how it was sampled";
	if (e.none)
		return cp_no_count(e.none);
	count.exclusive = exclusive_of(raw, quantity, count.value);
	count.coverage = coverage_of(raw, quantity);
	count.covered = count.coverage;
	count.wanted = 1;
	return count;
}
