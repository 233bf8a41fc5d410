/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The ages of a set's ways, a byte each: how many ways were used since.  There is more
 * memory behind them, to a multiple of 16 bytes, whatever is in it.
 */
#ifndef CACHEPEEK_SIM_AGES_H
#define CACHEPEEK_SIM_AGES_H

#include "lines/lanes.h"

#ifdef __SSE2__

/* All bits of the first n bytes. */
LANES_INLINE __m128i ages_first(uint32_t n)
{
	static const uint8_t ones[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
		255, 255, 255, 255, 255, 255};

	return _mm_loadu_si128((const __m128i_u *)(ones + 16 - (n < 16 ? n : 16)));
}

/* All bits of the way's byte, of 16 from `from` on. */
LANES_INLINE __m128i ages_one(uint32_t way, uint32_t from)
{
	__m128i place =
		_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

	return _mm_cmpeq_epi8(place, _mm_set1_epi8((char)(way - from)));
}

/* The way becomes the newest of those whose age is below the limit. */
LANES_INLINE void ages_renew(uint8_t *age, uint32_t ways, uint32_t way, uint32_t limit)
{
	__m128i most = _mm_set1_epi8((char)limit);

	for (uint32_t i = 0; i < ways; i += 16) {
		__m128i_u *at = (__m128i_u *)(age + i);
		__m128i is = *at, older = _mm_cmpeq_epi8(_mm_max_epu8(is, most), is);

		is = _mm_sub_epi8(is, _mm_andnot_si128(older, ages_first(ways - i)));
		*at = _mm_andnot_si128(ages_one(way, i), is);
	}
}

/* The older ones are those of a smaller set. */
LANES_INLINE void ages_leave(uint8_t *age, uint32_t ways, uint32_t way)
{
	__m128i left = _mm_set1_epi8((char)age[way]);

	for (uint32_t i = 0; i < ways; i += 16) {
		__m128i_u *at = (__m128i_u *)(age + i);
		__m128i is = *at, newer = _mm_cmpeq_epi8(_mm_min_epu8(is, left), is);

		*at = _mm_add_epi8(is, _mm_andnot_si128(newer, ages_first(ways - i)));
	}
}

/* The oldest of a full set. */
LANES_INLINE uint32_t ages_oldest(const uint8_t *age, uint32_t ways)
{
	__m128i most = _mm_set1_epi8((char)(ways - 1));
	uint32_t i = 0;
	int is;

	for (;; i += 16) {
		is = _mm_movemask_epi8(
			_mm_cmpeq_epi8(*(const __m128i_u *)(age + i), most));
		if (is || i + 16 >= ways)
			return i + (uint32_t)__builtin_ctz((uint32_t)is | 1u << 16);
	}
}

#else

LANES_INLINE void ages_renew(uint8_t *age, uint32_t ways, uint32_t way, uint32_t limit)
{
	for (uint32_t i = 0; i < ways; i++)
		age[i] += age[i] < limit;
	age[way] = 0;
}

LANES_INLINE void ages_leave(uint8_t *age, uint32_t ways, uint32_t way)
{
	uint8_t left = age[way];

	for (uint32_t i = 0; i < ways; i++)
		age[i] -= age[i] > left;
}

LANES_INLINE uint32_t ages_oldest(const uint8_t *age, uint32_t ways)
{
	uint32_t way = 0;

	while (age[way] != ways - 1)
		way++;
	return way;
}

#endif
#endif
