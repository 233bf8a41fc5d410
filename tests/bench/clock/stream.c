/* SPDX-License-Identifier: MIT
 *
 * Arrays from one end to the other, and all over the place.
 */
#include <string.h>

#include "clock.h"

enum { LONG = 2 << 20, SHORT = 8 << 10, RECORDS = 300000, UPDATES = 400000 };

static double *x, *y, *z;

static void make_arrays(void)
{
	x = make_room(sizeof(double) * LONG);
	y = make_room(sizeof(double) * LONG);
	z = make_room(sizeof(double) * LONG);
	for (size_t i = 0; i < LONG; i++) {
		x[i] = (double)i;
		y[i] = 2;
	}
}

static uint64_t triad(void)
{
	for (size_t i = 0; i < LONG; i++)
		z[i] = x[i] + 3 * y[i];
	return (uint64_t)z[7];
}

static uint64_t triad_near(void)
{
	for (int turn = 0; turn < 100; turn++)
		for (size_t i = 0; i < SHORT; i++)
			z[i] = x[i] + 3 * y[i];
	return (uint64_t)z[7];
}

static uint64_t copy(void)
{
	memcpy(z, x, sizeof(double) * LONG);
	return (uint64_t)z[7];
}

/* Three passes, or one. */
static uint64_t passes(void)
{
	double sum = 0;

	for (size_t i = 0; i < LONG; i++)
		z[i] = x[i] * 2;
	for (size_t i = 0; i < LONG; i++)
		z[i] += y[i];
	for (size_t i = 0; i < LONG; i++)
		sum += z[i];
	return (uint64_t)sum;
}

static uint64_t fused(void)
{
	double sum = 0;

	for (size_t i = 0; i < LONG; i++)
		sum += z[i] = x[i] * 2 + y[i];
	return (uint64_t)sum;
}

/* The same cells, page by page or one after the other. */
static uint64_t by_pages(void)
{
	double sum = 0;

	for (size_t first = 0; first < 512; first += 8)
		for (size_t i = first; i < LONG; i += 512)
			sum += x[i];
	return (uint64_t)sum;
}

static uint64_t by_lines(void)
{
	double sum = 0;

	for (size_t i = 0; i < LONG; i += 8)
		sum += x[i];
	return (uint64_t)sum;
}

/* ---- records ---- */

struct record {
	double price, more[7];
};

static struct record *records;
static struct record **pointers;
static double *prices;

static void make_records(void)
{
	uint32_t *order = make_room(sizeof(*order) * RECORDS);

	records = make_room(sizeof(*records) * RECORDS);
	prices = make_room(sizeof(*prices) * RECORDS);
	pointers = make_room(sizeof(struct record *) * RECORDS);
	shuffle(order, RECORDS);
	for (size_t i = 0; i < RECORDS; i++) {
		records[i].price = prices[i] = (double)i;
		pointers[i] = &records[order[i]];
	}
}

static uint64_t of_records(void)
{
	double sum = 0;

	for (size_t i = 0; i < RECORDS; i++)
		sum += records[i].price;
	return (uint64_t)sum;
}

static uint64_t of_array(void)
{
	double sum = 0;

	for (size_t i = 0; i < RECORDS; i++)
		sum += prices[i];
	return (uint64_t)sum;
}

static uint64_t of_pointers(void)
{
	double sum = 0;

	for (size_t i = 0; i < RECORDS; i++)
		sum += pointers[i]->price;
	return (uint64_t)sum;
}

/* ---- updates ---- */

static uint64_t *cells;

static void make_cells(void)
{
	cells = make_room((size_t)64 << 20);
}

static uint64_t update(size_t mask)
{
	uint64_t state = 1;

	for (int i = 0; i < UPDATES; i++) {
		state = state << 1 ^ ((int64_t)state < 0 ? 7 : 0);
		cells[(state * 0x9e3779b97f4a7c15u >> 20) & mask] ^= state;
	}
	return cells[7];
}

static uint64_t gups(void)
{
	return update(((size_t)64 << 20) / 8 - 1);
}

static uint64_t gups_near(void)
{
	return update(((size_t)128 << 10) / 8 - 1);
}

const struct kernel stream_kernels[] = {
	{"triad", make_arrays, triad},
	{"triad-near", make_arrays, triad_near},
	{"copy", make_arrays, copy},
	{"passes", make_arrays, passes},
	{"fused", make_arrays, fused},
	{"by-pages", make_arrays, by_pages},
	{"by-lines", make_arrays, by_lines},
	{"aos", make_records, of_records},
	{"soa", make_records, of_array},
	{"pointers", make_records, of_pointers},
	{"gups", make_cells, gups},
	{"gups-near", make_cells, gups_near},
	{NULL, NULL, NULL},
};
