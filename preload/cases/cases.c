/* SPDX-License-Identifier: MIT */
#include "preload/cases/cases.h"

#include <string.h>

#include "base/arena.h"
#include "base/embedded.h"
#include "base/format.h"
#include "base/text.h"
#include "base/text/name_pattern.h"
#include "preload/runtime.h"
#include "preload/warn.h"
#include "regions/record.h"

#define PREFIX "case:"
#define ROOM 4096 /* for all rules */

static struct cp_store store; /* of the list */

struct row {
	struct cp_span framework, rule;
};

/* ---- the frameworks ---- */

static bool next_row(const char **text, struct row *row)
{
	const char *line;
	size_t length;

	while ((line = cp_next_piece(text, '\n', &length))) {
		const char *space = memchr(line, ' ', length);

		if (*line == '#' || !space)
			continue;
		row->framework = (struct cp_span){line, space};
		row->rule = (struct cp_span){space + 1, line + length};
		return true;
	}
	return false;
}

/* The next "case:" of the list, without that. */
static struct cp_span next_case(const char **list)
{
	const char *piece;
	size_t length;

	while (*list && (piece = cp_next_piece(list, ',', &length)))
		if (length > strlen(PREFIX) && cp_starts_with(piece, PREFIX))
			return (struct cp_span){piece + strlen(PREFIX), piece + length};
	return (struct cp_span){NULL, NULL};
}

static bool is_asked(const char *list, struct cp_span framework)
{
	struct cp_span pattern;

	while ((pattern = next_case(&list)).at)
		if (cp_pattern_matches(pattern, framework))
			return true;
	return false;
}

static bool is_known(struct cp_span pattern)
{
	const char *text = cp_embedded_find("frameworks.names");
	struct row row;

	while (text && next_row(&text, &row))
		if (cp_pattern_matches(pattern, row.framework))
			return true;
	return false;
}

/* ---- the list ---- */

static size_t put_rule(struct cp_span rule, char *to, size_t size)
{
	bool except = *rule.at == '!';

	rule.at += except;
	return cp_format(to, size, ",%srule:%.*s", except ? "!" : "",
		(int)(rule.end - rule.at), rule.at);
}

static size_t add_rules(const char *list, char *to, size_t size)
{
	const char *text = cp_embedded_find("frameworks.names");
	size_t length = 0;
	struct row row;

	while (text && next_row(&text, &row) && length < size)
		if (is_asked(list, row.framework))
			length += put_rule(row.rule, to + length, size - length);
	return length;
}

const char *cp_cases_expand(const char *patterns)
{
	const char *list = patterns;
	size_t length;
	char *all;

	if (!next_case(&list).at)
		return patterns;
	length = strlen(patterns);
	all = cp_store_take(&store, length + ROOM);
	if (!all)
		return patterns;
	memcpy(all, patterns, length);
	return add_rules(patterns, all + length, ROOM) < ROOM ? all : patterns;
}

/* ---- what is said ---- */

void cp_cases_complain(const char *patterns)
{
	struct cp_span piece;
	char line[400];

	while ((piece = next_case(&patterns)).at) {
		if (is_known(piece))
			continue;
		cp_format(line, sizeof(line),
			"CACHEPEEK_REGIONS: case:%.*s is ignored: expected case:*, "
			"case:googlebenchmark, case:googletest, case:catch2 or "
			"case:criterion",
			(int)(piece.end - piece.at < 100 ? piece.end - piece.at : 100),
			piece.at);
		cp_warn(line);
	}
}

void cp_cases_check(const char *patterns, bool found)
{
	struct cp_span piece;
	char text[400];

	while ((piece = next_case(&patterns)).at)
		cp_record_put_meta(&cp_runtime.record, found ? "case_seen" : "no_case",
			text,
			cp_format(text, sizeof(text), "%.*s%s",
				(int)(piece.end - piece.at < 100 ? piece.end - piece.at
								 : 100),
				piece.at,
				found ? ""
				      : ": no function of such a framework has "
					"a name in the program or its libraries; "
					"was it stripped?"));
}
