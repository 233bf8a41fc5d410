/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Searching one cache set: the only code that knows about vector units.
 *
 * A set is an array of 32-bit lanes, always a multiple of four and aligned to
 * 16 bytes.  Values that are compared for age stay below 2^31, because SSE2
 * only compares signed.
 */
#ifndef CACHEPEEK_SIM_LANES_H
#define CACHEPEEK_SIM_LANES_H

#include <stdint.h>

#define LANES_INLINE static inline __attribute__((always_inline))

#ifdef __SSE2__
#ifdef __AVX2__
#include <immintrin.h>
#else
#include <emmintrin.h>
#endif

LANES_INLINE __m128i lanes_at(const uint32_t *v)
{
	return *(const __m128i *)v;
}

LANES_INLINE __m128i lanes_equal(const uint32_t *v, __m128i key)
{
	return _mm_cmpeq_epi32(key, lanes_at(v));
}

/* One bit for each of up to four lanes that hold the key. */
LANES_INLINE unsigned lanes_match4(const uint32_t *v, __m128i key)
{
	return _mm_movemask_ps(_mm_castsi128_ps(lanes_equal(v, key)));
}

/* The same for eight; each has LANES8 bits. */
#ifdef __AVX2__
#define LANES8 1
LANES_INLINE unsigned lanes_match8(const uint32_t *v, uint32_t key)
{
	__m256i m =
		_mm256_cmpeq_epi32(_mm256_set1_epi32((int)key), *(const __m256i_u *)v);

	return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(m));
}
#else
#define LANES8 2
LANES_INLINE unsigned lanes_match8(const uint32_t *v, uint32_t key)
{
	__m128i k = _mm_set1_epi32((int)key);

	return (unsigned)_mm_movemask_epi8(
		_mm_packs_epi32(lanes_equal(v, k), lanes_equal(v + 4, k)));
}
#endif

#ifdef __AVX2__
LANES_INLINE unsigned lanes_match12(const uint32_t *v, __m128i key)
{
	return lanes_match8(v, (uint32_t)_mm_cvtsi128_si32(key)) |
	       lanes_match4(v + 8, key) << 8;
}

LANES_INLINE unsigned lanes_match16(const uint32_t *v, __m128i key)
{
	uint32_t k = (uint32_t)_mm_cvtsi128_si32(key);

	return lanes_match8(v, k) | lanes_match8(v + 8, k) << 8;
}
#else
LANES_INLINE unsigned lanes_match12(const uint32_t *v, __m128i key)
{
	__m128i lo = _mm_packs_epi32(lanes_equal(v, key), lanes_equal(v + 4, key));
	__m128i hi = _mm_packs_epi32(lanes_equal(v + 8, key), _mm_setzero_si128());

	return _mm_movemask_epi8(_mm_packs_epi16(lo, hi));
}

LANES_INLINE unsigned lanes_match16(const uint32_t *v, __m128i key)
{
	__m128i lo = _mm_packs_epi32(lanes_equal(v, key), lanes_equal(v + 4, key));
	__m128i hi = _mm_packs_epi32(lanes_equal(v + 8, key), lanes_equal(v + 12, key));

	return _mm_movemask_epi8(_mm_packs_epi16(lo, hi));
}

#endif

LANES_INLINE int lanes_first(unsigned bits, unsigned base)
{
	return (int)(base + (unsigned)__builtin_ctz(bits));
}

/* The first lane that holds the key, or -1. */
LANES_INLINE int lanes_find(const uint32_t *v, unsigned lanes, uint32_t key)
{
	__m128i k = _mm_set1_epi32((int)key);
	unsigned i = 0, bits;

	if (lanes == 8)
		return (bits = lanes_match8(v, key)) ? lanes_first(bits, 0) / LANES8 : -1;
	if (lanes == 12)
		return (bits = lanes_match12(v, k)) ? lanes_first(bits, 0) : -1;
	if (lanes == 4)
		return (bits = lanes_match4(v, k)) ? lanes_first(bits, 0) : -1;
	for (; i + 16 <= lanes; i += 16)
		if ((bits = lanes_match16(v + i, k)))
			return lanes_first(bits, i);
#pragma GCC unroll 3
	for (; i < lanes; i += 4)
		if ((bits = lanes_match4(v + i, k)))
			return lanes_first(bits, i);
	return -1;
}

#ifdef __AVX2__
LANES_INLINE __m128i lanes_min4(__m128i a, __m128i b)
{
	return _mm_min_epu32(a, b);
}
#else
LANES_INLINE __m128i lanes_min4(__m128i a, __m128i b)
{
	__m128i greater = _mm_cmpgt_epi32(a, b);

	return _mm_or_si128(_mm_and_si128(greater, b), _mm_andnot_si128(greater, a));
}
#endif

LANES_INLINE uint32_t lanes_min(const uint32_t *v, unsigned lanes)
{
	__m128i m = lanes_at(v);

#pragma GCC unroll 4
	for (unsigned i = 4; i < lanes; i += 4)
		m = lanes_min4(m, lanes_at(v + i));
	m = lanes_min4(m, _mm_shuffle_epi32(m, 0x4e));
	m = lanes_min4(m, _mm_shuffle_epi32(m, 0xb1));
	return (uint32_t)_mm_cvtsi128_si32(m);
}

#else

LANES_INLINE int lanes_find(const uint32_t *v, unsigned lanes, uint32_t key)
{
	for (unsigned i = 0; i < lanes; i++)
		if (v[i] == key)
			return (int)i;
	return -1;
}

LANES_INLINE uint32_t lanes_min(const uint32_t *v, unsigned lanes)
{
	uint32_t min = v[0];

	for (unsigned i = 1; i < lanes; i++)
		if (v[i] < min)
			min = v[i];
	return min;
}

#endif

#ifdef __AVX2__
LANES_INLINE unsigned lanes_oldest8(const uint32_t *v)
{
	__m256i all = *(const __m256i_u *)v;
	__m128i m = _mm_min_epu32(
		_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));

	m = _mm_min_epu32(m, _mm_shuffle_epi32(m, 0x4e));
	m = _mm_min_epu32(m, _mm_shuffle_epi32(m, 0xb1));
	all = _mm256_cmpeq_epi32(all, _mm256_broadcastd_epi32(m));
	return (unsigned)__builtin_ctz(
		(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(all)));
}
#endif

/* The lane with the smallest value: the way that was used longest ago. */
LANES_INLINE unsigned lanes_oldest(const uint32_t *v, unsigned lanes)
{
#ifdef __AVX2__
	if (lanes == 8)
		return lanes_oldest8(v);
#endif
	return (unsigned)lanes_find(v, lanes, lanes_min(v, lanes));
}

#endif
