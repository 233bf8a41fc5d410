/* SPDX-License-Identifier: MIT */
#include "output/endings.h"

#include <stdbool.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"

/* An ending comes before those that it ends in. */
static const struct {
	const char *ending;
	enum cp_format format;
} endings[] = {
	{".txt", CP_FORMAT_TEXT},
	{".trace.json", CP_FORMAT_TRACE},
	{".speedscope.json", CP_FORMAT_SPEEDSCOPE},
	{".json", CP_FORMAT_JSON},
	{".csv", CP_FORMAT_CSV},
	{".html", CP_FORMAT_HTML},
	{".prom", CP_FORMAT_OPENMETRICS},
	{".callgrind", CP_FORMAT_CALLGRIND},
	{".folded", CP_FORMAT_FOLDED},
	{".pprof", CP_FORMAT_PPROF},
	{".pb.gz", CP_FORMAT_PPROF},
	{".md", CP_FORMAT_MARKDOWN},
	{".xml", CP_FORMAT_JUNIT},
	{".sarif", CP_FORMAT_SARIF},
};
#define NENDINGS (sizeof(endings) / sizeof(endings[0]))

static bool is_taken(size_t ending, unsigned takes)
{
	return takes >> endings[ending].format & 1;
}

static size_t find_ending(const char *output, unsigned takes)
{
	size_t i = 0;

	while (i < NENDINGS &&
		!(is_taken(i, takes) && cp_ends_with(output, endings[i].ending)))
		i++;
	return i;
}

/* Callgrind itself names its files callgrind.out.PID. */
static bool is_callgrinds(const char *output)
{
	const char *slash = strrchr(output, '/');

	return cp_starts_with(slash ? slash + 1 : output, "callgrind.out");
}

static bool has_no_ending(const char *output)
{
	return !output || strcmp(output, "-") == 0 || strcmp(output, "stderr") == 0 ||
	       cp_starts_with(output, "/dev/");
}

int cp_format_of(const char *output, unsigned takes)
{
	size_t found = output ? find_ending(output, takes) : NENDINGS;

	if (found < NENDINGS)
		return (int)endings[found].format;
	if (has_no_ending(output))
		return CP_FORMAT_TEXT;
	return takes & CP_TAKES(CALLGRIND) && is_callgrinds(output) ? CP_FORMAT_CALLGRIND
								    : -1;
}

const char *cp_format_ending(const char *output, unsigned takes)
{
	size_t found = find_ending(output, takes);

	return found < NENDINGS ? endings[found].ending : NULL;
}

size_t cp_format_endings(char *text, size_t size, unsigned takes)
{
	size_t length = 0, left = 0;

	for (size_t i = 0; i < NENDINGS; i++)
		left += is_taken(i, takes);
	for (size_t i = 0; i < NENDINGS && length < size; i++)
		if (is_taken(i, takes)) {
			left--;
			length += cp_format(text + length, size - length, "%s%s",
				endings[i].ending,
				left > 1    ? ", "
				: left == 1 ? " or "
					    : "");
		}
	return length;
}
