/* SPDX-License-Identifier: MIT
 *
 * Rings that are written here: records of random sizes that lie across the end,
 * of unknown types, lost samples, and memory that is no ring any more; and the
 * periods that samples have.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/engine/period.h"
#include "base/engine/ring.h"
#include "tests/tap/tap.h"

static struct cp_ring ring;
static uint64_t size;

static struct {
	uint64_t samples, sum, lost, mappings, lengths, addresses, stack;
	bool wrong;
} seen;

static void on_sample(void *context, uint64_t id, const struct cp_access_sample *sample,
	const struct cp_chain *chain)
{
	uint64_t address[3];
	uint32_t n = cp_chain_copy(address, chain, 3);

	(void)context;
	seen.addresses += n;
	seen.stack += chain->stack_size;
	seen.wrong |= chain->stack_size && chain->registers.fp != sample->address;
	for (uint32_t i = 0; i < n; i++)
		seen.wrong |= address[i] != sample->address + i + 1;
	seen.samples++;
	seen.sum += sample->address;
	/* As put_sample makes them of one number. */
	seen.wrong |= id != 7 || sample->instruction != sample->address + 1 ||
		      sample->time != sample->address + 2 ||
		      sample->period != sample->address % 5 ||
		      sample->latency != (uint32_t)(sample->address % 1000) ||
		      sample->data_source != sample->address * 3;
}

static void on_lost(void *context, uint64_t id, uint64_t n)
{
	(void)context;
	seen.wrong |= id != 7;
	seen.lost += n;
}

static void on_mapping(void *context, const struct cp_samples_mapping *mapping,
	const char *path, uint32_t length)
{
	(void)context;
	seen.mappings++;
	seen.lengths += length;
	for (uint32_t i = 0; i < length; i++)
		seen.wrong |= path[i] != 'x';
	seen.wrong |= mapping->start != 0x1000 || mapping->size != 0x2000 ||
		      mapping->offset != 0x3000 || mapping->time != 99 ||
		      mapping->protection != 5;
}

static const struct cp_ring_visitor visitor = {on_sample, on_lost, on_mapping};

static void put(const void *bytes, size_t n)
{
	char *data = (char *)ring.page + sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < n; i++)
		data[(ring.page->data_head + i) & (size - 1)] = ((const char *)bytes)[i];
	ring.page->data_head += n;
}

static void put_record(uint32_t type, const uint64_t *words, size_t n)
{
	struct perf_event_header header = {
		.type = type, .size = (uint16_t)(sizeof(header) + n * 8)};

	put(&header, sizeof(header));
	put(words, n * 8);
}

static uint64_t put_sample(void)
{
	uint64_t a = (uint64_t)random();
	const uint64_t words[] = {
		7, a + 1, 0x500000004, a + 2, a, a % 5, a % 1000, a * 3};

	put_record(PERF_RECORD_SAMPLE, words, 8);
	return a;
}

static size_t put_mapping(void)
{
	static uint64_t words[600];
	size_t length = (size_t)random() % 4000, path = (length + 8) / 8;

	memset(words, 0, sizeof(words));
	words[1] = 0x1000;
	words[2] = 0x2000;
	words[3] = 0x3000;
	words[7] = 5;
	memset(&words[8], 'x', length);
	words[8 + path + 1] = 99;
	put_record(PERF_RECORD_MMAP2, words, 8 + path + 3);
	return length;
}

static void new_ring(unsigned pages, uint64_t at)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	free(ring.page);
	memset(&ring, 0, sizeof(ring));
	size = pages * page;
	ring.page = aligned_alloc(page, page + size);
	memset(ring.page, 0, page + size);
	ring.mapped = page + size;
	ring.pages = pages;
	ring.page->data_head = ring.page->data_tail = at;
	memset(&seen, 0, sizeof(seen));
}

static void test_records(void)
{
	const uint64_t unknown[5] = {1, 2, 3, 4, 5}, lost[] = {7, 11};
	uint64_t samples = 0, sum = 0, mappings = 0, lengths = 0, nlost = 0;

	new_ring(2, 8 * 12345);
	for (unsigned i = 0; i < 20000; i++) {
		switch (random() % 8) {
		case 0:
			put_record(PERF_RECORD_FORK, unknown, (size_t)random() % 6);
			break;
		case 1:
			put_record(PERF_RECORD_LOST, lost, 2);
			nlost += 11;
			break;
		case 2:
			lengths += put_mapping();
			mappings++;
			break;
		default:
			sum += put_sample();
			samples++;
		}
		if (ring.page->data_head - ring.page->data_tail > size - 4500 ||
			random() % 4 == 0)
			cp_ring_drain(&ring, &visitor, NULL);
	}
	cp_ring_drain(&ring, &visitor, NULL);
	is_u64(seen.samples, samples, "each sample is seen once");
	is_u64(seen.sum, sum, "with its address");
	is_u64(seen.lost, nlost, "lost ones are added up");
	is_u64(seen.mappings, mappings, "mappings");
	is_u64(seen.lengths, lengths, "with their paths");
	ok(!seen.wrong, "everything is as it was written");
	is_u64(ring.page->data_tail, ring.page->data_head, "the ring is empty");
	is_u64(cp_ring_filled(&ring), 0, "which is said");
}

