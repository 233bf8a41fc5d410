/* SPDX-License-Identifier: MIT
 *
 * The first of the kernels of SciMark and BYTEmark that are not here already, by their
 * names there.
 */
#include <stdbool.h>
#include <string.h>

#include "clock.h"

/* ---- assignment: who does what job so that all costs are least, by zeros that are made
 * of the least costs and by lines that cover them; costs are stored along the jobs or
 * along the workers, who are gone through one by one in both cases ---- */

enum { STAFF = 1200, COSTLIEST = 4500, NOBODY = -1 };

static int32_t *first_cost, *cost, job_of[STAFF], worker_of[STAFF];
static int32_t came_from[STAFF], queue[STAFF];
static bool worker_seen[STAFF], job_seen[STAFF];

static void make_costs(void)
{
	first_cost = make_room(sizeof(*first_cost) * STAFF * STAFF);
	cost = make_room(sizeof(*cost) * STAFF * STAFF);
	for (size_t i = 0; i < (size_t)STAFF * STAFF; i++)
		first_cost[i] = (int32_t)(next_number() % COSTLIEST);
}

/* The strides are known where this is used: one of them is 1. */
static inline int32_t *cost_of(size_t worker, size_t job, size_t down, size_t along)
{
	return &cost[worker * down + job * along];
}

static inline void take_least_of_workers(size_t down, size_t along)
{
	for (size_t worker = 0; worker < STAFF; worker++) {
		int32_t least = COSTLIEST;

		for (size_t job = 0; job < STAFF; job++)
			if (*cost_of(worker, job, down, along) < least)
				least = *cost_of(worker, job, down, along);
		for (size_t job = 0; job < STAFF; job++)
			*cost_of(worker, job, down, along) -= least;
	}
}

static inline void take_least_of_jobs(size_t down, size_t along)
{
	int32_t least[STAFF];

	for (size_t job = 0; job < STAFF; job++)
		least[job] = COSTLIEST;
	for (size_t worker = 0; worker < STAFF; worker++)
		for (size_t job = 0; job < STAFF; job++)
			if (*cost_of(worker, job, down, along) < least[job])
				least[job] = *cost_of(worker, job, down, along);
	for (size_t worker = 0; worker < STAFF; worker++)
		for (size_t job = 0; job < STAFF; job++)
			*cost_of(worker, job, down, along) -= least[job];
}

/* Along the way by which the job was found, each worker takes the next job. */
static void change_jobs(int32_t job)
{
	while (job != NOBODY) {
		int32_t worker = came_from[job], last = job_of[worker];

		job_of[worker] = job;
		worker_of[job] = worker;
		job = last;
	}
}

/* From a worker by zeros to jobs and from these to who has them; whether one is free. */
static inline bool look_for_job(int32_t first, size_t down, size_t along)
{
	int32_t head = 0, tail = 0;

	queue[tail++] = first;
	worker_seen[first] = true;
	while (head < tail) {
		int32_t worker = queue[head++];

		for (size_t job = 0; job < STAFF; job++) {
			if (*cost_of((size_t)worker, job, down, along) != 0 ||
				job_seen[job])
				continue;
			job_seen[job] = true;
			came_from[job] = worker;
			if (worker_of[job] == NOBODY) {
				change_jobs((int32_t)job);
				return true;
			}
			worker_seen[worker_of[job]] = true;
			queue[tail++] = worker_of[job];
		}
	}
	return false;
}

/* A job that was seen by a search that failed is not worth to be seen again. */
static inline bool give_jobs(size_t down, size_t along)
{
	bool all = true;

	memset(worker_seen, 0, sizeof(worker_seen));
	memset(job_seen, 0, sizeof(job_seen));
	for (int32_t worker = 0; worker < STAFF; worker++) {
		bool kept[2][STAFF];

		if (job_of[worker] != NOBODY)
			continue;
		memcpy(kept[0], worker_seen, STAFF);
		memcpy(kept[1], job_seen, STAFF);
		if (!look_for_job(worker, down, along)) {
			all = false;
			continue;
		}
		memcpy(worker_seen, kept[0], STAFF);
		memcpy(job_seen, kept[1], STAFF);
	}
	return all;
}

