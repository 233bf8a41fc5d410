/* SPDX-License-Identifier: MIT
 *
 * The same work in two orders: particles, questions, choices, lists and sums.
 */
#include "clock.h"

/* ---- particles that give their charge to the corners of their cell ---- */

enum { PARTICLES = 1 << 18, SIDE = 2048, APART = SIDE * SIDE / PARTICLES };

static struct particle {
	float x, y, charge;
} * particles;
static float *charges;

static struct particle particle_at(size_t cell)
{
	return (struct particle){(float)(cell % SIDE) + 0.25f,
		(float)(cell / SIDE) + 0.75f, (float)(next_number() % 100) + 1};
}

static void make_particles(void)
{
	particles = make_room(sizeof(*particles) * PARTICLES);
	charges = make_room(sizeof(*charges) * SIDE * (SIDE + 2));
	for (size_t i = 0; i < PARTICLES; i++)
		particles[i] = particle_at(i * APART + next_number() % APART);
}

static void make_wild_particles(void)
{
	uint32_t *order = make_room(sizeof(*order) * PARTICLES);

	make_particles();
	shuffle(order, PARTICLES);
	for (size_t i = 0; i < PARTICLES; i++) {
		struct particle kept = particles[i];

		particles[i] = particles[order[i]];
		particles[order[i]] = kept;
	}
}

static uint64_t deposit(void)
{
	for (size_t i = 0; i < PARTICLES; i++) {
		const struct particle *it = &particles[i];
		uint32_t x = (uint32_t)it->x, y = (uint32_t)it->y;
		float right = it->x - (float)x, down = it->y - (float)y;
		float *at = &charges[y * SIDE + x];

		at[0] += (1 - right) * (1 - down) * it->charge;
		at[1] += right * (1 - down) * it->charge;
		at[SIDE] += (1 - right) * down * it->charge;
		at[SIDE + 1] += right * down * it->charge;
	}
	return (uint64_t)charges[7];
}

/* ---- records that questions fit: question by question, or a block of records at a time
 * ---- */

enum { RECORDS = 1 << 16, QUESTIONS = 32, BLOCK = 256 };

static struct record {
	uint32_t kind, size, more[14];
} * records;
static struct question {
	uint32_t kind, least, most;
} questions[QUESTIONS];

static void make_records(void)
{
	records = make_room(sizeof(*records) * RECORDS);
	for (size_t i = 0; i < RECORDS; i++) {
		records[i].kind = next_number() % 64;
		records[i].size = next_number() % 1000;
	}
	for (size_t i = 0; i < QUESTIONS; i++) {
		uint32_t least = next_number() % 900;

		questions[i] = (struct question){next_number() % 64, least, least + 50};
	}
}

static uint64_t count_fits(const struct question *question, size_t first, size_t end)
{
	uint64_t fits = 0;

	for (size_t i = first; i < end; i++)
		fits += records[i].kind == question->kind &&
			records[i].size >= question->least &&
			records[i].size < question->most;
	return fits;
}

static uint64_t ask_in_turn(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < QUESTIONS; i++)
		sum += (i + 1) * count_fits(&questions[i], 0, RECORDS);
	return sum;
}

static uint64_t ask_by_blocks(void)
{
	uint64_t sum = 0;

	for (size_t first = 0; first < RECORDS; first += BLOCK)
		for (size_t i = 0; i < QUESTIONS; i++)
			sum += (i + 1) * count_fits(&questions[i], first, first + BLOCK);
	return sum;
}

/* ---- a sum of those that are cheap enough: as they come, or the cheap ones first ----
 */

enum { OFFERS = 1 << 17, TURNS = 8 };

static uint32_t *costs;
static double *prices, *discounts;

static void make_offers(void)
{
	costs = make_room(sizeof(*costs) * OFFERS);
	prices = make_room(sizeof(*prices) * OFFERS);
	discounts = make_room(sizeof(*discounts) * OFFERS);
	for (size_t i = 0; i < OFFERS; i++) {
		costs[i] = (uint32_t)i;
		prices[i] = (double)(next_number() % 10000) / 100;
		discounts[i] = (double)(next_number() % 10) / 100;
	}
}

static void make_wild_offers(void)
{
	make_offers();
	shuffle(costs, OFFERS);
}

static uint64_t pick(void)
{
	double sum = 0;

	for (uint32_t turn = 0; turn < TURNS; turn++)
		for (size_t i = 0; i < OFFERS; i++)
			if (costs[i] < OFFERS / 2 - turn)
				sum += prices[i] * discounts[i];
	return (uint64_t)sum;
}

/* ---- lists that are in no order in memory: one after the other, or all at once ---- */

enum { LISTS = 8, LINKS = 20000 };

static struct link {
	struct link *next;
	uint64_t value, more[6];
} * links, *lists[LISTS];

static void make_lists(void)
{
	uint32_t *order = make_room(sizeof(*order) * LISTS * LINKS);

	links = make_room(sizeof(*links) * LISTS * LINKS);
	shuffle(order, (size_t)LISTS * LINKS);
	for (size_t i = 0; i < (size_t)LISTS * LINKS; i++) {
		struct link *link = &links[order[i]];

		link->value = i;
		link->next = lists[i % LISTS];
		lists[i % LISTS] = link;
	}
}

static uint64_t one_by_one(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < LISTS; i++)
		for (const struct link *at = lists[i]; at; at = at->next)
			sum += at->value;
	return sum;
}

static uint64_t abreast(void)
{
	const struct link *at[LISTS];
	uint64_t sum = 0;

	for (size_t i = 0; i < LISTS; i++)
		at[i] = lists[i];
	for (size_t k = 0; k < LINKS; k++)
		for (size_t i = 0; i < LISTS; i++) {
			sum += at[i]->value;
			at[i] = at[i]->next;
		}
	return sum;
}

/* ---- a sum of products: one sum, or four of which each has a quarter ---- */

enum { FACTORS = 1 << 14, TIMES = 100 };

static double *left, *right;

static void make_factors(void)
{
	left = make_room(sizeof(*left) * FACTORS);
	right = make_room(sizeof(*right) * FACTORS);
	for (size_t i = 0; i < FACTORS; i++) {
		left[i] = (double)(next_number() % 1000) / 1000;
		right[i] = (double)(next_number() % 1000) / 1000;
	}
}

static uint64_t dot_one(void)
{
	double sum = 0;

	for (int turn = 0; turn < TIMES; turn++)
		for (size_t i = 0; i < FACTORS; i++)
			sum += left[i] * right[i];
	return (uint64_t)sum;
}

static uint64_t dot_four(void)
{
	double a = 0, b = 0, c = 0, d = 0;

	for (int turn = 0; turn < TIMES; turn++)
		for (size_t i = 0; i < FACTORS; i += 4) {
			a += left[i] * right[i];
			b += left[i + 1] * right[i + 1];
			c += left[i + 2] * right[i + 2];
			d += left[i + 3] * right[i + 3];
		}
	return (uint64_t)(a + b + c + d);
}

const struct kernel order_kernels[] = {
	{"particles-wild", make_wild_particles, deposit},
	{"particles-sorted", make_particles, deposit},
	{"ask-in-turn", make_records, ask_in_turn},
	{"ask-by-blocks", make_records, ask_by_blocks},
	{"pick-wild", make_wild_offers, pick},
	{"pick-sorted", make_offers, pick},
	{"lists-one-by-one", make_lists, one_by_one},
	{"lists-abreast", make_lists, abreast},
	{"dot-one", make_factors, dot_one},
	{"dot-four", make_factors, dot_four},
	{NULL, NULL, NULL},
};
