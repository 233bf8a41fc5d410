/* SPDX-License-Identifier: MIT
 *
 * Lines of source that were asked for as regions, and that no process has.
 */
#include <string.h>

#include "output/report/report_parts.h"

/* "NAME: why". */
static bool is_of(const char *value, const char *name, size_t length)
{
	return strncmp(value, name, length) == 0 && strncmp(value + length, ": ", 2) == 0;
}

static bool has_line(const struct cp_record *record, const char *name, size_t length)
{
	for (size_t j = 0; j < record->nmetas; j++)
		if (cp_meta_is(record->metas[j], "line_seen") &&
			strlen(cp_meta_value(record->metas[j])) == length &&
			memcmp(cp_meta_value(record->metas[j]), name, length) == 0)
			return true;
	return false;
}

/* Is it there in some process, or has one said already that it is not? */
static bool is_settled(const struct cp_source_list *list, size_t before, size_t meta,
	const char *name, size_t length)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct cp_record *record = &list->items[i]->record;

		if (has_line(record, name, length))
			return true;
		for (size_t j = 0; i <= before && j < record->nmetas; j++)
			if ((i < before || j < meta) &&
				cp_meta_is(record->metas[j], "no_line") &&
				is_of(cp_meta_value(record->metas[j]), name, length))
				return true;
	}
	return false;
}

void cp_report_lines(struct cp_report *report, const struct cp_source_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct cp_record *record = &list->items[i]->record;

		for (size_t j = 0; j < record->nmetas; j++) {
			const char *value = cp_meta_value(record->metas[j]), *end;

			if (!cp_meta_is(record->metas[j], "no_line"))
				continue;
			end = strstr(value, ": ");
			if (end && !is_settled(list, i, j, value, (size_t)(end - value)))
				cp_report_warn(
					report, "CACHEPEEK_REGIONS=line:%s", value);
		}
	}
}
