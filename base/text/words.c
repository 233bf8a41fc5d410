/* SPDX-License-Identifier: MIT */
#include "base/text/words.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

size_t cp_slice_length(struct cp_slice slice)
{
	return (size_t)(slice.end - slice.at);
}

bool cp_slice_is(struct cp_slice slice, const char *text)
{
	size_t length = cp_slice_length(slice);

	return strlen(text) == length && memcmp(slice.at, text, length) == 0;
}

struct cp_slice cp_slice_of(const char *text)
{
	return (struct cp_slice){text, text + strlen(text)};
}

struct cp_slice cp_slice_trim(struct cp_slice slice)
{
	while (slice.at < slice.end && is_blank(*slice.at))
		slice.at++;
	while (slice.at < slice.end && is_blank(slice.end[-1]))
		slice.end--;
	return slice;
}

bool cp_lines_verbatim(struct cp_lines *lines, struct cp_slice *line)
{
	if (!*lines->at)
		return false;
	line->at = lines->at;
	line->end = line->at + strcspn(line->at, "\n");
	lines->at = line->end + (*line->end == '\n');
	lines->number++;
	return true;
}

static struct cp_slice without_comment(struct cp_slice line)
{
	for (const char *c = line.at; c < line.end; c++)
		if (*c == '#' && (c == line.at || is_blank(c[-1])))
			return (struct cp_slice){line.at, c};
	return line;
}

bool cp_lines_next(struct cp_lines *lines, struct cp_slice *line)
{
	while (cp_lines_verbatim(lines, line)) {
		*line = cp_slice_trim(without_comment(*line));
		if (line->at < line->end)
			return true;
	}
	return false;
}

bool cp_slice_word(struct cp_slice *rest, struct cp_slice *word)
{
	*rest = cp_slice_trim(*rest);
	word->at = rest->at;
	while (rest->at < rest->end && !is_blank(*rest->at))
		rest->at++;
	word->end = rest->at;
	return word->at < word->end;
}

bool cp_slice_part(struct cp_slice *rest, char mark, struct cp_slice *part)
{
	if (rest->at >= rest->end)
		return false;
	part->at = rest->at;
	while (rest->at < rest->end && *rest->at != mark)
		rest->at++;
	part->end = rest->at;
	if (rest->at < rest->end)
		rest->at++;
	*part = cp_slice_trim(*part);
	return true;
}