/* The least cost without a line goes off all without one, and to where two cross. */
static inline void make_zeros(size_t down, size_t along)
{
	int32_t least = COSTLIEST;

	for (size_t worker = 0; worker < STAFF; worker++)
		for (size_t job = 0; worker_seen[worker] && job < STAFF; job++)
			if (!job_seen[job] && *cost_of(worker, job, down, along) < least)
				least = *cost_of(worker, job, down, along);
	for (size_t worker = 0; worker < STAFF; worker++)
		for (size_t job = 0; job < STAFF; job++)
			*cost_of(worker, job, down, along) +=
				least * (job_seen[job] - worker_seen[worker]);
}

static inline uint64_t assignment(size_t down, size_t along)
{
	uint64_t sum = 0;

	memcpy(cost, first_cost, sizeof(*cost) * STAFF * STAFF);
	memset(job_of, 0xff, sizeof(job_of));
	memset(worker_of, 0xff, sizeof(worker_of));
	take_least_of_workers(down, along);
	take_least_of_jobs(down, along);
	while (!give_jobs(down, along))
		make_zeros(down, along);
	for (size_t worker = 0; worker < STAFF; worker++)
		sum += (uint64_t)
			first_cost[worker * down + (size_t)job_of[worker] * along];
	return sum;
}

static uint64_t assignment_columns(void)
{
	return assignment(1, STAFF);
}

static uint64_t assignment_rows(void)
{
	return assignment(STAFF, 1);
}

/* ---- bitfield: runs of bits anywhere in a map are set, cleared or turned, bit by bit or
 * in words ---- */

enum { MAP_WORDS = 2 << 20, RUNS = 2000000, LONGEST = 20 };

struct bit_run {
	uint32_t first;
	uint16_t bits, how;
};

static uint64_t *map;
static struct bit_run *runs;

static void make_bitfield(void)
{
	map = make_room(sizeof(*map) * MAP_WORDS);
	runs = make_room(sizeof(*runs) * RUNS);
	for (size_t i = 0; i < RUNS; i++) {
		uint64_t number = next_number();

		runs[i].first =
			(uint32_t)(number >> 8) % ((uint32_t)MAP_WORDS * 64 - LONGEST);
		runs[i].bits = (uint16_t)((number >> 40) % LONGEST + 1);
		runs[i].how = (uint16_t)(number % 3);
	}
}

static inline void change_word(uint64_t *word, uint64_t mask, int how)
{
	if (how == 0)
		*word |= mask;
	else if (how == 1)
		*word &= ~mask;
	else
		*word ^= mask;
}

static void change_bits(const struct bit_run *run)
{
	for (uint32_t at = run->first; at < run->first + run->bits; at++)
		change_word(&map[at / 64], (uint64_t)1 << at % 64, run->how);
}

static void change_words(const struct bit_run *run)
{
	uint32_t at = run->first, end = at + run->bits;

	while (at < end) {
		uint32_t next = (at / 64 + 1) * 64 < end ? (at / 64 + 1) * 64 : end;
		uint64_t mask = UINT64_MAX >> (64 - (next - at)) << at % 64;

		change_word(&map[at / 64], mask, run->how);
		at = next;
	}
}

static uint64_t bitfield(void (*change)(const struct bit_run *))
{
	uint64_t sum = 0;

	memset(map, 0x55, sizeof(*map) * MAP_WORDS);
	for (size_t i = 0; i < RUNS; i++)
		change(&runs[i]);
	for (size_t i = 0; i < MAP_WORDS; i++)
		sum = sum * 3 + map[i];
	return sum;
}

static uint64_t bitfield_bits(void)
{
	return bitfield(change_bits);
}

static uint64_t bitfield_words(void)
{
	return bitfield(change_words);
}

const struct kernel bytemark_kernels[] = {
	{"assignment-columns", make_costs, assignment_columns},
	{"assignment-rows", make_costs, assignment_rows},
	{"bitfield-bits", make_bitfield, bitfield_bits},
	{"bitfield-words", make_bitfield, bitfield_words},
	{NULL, NULL, NULL},
};
