/* SPDX-License-Identifier: MIT
 *
 * A mutator for files of our own that are made of 8-byte words: offsets, sizes, counts,
 * flags.  Half of the time it changes one word, and leaves its neighbours whole, so that
 * what is read comes further than with bytes that change anywhere.
 */
#ifndef CACHEPEEK_TESTS_FUZZ_WORDS_H
#define CACHEPEEK_TESTS_FUZZ_WORDS_H

#include "tests/fuzz/fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static unsigned next_random(unsigned *state)
{
	*state = *state * 1103515245u + 12345u;
	return *state >> 8;
}

/* A word becomes another one: one that matters by itself, or near to what it was. */
static uint64_t other_word(uint64_t word, uint64_t another, size_t size, unsigned *state)
{
	const uint64_t words[] = {0, 1, UINT64_MAX, INT64_MAX, 1ull << 63, UINT32_MAX,
		1ull << 31, 1ull << 53, size, size - 8, another, ~word, word + 1,
		word - 1, word << 1, word >> 1, word ^ 1ull << next_random(state) % 64};

	return words[next_random(state) % (sizeof(words) / sizeof(words[0]))];
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	size_t count = size / 8, at;
	uint64_t word, another;

	if (count < 2 || next_random(&seed) % 2)
		return LLVMFuzzerMutate(data, size, most);
	at = next_random(&seed) % count;
	memcpy(&word, data + 8 * at, 8);
	memcpy(&another, data + 8 * (next_random(&seed) % count), 8);
	word = other_word(word, another, size, &seed);
	memcpy(data + 8 * at, &word, 8);
	return size;
}

#endif
