/* SPDX-License-Identifier: MIT */
#include "base/text/utf8.h"

#include <stdbool.h>

static size_t expected_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* Rules out overlong forms, surrogates and what is beyond U+10FFFF. */
static bool second_is_sound(unsigned char first, unsigned char second)
{
	switch (first) {
	case 0xe0:
		return second >= 0xa0;
	case 0xed:
		return second <= 0x9f;
	case 0xf0:
		return second >= 0x90;
	case 0xf4:
		return second <= 0x8f;
	default:
		return true;
	}
}

size_t cp_utf8_length(const char *text, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t expected = length ? expected_length(bytes[0]) : 0;

	if (expected > length)
		return 0;
	for (size_t i = 1; i < expected; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	if (expected > 1 && !second_is_sound(bytes[0], bytes[1]))
		return 0;
	return expected;
}

size_t cp_utf8_columns(const char *text, size_t length)
{
	size_t columns = 0;

	for (size_t i = 0; i < length; columns++) {
		size_t bytes = cp_utf8_length(text + i, length - i);

		i += bytes ? bytes : 1;
	}
	return columns;
}
