/* SPDX-License-Identifier: MIT */
#include "preload/markers/markers_text.h"

#include <stdint.h>

static size_t put_number(uint32_t c, unsigned char to[4])
{
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (length == 1) {
		to[0] = (unsigned char)c;
		return 1;
	}
	for (size_t i = length - 1; i > 0; i--, c >>= 6)
		to[i] = (unsigned char)(0x80 | (c & 0x3f));
	to[0] = (unsigned char)(lead[length] | c);
	return length;
}

size_t cp_utf8_of_wide(const wchar_t *text, char *to, size_t size)
{
	size_t used = 0, length;
	unsigned char bytes[4];

	for (; *text; text++) {
		uint32_t c = (uint32_t)*text;

		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = 0xfffd;
		length = put_number(c, bytes);
		if (used + length >= size)
			break;
		for (size_t i = 0; i < length; i++)
			to[used++] = (char)bytes[i];
	}
	to[used] = '\0';
	return used;
}
