/* SPDX-License-Identifier: MIT
 *
 * Loops for a compiler to make vectors of: each kind for each type, each in a function of
 * its own, and a line with a hash of what it has computed.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#define N 203 /* no multiple of any vector's lanes */

static uint64_t hash(const void *of, size_t size)
{
	uint64_t h = 14695981039346656037ull;

	for (const uint8_t *at = of, *end = at + size; at < end; at++)
		h = (h ^ *at) * 1099511628211ull;
	return h;
}

static uint32_t chance = 1;

static uint32_t next_number(void)
{
	chance = chance * 1664525 + 1013904223;
	return chance >> 8;
}

static uint32_t order[N];

static void shuffle(void)
{
	for (uint32_t i = 0; i < N; i++)
		order[i] = i * 37 % N;
}

/* a and b are what is read, c what is written; i: where. */
#define DATA(T)                                                                          \
	static T T##_a[N], T##_b[N], T##_c[2 * N];                                       \
	static void T##_fill(void)                                                       \
	{                                                                                \
		for (int i = 0; i < N; i++) {                                            \
			T##_a[i] = (T)((int32_t)(next_number() & 0xffff) - 0x8000);      \
			T##_b[i] = (T)((next_number() & 0x7f) + 1);                      \
			T##_c[i] = (T)(next_number() & 0xff);                            \
		}                                                                        \
	}

#define LOOP(T, name, ...)                                                               \
	static __attribute__((noinline)) void T##_##name(int n)                          \
	{                                                                                \
		T *a = T##_a, *b = T##_b, *c = T##_c;                                    \
		for (int i = 0; i < n; i++) {                                            \
			__VA_ARGS__;                                                     \
		}                                                                        \
		(void)a, (void)b;                                                        \
	}                                                                                \
	static void T##_##name##_run(void)                                               \
	{                                                                                \
		T##_##name(N);                                                           \
		printf(#T " " #name " %016llx\n",                                        \
			(unsigned long long)hash(T##_c, sizeof(T##_c)));                 \
	}

#define SUM(T, name, start, ...)                                                         \
	static __attribute__((noinline)) T T##_##name(int n)                             \
	{                                                                                \
		T *a = T##_a, *b = T##_b, s = start;                                     \
		for (int i = 0; i < n; i++) {                                            \
			__VA_ARGS__;                                                     \
		}                                                                        \
		(void)b;                                                                 \
		return s;                                                                \
	}                                                                                \
	static void T##_##name##_run(void)                                               \
	{                                                                                \
		T s = T##_##name(N);                                                     \
		printf(#T " " #name " %016llx\n",                                        \
			(unsigned long long)hash(&s, sizeof(s)));                        \
	}

/* Kernels of every type. */
#define COMMON(X, Y, T)                                                                  \
	X(T, add, c[i] = a[i] + b[i])                                                    \
	X(T, subtract, c[i] = a[i] - b[i])                                               \
	X(T, multiply, c[i] = a[i] * b[i])                                               \
	X(T, larger, c[i] = a[i] > b[i] ? a[i] : b[i])                                   \
	X(T, smaller, c[i] = a[i] < b[i] ? a[i] : b[i])                                  \
	X(T, fused, c[i] = a[i] * b[i] + c[i])                                           \
	X(T, some, if (a[i] > b[i]) c[i] = a[i] * 3 + b[i])                              \
	X(T, few, if (a[i] == b[i]) c[i] = a[i])                                         \
	X(T, select, c[i] = a[i] < 0 ? b[i] : c[i])                                      \
	X(T, backwards, c[i] = a[n - 1 - i])                                             \
	X(T, second, c[i] = c[2 * i] + a[i])                                             \
	X(T, pairs, c[2 * i] = a[i]; c[2 * i + 1] = b[i])                                \
	X(T, gather, c[i] = a[order[i]])                                                 \
	X(T, scatter, c[order[i]] = a[i])                                                \
	X(T, constant, c[i] = (T)i)                                                      \
	Y(T, sum, 0, s += a[i])                                                          \
	Y(T, product_sum, 0, s += a[i] * b[i])                                           \
	Y(T, largest, 0, s = a[i] > s ? a[i] : s)                                        \
	Y(T, count, 0, s += a[i] > b[i])

#define INTEGER(X, Y, T)                                                                 \
	COMMON(X, Y, T)                                                                  \
	X(T, and, c[i] = a[i] & b[i])                                                    \
	X(T, logic, c[i] = (a[i] & b[i]) ^ (~a[i] | c[i]))                               \
	X(T, left, c[i] = (T)((uint64_t)a[i] << (b[i] & 7)))                             \
	X(T, right, c[i] = a[i] >> (b[i] & 7))                                           \
	X(T, rotate, c[i] = (T)((uint32_t)a[i] << 3 | (uint32_t)a[i] >> 29))             \
	X(T, difference, c[i] = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i])                 \
	X(T, bits, c[i] = (T)__builtin_popcountll((uint64_t)a[i]))                       \
	X(T, average, c[i] = (T)(((int64_t)a[i] + b[i] + 1) >> 1))                       \
	Y(T, parity, 0, s ^= a[i] & b[i])

#define REAL(X, Y, T)                                                                    \
	COMMON(X, Y, T)                                                                  \
	X(T, divide, c[i] = a[i] / b[i])                                                 \
	X(T, root, c[i] = (T)sqrt((double)(a[i] * a[i] + b[i])))                         \
	X(T, absolute, c[i] = (T)fabs((double)a[i]))                                     \
	X(T, truncate, c[i] = (T)trunc((double)(a[i] / b[i])))                           \
	X(T, convert, c[i] = (T)(int32_t)(a[i] / b[i]))                                  \
	X(T, convert64, c[i] = (T)(int64_t)(a[i] * b[i]))                                \
	X(T, sign, c[i] = (T)copysign((double)b[i], (double)a[i]))

#define CALL_LOOP(T, name, ...) T##_##name##_run();
#define CALL_SUM(T, name, start, ...) T##_##name##_run();

#define INTEGERS(X, Y, Z)                                                                \
	Z(int8_t, INTEGER, X, Y)                                                         \
	Z(uint8_t, INTEGER, X, Y)                                                        \
	Z(int16_t, INTEGER, X, Y)                                                        \
	Z(uint16_t, INTEGER, X, Y)                                                       \
	Z(int32_t, INTEGER, X, Y)                                                        \
	Z(uint32_t, INTEGER, X, Y)                                                       \
	Z(int64_t, INTEGER, X, Y)                                                        \
	Z(uint64_t, INTEGER, X, Y)
#define REALS(X, Y, Z) Z(float, REAL, X, Y) Z(double, REAL, X, Y)

#define DEFINE(T, KIND, X, Y) DATA(T) KIND(X, Y, T)
#define CALL(T, KIND, X, Y)                                                              \
	T##_fill();                                                                      \
	KIND(X, Y, T)

INTEGERS(LOOP, SUM, DEFINE)
REALS(LOOP, SUM, DEFINE)

int main(void)
{
	shuffle();
	INTEGERS(CALL_LOOP, CALL_SUM, CALL)
	REALS(CALL_LOOP, CALL_SUM, CALL)
	return 0;
}
