/* SPDX-License-Identifier: MIT
 *
 * "line:FILE:LINE" and "line:FILE:FIRST-LAST" of CACHEPEEK_REGIONS: lines of source that
 * are regions.  "line:" may be left out where FILE has an ending, as in sort.c:120.
 *
 * The library and the simulated PMU, which has no libc, both read it.
 */
#ifndef CACHEPEEK_BASE_TEXT_LINE_SPEC_H
#define CACHEPEEK_BASE_TEXT_LINE_SPEC_H

#include <stddef.h>

struct cp_line_spec {
	const char *name;            /* of the region: FILE:LINE as written */
	size_t name_size, file_size; /* the name begins with the file */
	unsigned first, last;
};

static inline const char *cp_line_number(const char *at, const char *end, unsigned *to)
{
	const char *start = at;

	for (*to = 0; at < end && *at >= '0' && *at <= '9' && *to < 100000000; at++)
		*to = 10 * *to + (unsigned)(*at - '0');
	return at > start ? at : NULL;
}

/* The last colon, and behind it what is no dot. */
static inline const char *cp_line_colon(const char *at, const char *end)
{
	const char *colon = NULL;

	for (; at < end; at++)
		if (*at == ':')
			colon = at;
	return colon;
}

/* Has the last part of the path an ending; is it no name of anything else? */
static inline int cp_line_is_file(const char *at, const char *end)
{
	int dot = 0;

	for (; at < end; at++) {
		if (*at == '@' || *at == '*' || *at == '?' || *at == '!' || *at == ':')
			return 0;
		dot = *at == '/' ? 0 : dot || (*at == '.' && at + 1 < end);
	}
	return dot;
}

static inline int cp_line_numbers(
	const char *at, const char *end, struct cp_line_spec *spec)
{
	at = cp_line_number(at, end, &spec->first);
	spec->last = spec->first;
	if (at && at < end && *at == '-')
		at = cp_line_number(at + 1, end, &spec->last);
	return at == end && spec->first > 0 && spec->first <= spec->last;
}

/* By hand: the simulator has no memcmp, which a compiler may call for its own. */
static inline int cp_line_marked(const char *piece, size_t size)
{
	static const char mark[] = {'l', 'i', 'n', 'e', ':'};
	size_t same = 0;

	while (same < sizeof(mark) && same < size && piece[same] == mark[same])
		same++;
	return same == sizeof(mark);
}

/* 1: it is one; 0: it is something else; -1: it should be one. */
static inline int cp_line_spec_read(
	const char *piece, size_t size, struct cp_line_spec *spec)
{
	const char *end = piece + size, *from = piece, *colon;
	int marked = cp_line_marked(piece, size);

	if (marked)
		from += 5;
	colon = cp_line_colon(from, end);
	spec->name = from;
	spec->name_size = (size_t)(end - from);
	spec->file_size = colon ? (size_t)(colon - from) : 0;
	if (colon && colon > from && cp_line_numbers(colon + 1, end, spec) &&
		(marked || cp_line_is_file(from, colon)))
		return 1;
	return marked ? -1 : 0;
}

#endif