static void test_damage(void)
{
	const struct perf_event_header none = {.type = PERF_RECORD_SAMPLE, .size = 0},
				       too_long = {
					       .type = PERF_RECORD_SAMPLE, .size = 4000};
	const uint64_t few[] = {7, 1};

	new_ring(1, 0);
	put_sample();
	put(&none, sizeof(none));
	cp_ring_drain(&ring, &visitor, NULL);
	is_u64(seen.samples, 1, "a record of no size ends it");
	is_u64(ring.page->data_tail, ring.page->data_head, "and the rest is dropped");
	put(&too_long, sizeof(too_long));
	cp_ring_drain(&ring, &visitor, NULL);
	is_u64(seen.samples, 1, "so does one that is longer than what there is");
	put_record(PERF_RECORD_SAMPLE, few, 2);
	cp_ring_drain(&ring, &visitor, NULL);
	is_u64(seen.samples, 1, "a sample of other fields is none");
	put_sample();
	is_u64(cp_ring_filled(&ring), 100 * 72 / size, "how full it is");
	cp_ring_drain(&ring, &visitor, NULL);
	is_u64(seen.samples, 2, "it goes on");
}

/* ---- chains ---- */

/* A chain of so many addresses between the kernel's marks, registers, so much of the
 * stack. */
static void put_chain(uint64_t n, uint64_t says, uint64_t stack)
{
	static uint64_t words[600];
	uint64_t a = (uint64_t)random(), *at = words;
	const uint64_t first[] = {
		7, a + 1, 0x500000004, a + 2, a, a % 5, says ? says : n + 2};

	memcpy(at, first, sizeof(first));
	at += sizeof(first) / sizeof(first[0]);
	*at++ = PERF_CONTEXT_USER;
	for (uint64_t i = 0; i < n; i++)
		*at++ = a + 1 + i;
	*at++ = (uint64_t)PERF_CONTEXT_GUEST_USER;
	*at++ = stack ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE;
	for (unsigned i = 0; stack && i < CP_RING_NREGISTERS; i++)
		*at++ = a + i;
	*at++ = stack * 8;
	for (uint64_t i = 0; i < stack; i++)
		*at++ = i;
	if (stack)
		*at++ = stack * 4; /* so much was there */
	*at++ = a % 1000;
	*at++ = a * 3;
	put_record(PERF_RECORD_SAMPLE, words, (size_t)(at - words));
}

static void test_chains(void)
{
	uint64_t stack = 0;

	new_ring(2, 8 * 12345);
	ring.chains = true;
	for (uint64_t i = 0; i < 500; i++) {
		put_chain(3, 0, CP_RING_NREGISTERS ? i % 40 : 0);
		stack += CP_RING_NREGISTERS ? i % 40 * 4 : 0;
		cp_ring_drain(&ring, &visitor, NULL);
	}
	is_u64(seen.samples, 500, "samples with chains");
	is_u64(seen.addresses, 1500, "which have their addresses, without marks");
	put_chain(40, 0, 0);
	cp_ring_drain(&ring, &visitor, NULL);
	is_u64(seen.addresses, 1503, "at most as many as are wanted");
	is_u64(seen.stack, stack, "and of the stack what was there");
	ok(!seen.wrong, "everything is as it was written");
	put_chain(3, 4000, 0);
	put_chain(3, UINT64_MAX, 0);
	cp_ring_drain(&ring, &visitor, NULL);
	is_u64(seen.samples, 501, "a chain that is longer than its record is none");
}

/* ---- periods ---- */

static bool is_a_prime(uint64_t n)
{
	for (uint64_t i = 2; i * i <= n; i++)
		if (n % i == 0)
			return false;
	return n > 1;
}

static void test_periods(uint64_t middle, uint64_t step)
{
	struct cp_period period = {middle * step, step, 1};
	uint64_t least = UINT64_MAX, most = 0, bad = 0;
	double sum = 0;

	for (unsigned i = 0; i < 2000; i++) {
		uint64_t n = cp_period_next(&period);

		bad += n % step != 0 || !is_a_prime(n / step);
		least = n < least ? n : least;
		most = n > most ? n : most;
		sum += (double)n;
	}
	is_u64(bad, 0, "%lu x %lu: primes, times the step", (unsigned long)middle,
		(unsigned long)step);
	ok((double)least >= 0.94 * (double)(middle * step) &&
			(double)most <= 1.06 * (double)(middle * step) && least < most,
		"%lu: from %lu to %lu", (unsigned long)middle, (unsigned long)least,
		(unsigned long)most);
	is_double_near(sum / 2000, (double)(middle * step),
		0.02 * (double)(middle * step), "%lu: on average", (unsigned long)middle);
}

int main(void)
{
	struct cp_period each = {1, 1, 5};

	srandom(1);
	plan_lazy();
	test_records();
	test_damage();
	test_chains();
	test_periods(101, 1);
	test_periods(2003, 1);
	test_periods(20011, 16);
	is_u64(cp_period_next(&each), 1, "each one: no jitter");
	free(ring.page);
	return 0;
}
