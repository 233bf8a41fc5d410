/* SPDX-License-Identifier: MIT
 *
 * Lines of source, and functions, that were asked for as regions, and that no process
 * has.
 */
#include <string.h>

#include "output/report/report_parts.h"

/* How records tell of them, and what the user called them. */
struct asked {
	const char *seen, *missing, *prefix;
};

static const struct asked all_asked[] = {
	{"line_seen", "no_line", "line:"},
	{"function_seen", "no_function", "func:"},
	{"case_seen", "no_case", "case:"},
};

/* "NAME: why". */
static bool is_of(const char *value, const char *name, size_t length)
{
	return strncmp(value, name, length) == 0 && strncmp(value + length, ": ", 2) == 0;
}

static bool is_seen(const struct cp_record *record, const struct asked *asked,
	const char *name, size_t length)
{
	for (size_t j = 0; j < record->nmetas; j++)
		if (cp_meta_is(record->metas[j], asked->seen) &&
			strlen(cp_meta_value(record->metas[j])) == length &&
			memcmp(cp_meta_value(record->metas[j]), name, length) == 0)
			return true;
	return false;
}

/* Has a record before, or a note before in its own, said that already? */
static bool is_said(const struct cp_source_list *list, size_t before, size_t meta,
	const char *missing, const char *name, size_t length)
{
	for (size_t i = 0; i <= before; i++) {
		const struct cp_record *record = &list->items[i]->record;

		for (size_t j = 0; j < record->nmetas && (i < before || j < meta); j++)
			if (cp_meta_is(record->metas[j], missing) &&
				is_of(cp_meta_value(record->metas[j]), name, length))
				return true;
	}
	return false;
}

static bool is_anywhere(const struct cp_source_list *list, const struct asked *asked,
	const char *name, size_t length)
{
	for (size_t i = 0; i < list->count; i++)
		if (is_seen(&list->items[i]->record, asked, name, length))
			return true;
	return false;
}

static void report_missing(struct cp_report *report, const struct cp_source_list *list,
	const struct asked *asked, size_t i)
{
	const struct cp_record *record = &list->items[i]->record;

	for (size_t j = 0; j < record->nmetas; j++) {
		const char *value = cp_meta_value(record->metas[j]), *end;

		if (!cp_meta_is(record->metas[j], asked->missing))
			continue;
		end = strstr(value, ": ");
		if (end && !is_anywhere(list, asked, value, (size_t)(end - value)) &&
			!is_said(
				list, i, j, asked->missing, value, (size_t)(end - value)))
			cp_report_warn(
				report, "CACHEPEEK_REGIONS=%s%s", asked->prefix, value);
	}
}

/* Processes that run the same program say the same. */
static bool is_repeated(
	const struct cp_source_list *list, size_t before, const char *line)
{
	for (size_t i = 0; i < before; i++) {
		const struct cp_record *record = &list->items[i]->record;

		for (size_t j = 0; j < record->nmetas; j++)
			if (cp_meta_is(record->metas[j], "function_note") &&
				strcmp(cp_meta_value(record->metas[j]), line) == 0)
				return true;
	}
	return false;
}

static void report_notes(
	struct cp_report *report, const struct cp_source_list *list, size_t i)
{
	const struct cp_record *record = &list->items[i]->record;

	for (size_t j = 0; j < record->nmetas; j++) {
		const char *line = cp_meta_value(record->metas[j]);

		if (cp_meta_is(record->metas[j], "function_note") &&
			!is_repeated(list, i, line))
			cp_report_warn(report, "CACHEPEEK_REGIONS=func: %s", line);
	}
}

void cp_report_lines(struct cp_report *report, const struct cp_source_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		for (size_t k = 0; k < sizeof(all_asked) / sizeof(all_asked[0]); k++)
			report_missing(report, list, &all_asked[k], i);
		report_notes(report, list, i);
	}
}
