/* SPDX-License-Identifier: MIT
 *
 * The page of a profile: the JSON report, how its columns come about, the lines of source
 * around misses (tools/profile/listing.h), and the call paths that are drawn.  So that a
 * browser can hold the page it has no 0 of a place, and of a large program no
 * instructions with a miss or two.
 */
#include <string.h>

#include "output/html.h"
#include "output/json.h"
#include "output/meanings.h"
#include "tools/profile/listing.h"
#include "tools/profile/calls/stacks.h"
#include "tools/profile/model/write.h"

static void put_metrics(struct cp_out *out, const struct cp_group *measurement)
{
	cp_out_text(out, "\"metrics\": [");
	for (size_t i = 0; i < measurement->nmetrics; i++) {
		const struct cp_metric *metric = &measurement->metrics[i];

		cp_out_text(out, i ? ",\n{" : "\n{");
		cp_json_pair(out, "name", metric->name);
		cp_json_next(out, "unit", metric->unit);
		cp_json_next(out, "formula", metric->formula_text);
		cp_out_text(out, "}");
	}
	cp_out_text(out, "],\n");
}

static void put_columns(struct cp_out *out, const struct cp_group *measurement)
{
	cp_out_text(out, "\"columns\": [");
	for (size_t i = 0; i < measurement->ncolumns; i++) {
		cp_out_text(out, i ? ", {" : "{");
		cp_json_pair(out, "name", measurement->columns[i].name);
		cp_json_next(out, "heading", measurement->columns[i].heading);
		cp_out_text(out, "}");
	}
	cp_out_text(out, "],\n");
}

static void put_reason(struct cp_out *out, const struct cp_profile_view *view,
	const char *name, const struct cp_tally *totals, const char **comma)
{
	struct cp_value value =
		cp_measure(view->profile, view->measurement, name, totals);

	if (value.status != CP_UNAVAILABLE)
		return;
	cp_out_text(out, *comma);
	cp_json_pair(out, name, value.reason);
	*comma = ",\n";
}

/* Why the whole run has no such value. */
static void put_reasons(struct cp_out *out, const struct cp_profile_view *view)
{
	const struct cp_tally totals = cp_profile_totals(view->profile);
	const char *comma = "\n";

	cp_out_text(out, "\"reasons\": {");
	for (const char *const *name = cp_profile_quantities(view); *name; name++)
		put_reason(out, view, *name, &totals, &comma);
	for (size_t i = 0; i < view->measurement->nmetrics; i++)
		put_reason(
			out, view, view->measurement->metrics[i].name, &totals, &comma);
	cp_out_text(out, "}}\n");
}

/* With more instructions than this a page shows only those that matter. */
enum { MANY = 5000 };

static size_t count_instructions(const struct cp_profile_view *view)
{
	size_t n = 0;

	for (size_t i = 0; i < view->profile->nsites; i++) {
		struct cp_tally tally = {.only_kept = true};

		if (view->profile->bursts) { /* there are few: it need not be exact */
			n++;
			continue;
		}
		cp_tally_site(&tally, &view->profile->sites[i]);
		n += cp_measure_order(
			     view->profile, view->measurement, CP_BY_MISSES, &tally) > 0;
	}
	return n;
}

static double least_percent(const struct cp_profile_view *view)
{
	if (count_instructions(view) <= MANY)
		return 0;
	return view->path_percent < 0 ? CP_STACKS_PERCENT : view->path_percent;
}

static double least_misses(const struct cp_profile_view *view)
{
	const struct cp_tally totals = cp_profile_totals(view->profile);

	return least_percent(view) / 100 *
	       cp_measure_order(view->profile, view->measurement, CP_BY_MISSES, &totals);
}

/* Names the quantities that are counted by place, where a missing one is 0. */
static void put_placed(struct cp_out *out, const struct cp_profile_view *view)
{
	const char *comma = "";

	cp_out_text(out, "\"placed\": [");
	for (const char *const *name = cp_profile_quantities(view); *name; name++) {
		if (view->profile->sampled || !cp_profile_is_placed(view, *name))
			continue;
		cp_out_text(out, comma);
		cp_json_quoted(out, *name);
		comma = ", ";
	}
	cp_out_text(out, "],\n");
}

static void put_view(struct cp_out *out, const struct cp_profile_view *view)
{
	cp_out_format(out, "{\"least_percent\": %g,\n", least_percent(view));
	put_placed(out, view);
	cp_json_pair(out, "description", view->measurement->description);
	cp_out_text(out, ",\n");
	put_metrics(out, view->measurement);
	put_columns(out, view->measurement);
	put_reasons(out, view);
}

static void put_meanings(struct cp_out *out, const struct cp_profile_view *view)
{
	const char *const *names = cp_profile_quantities(view);
	size_t n = 0;

	while (names[n])
		n++;
	cp_meanings_write(out, &view->measurement, 1, names, n);
}

/* null: there are no call paths. */
static void put_stacks(struct cp_out *out, const struct cp_profile_view *view)
{
	if (view->profile->npaths)
		cp_stacks_write_json(out, cp_stacks_of(view, false));
	else
		cp_out_text(out, "null\n");
}

static void put_part(struct cp_out *out, const char *name, const void *data)
{
	const struct cp_profile_view *view = data;
	struct cp_profile_view page = *view;

	page.is_page = true;
	page.least_misses = least_misses(view);
	if (strcmp(name, "REPORT") == 0)
		cp_profile_write_json(out, &page);
	else if (strcmp(name, "VIEW") == 0)
		put_view(out, view);
	else if (strcmp(name, "MEANINGS") == 0)
		put_meanings(out, view);
	else if (strcmp(name, "STACKS") == 0)
		put_stacks(out, view);
	else
		cp_listing_write(out, view->profile);
}

void cp_profile_write_html(struct cp_out *out, const struct cp_profile_view *view)
{
	cp_page_write(out, "profile.html", put_part, view);
}
