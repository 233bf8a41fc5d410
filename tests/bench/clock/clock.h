/* SPDX-License-Identifier: MIT
 *
 * The kernels of `make bench-clock`: each does a fixed amount of work on data of its own,
 * the same each time.
 */
#ifndef CACHEPEEK_TESTS_BENCH_CLOCK_CLOCK_H
#define CACHEPEEK_TESTS_BENCH_CLOCK_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct kernel {
	const char *name;
	void (*make)(void); /* the data, before anything is timed */
	uint64_t (*run)(void);
};

/* Each list ends with a name that is NULL. */
extern const struct kernel dense_kernels[], stream_kernels[], graph_kernels[],
	lookup_kernels[], other_kernels[], numeric_kernels[], structure_kernels[],
	various_kernels[], arithmetic_kernels[], record_kernels[], order_kernels[],
	linear_kernels[], edge_kernels[], string_kernels[], choice_kernels[],
	polybench_kernels[], nas_kernels[], rodinia_kernels[], olden_kernels[],
	rodinia2_kernels[], olden2_kernels[], gapbs_kernels[], polybench2_kernels[],
	nas2_kernels[], nas3_kernels[], parboil_kernels[], splash_kernels[],
	machsuite_kernels[], livermore_kernels[], bytemark_kernels[], parsec_kernels[],
	mibench_kernels[], embench_kernels[], chstone_kernels[], shoc_kernels[],
	game_kernels[], mantevo_kernels[];

void *make_room(size_t bytes); /* zeros, touched */
uint64_t next_number(void);    /* the same sequence in each process */
void shuffle(uint32_t *order, size_t n);

#endif
