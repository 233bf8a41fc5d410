/* SPDX-License-Identifier: MIT
 *
 * Whether a run is one that counts the same everywhere, and what of it does not.
 */
#include <string.h>

#include "output/report/report_parts.h"

#define MAX_UNPINNED 32

static void note_difference(struct cp_report *report, const char *what)
{
	for (size_t i = 0; i < report->nunpinned; i++)
		if (strcmp(report->unpinned[i], what) == 0)
			return;
	if (report->nunpinned < MAX_UNPINNED)
		report->unpinned[report->nunpinned++] =
			cp_arena_copy(report->arena, what, strlen(what));
}

/* The value is strings, one behind the other. */
static void read_pinned(struct cp_report *report, const char *value, size_t length)
{
	const char **list = cp_arena_alloc(report->arena, (length + 1) * sizeof(*list));
	const char *end = value + length;

	report->npinned = 0;
	for (; value < end; value += strlen(value) + 1)
		list[report->npinned++] = value;
	report->pinned = list;
}

static void read_process(struct cp_report *report, const struct cp_record *record)
{
	for (size_t i = 0; i < record->nmetas; i++)
		if (cp_meta_is(record->metas[i], "unpinned"))
			note_difference(report, cp_meta_value(record->metas[i]));
	if (record->header->how == CP_HOW_KILLED || record->header->how == CP_HOW_RUNNING)
		note_difference(report, "processes whose end was not seen");
}

void cp_report_pinned(struct cp_report *report, const struct cp_source_list *list,
	const struct cp_record *spokesman)
{
	size_t length = 0;
	const char *value = cp_record_meta(spokesman, "pinned", &length);

	if (!value)
		return;
	read_pinned(report, value, length);
	report->unpinned =
		cp_arena_alloc(report->arena, MAX_UNPINNED * sizeof(*report->unpinned));
	for (size_t i = 0; i < list->count; i++)
		read_process(report, &list->items[i]->record);
}
