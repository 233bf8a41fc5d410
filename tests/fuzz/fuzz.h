/* SPDX-License-Identifier: MIT
 *
 * Shared by the fuzz targets.  Each holds LLVMFuzzerTestOneInput, which gives
 * the bytes to one reader; the arena below finds what runs over an allocation.
 */
#ifndef CACHEPEEK_TESTS_FUZZ_H
#define CACHEPEEK_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes as a string of exactly that size. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* Uses a result, so that a dangling one is found. */
static inline void fuzz_read(const char *text)
{
	static volatile size_t sum __attribute__((unused));

	if (text)
		sum += strlen(text);
}

#endif
