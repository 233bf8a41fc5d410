/* SPDX-License-Identifier: MIT
 *	clock KERNEL ROUNDS
 * Runs the kernel once to warm up and then ROUNDS times in a region of its name; prints
 * the CPU seconds of the fastest round.  Without arguments: the names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cachepeek.h"
#include "clock.h"

static uint64_t state = 88172645463325252u;

uint64_t next_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

void *make_room(size_t bytes)
{
	size_t page = (size_t)2 << 20;
	char *room = aligned_alloc(page, (bytes + page - 1) / page * page);

	if (!room) {
		fprintf(stderr, "clock: no memory\n");
		exit(1);
	}
	return memset(room, 0, bytes);
}

void shuffle(uint32_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (size_t i = n - 1; i > 0; i--) {
		size_t j = next_number() % i;
		uint32_t kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
}

static const struct kernel *const lists[] = {dense_kernels, stream_kernels, graph_kernels,
	lookup_kernels, other_kernels, numeric_kernels, structure_kernels,
	various_kernels, arithmetic_kernels, record_kernels, order_kernels,
	linear_kernels, edge_kernels, string_kernels, choice_kernels, polybench_kernels,
	nas_kernels, rodinia_kernels, olden_kernels, rodinia2_kernels, olden2_kernels,
	gapbs_kernels, polybench2_kernels, nas2_kernels, nas3_kernels, parboil_kernels,
	splash_kernels, machsuite_kernels, livermore_kernels, bytemark_kernels,
	parsec_kernels, mibench_kernels, embench_kernels, chstone_kernels, shoc_kernels,
	game_kernels, mantevo_kernels};
enum { LISTS = sizeof(lists) / sizeof(lists[0]) };

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int run_kernel(const struct kernel *kernel, unsigned rounds)
{
	volatile uint64_t sum;
	double least = 1e9;

	kernel->make();
	sum = kernel->run();
	for (unsigned i = 0; i < rounds; i++) {
		double begin = cpu_seconds(), took;

		CACHEPEEK_BEGIN("round");
		sum += kernel->run();
		CACHEPEEK_END("round");
		took = cpu_seconds() - begin;
		if (took < least)
			least = took;
	}
	(void)sum;
	printf("%.9f\n", least);
	return 0;
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; i < LISTS; i++)
		for (const struct kernel *k = lists[i]; k->name; k++)
			if (argc < 3)
				printf("%s\n", k->name);
			else if (strcmp(argv[1], k->name) == 0)
				return run_kernel(
					k, (unsigned)strtoul(argv[2], NULL, 10));
	return argc < 3 ? 0 : 2;
}
