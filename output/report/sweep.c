/* SPDX-License-Identifier: MIT */
#include "output/report/sweep.h"

#include <string.h>

#include "base/format.h"
#include "base/text.h"

#define MARK "_misses["

const char cp_sweep_limits[] =
	"other levels: what they would miss then is not simulated; "
	"--what-if LEVEL.FIELD=VALUE runs one such machine as a whole";

bool cp_sweep_is_point(const char *quantity)
{
	return strstr(quantity, MARK) != NULL;
}

/* ---- names ---- */

/* LEVEL_misses[FIELD=VALUE] */
static bool take_name(struct cp_sweep *sweep, const char *name, size_t quantity)
{
	const char *mark = strstr(name, MARK), *equals, *end;
	struct cp_sweep_point *point = &sweep->point[sweep->npoints];
	uint64_t value;

	if (!mark || sweep->npoints == CP_SWEEP_MOST)
		return false;
	equals = strchr(mark, '=');
	if (!equals || !cp_parse_size_prefix(equals + 1, &end, &value))
		return false;
	*point = (struct cp_sweep_point){.quantity = quantity,
		.value = value,
		.label = equals + 1,
		.label_length = (size_t)(end - equals - 1)};
	sweep->npoints++;
	cp_format(sweep->level, sizeof(sweep->level), "%.*s", (int)(mark - name), name);
	mark += strlen(MARK);
	cp_format(sweep->field, sizeof(sweep->field), "%.*s", (int)(equals - mark), mark);
	return true;
}

static void make_title(struct cp_sweep *sweep)
{
	char *to = sweep->title;

	cp_format(to, sizeof(sweep->title), "%s",
		strcmp(sweep->level, "llc") == 0 ? "l3" : sweep->level);
	for (; *to; to++)
		*to = (char)(*to >= 'a' && *to <= 'z' ? *to & ~0x20 : *to);
}

/* ---- what they have in common ---- */

/* "… NAME=NUMBER …" */
static uint64_t number_after(const char *text, const char *name)
{
	const char *at = strstr(text, name), *end;
	uint64_t value;

	return at && cp_parse_u64_prefix(at + strlen(name), &end, &value) == 0 ? value
									       : 0;
}

static void shape_points(struct cp_sweep *sweep)
{
	uint64_t unit = sweep->line ? sweep->line : 1;

	for (size_t i = 0; i < sweep->npoints; i++) {
		struct cp_sweep_point *point = &sweep->point[i];

		if (strcmp(sweep->field, "ways") == 0) {
			point->ways = point->value;
			point->sets = sweep->sets;
		} else if (sweep->ways) {
			point->ways = sweep->ways;
			point->sets = point->value / sweep->ways / unit;
		}
	}
}

bool cp_sweep_find(const struct cp_report *report, struct cp_sweep *sweep)
{
	memset(sweep, 0, sizeof(*sweep));
	for (size_t i = 0; i < report->nquantities; i++)
		take_name(sweep, report->quantities[i], i);
	if (!sweep->npoints)
		return false;
	make_title(sweep);
	sweep->own = number_after(report->sweep, " own=");
	sweep->line = number_after(report->sweep, " line=");
	sweep->sets = number_after(report->sweep, " sets=");
	sweep->ways = number_after(report->sweep, " ways=");
	shape_points(sweep);
	return true;
}
