/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The first level's paths for x86-64 hosts of 2013 and later.  Valgrind's generated
 * code knows of no wider registers than 128 bits; the compiler clears the upper halves
 * where it leaves these functions.
 */
#include "model/l1_newer.h"

#if L1_HAS_AVX2
#pragma GCC target("avx2,bmi,bmi2,lzcnt")
#include <immintrin.h>
#include "model/l1_shapes.h"

void l1_choose_paths_avx2(struct core *core)
{
	choose_paths(core);
}

/* Eight words at a time: each group's lines are put one behind the other, and those that
 * are like the one before are left out. */
#pragma GCC push_options
#pragma GCC target("avx512f,popcnt")
enum {
	AT_ONCE = 8,
	MOST = 8 /* groups: more would take longer than words by themselves */
};

/* The lines of a group; before: the last one that there was. */
struct stream {
	picked before, of[PICK_AT_ONCE + AT_ONCE];
};

static __m512i all_of(uint64_t value)
{
	return _mm512_set1_epi64((long long)value);
}

static __mmask8 first_of(uint32_t n)
{
	return (__mmask8)(n < AT_ONCE ? (1u << n) - 1 : 0xff);
}

/* If a line is not sampled the next one is meant. */
static __m512i read_words(
	const struct sample_sets *sets, __m512i word, __m128i line_shift)
{
	__m512i store = _mm512_srai_epi64(word, 63),
		a = _mm512_andnot_si512(
			all_of(SAMPLE_BOTH), _mm512_xor_si512(word, store)),
		line = _mm512_srl_epi64(a, line_shift),
		group = _mm512_and_si512(line, all_of(sets->mask)),
		next = _mm512_and_si512(
			_mm512_srlv_epi64(all_of(sets->left_out), group), all_of(1)),
		writes = _mm512_and_si512(_mm512_srli_epi64(word, 61), all_of(1));

	line = _mm512_slli_epi64(_mm512_add_epi64(line, next), PICKED_LINE);
	line = _mm512_or_si512(line, writes);
	return _mm512_or_si512(line, _mm512_and_si512(store, all_of(PICKED_STORE)));
}

static void put_into_streams(const struct newest *newest, const struct sample_sets *sets,
	const uint64_t *at, uint32_t n, struct stream *stream, uint32_t *lines)
{
	__m128i shift = _mm_cvtsi32_si128((int)newest->line_shift);

	for (uint32_t i = 0; i < n; i += AT_ONCE) {
		__mmask8 there = first_of(n - i);
		__m512i is = read_words(
				sets, _mm512_maskz_loadu_epi64(there, at + i), shift),
			group = _mm512_and_si512(
				_mm512_srli_epi64(is, PICKED_LINE), all_of(sets->mask));

		for (uint32_t g = 0; g < sets->chosen; g++) {
			__mmask8 in = _mm512_mask_cmpeq_epi64_mask(
				there, group, all_of(sets->group[g]));

			_mm512_storeu_si512(stream[g].of + lines[g],
				_mm512_maskz_compress_epi64(in, is));
			lines[g] += (uint32_t)__builtin_popcount(in);
		}
	}
}

static uint32_t leave_out(
	const struct newest *newest, const struct stream *stream, uint32_t n, picked *to)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < n; i += AT_ONCE) {
		__m512i is = _mm512_loadu_si512(stream->of + i),
			before = _mm512_loadu_si512(stream->of + i - 1);
		__mmask8 other = _mm512_test_epi64_mask(_mm512_xor_si512(is, before),
				 all_of(~0ull << PICKED_LINE)),
			 writes = _mm512_test_epi64_mask(
				 newest->tells ? is : _mm512_andnot_si512(before, is),
				 all_of(PICKED_WRITES)),
			 matters = (__mmask8)((other | writes) & first_of(n - i));

		_mm512_storeu_si512(to + all, _mm512_maskz_compress_epi64(matters, is));
		all += (uint32_t)__builtin_popcount(matters);
	}
	return all;
}

static uint32_t pick_by_eight(struct newest *newest, const struct sample_sets *sets,
	const uint64_t *at, uint32_t n, picked *to)
{
	struct stream stream[MOST];
	uint32_t lines[MOST] = {0}, all = 0;

	put_into_streams(newest, sets, at, n, stream, lines);
	for (uint32_t g = 0; g < sets->chosen; g++) {
		stream[g].before = newest->of[g];
		all += leave_out(newest, &stream[g], lines[g], to + all);
		if (lines[g])
			newest->of[g] = stream[g].of[lines[g] - 1];
	}
	return all;
}

pick_function *pick_newer(const struct sample_sets *sets)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512f") && sets->chosen <= MOST ? pick_by_eight
									 : 0;
}
#pragma GCC pop_options
#endif
