/* SPDX-License-Identifier: MIT
 *
 * Several runs that shared the events (passes): the report of the first, with
 * what the others counted put in by the regions' paths.
 */
#include <string.h>

#include "base/format.h"
#include "output/report/report_parts.h"

#define SAME 0.01 /* of a count, by which two passes may differ */
#define COMMON "instructions"

int cp_common_quantity(const struct cp_report *report)
{
	return cp_report_quantity(report, COMMON);
}

static const struct cp_region *same_path(
	const struct cp_region *root, const struct cp_region *region)
{
	const struct cp_region *parent;

	if (!region->parent)
		return root;
	parent = same_path(root, region->parent);
	return parent ? cp_region_child_like(parent, region) : NULL;
}

/* The count that all passes share; NULL: it has no value in one of the two. */
static bool common_counts(const struct cp_report *a, const struct cp_region *in_a,
	const struct cp_report *b, const struct cp_region *in_b, double values[2])
{
	int of_a = cp_common_quantity(a), of_b = cp_common_quantity(b);

	if (of_a < 0 || of_b < 0 || in_a->counts[of_a].status == CP_UNAVAILABLE ||
		in_b->counts[of_b].status == CP_UNAVAILABLE)
		return false;
	values[0] = (double)in_a->counts[of_a].value;
	values[1] = (double)in_b->counts[of_b].value;
	return true;
}

static bool are_different(const double values[2])
{
	double more = values[0] > values[1] ? values[0] : values[1];

	return __builtin_fabs(values[0] - values[1]) > SAME * more;
}

/* Why the region is not the same in both, or NULL. */
static const char *describe_difference(struct cp_report *report,
	const struct cp_region *region, const struct cp_report *other,
	const struct cp_region *there, uint32_t pass)
{
	char text[160];
	size_t length;
	double values[2];

	if (region->calls != there->calls)
		length = cp_format(text, sizeof(text),
			"counted in pass %u, with %lu executions instead of %lu", pass,
			(unsigned long)there->calls, (unsigned long)region->calls);
	else if (common_counts(report, region, other, there, values) &&
		 are_different(values))
		length = cp_format(text, sizeof(text),
			"counted in pass %u, with %.0f " COMMON " instead of %.0f", pass,
			values[1], values[0]);
	else
		return NULL;
	return cp_arena_copy(report->arena, text, length);
}

/* Threads of another run are no places of this one. */
static void take_count(struct cp_count *to, const struct cp_count *from, const char *why)
{
	*to = *from;
	to->over = (struct cp_extent){.nthreads = 0};
	if (!why || to->status == CP_UNAVAILABLE)
		return;
	to->status = CP_ESTIMATED;
	to->reason = why;
}

static void take_region(struct cp_report *report, struct cp_region *region,
	const struct cp_report *other, const struct cp_region *there, uint32_t pass)
{
	const char *why = describe_difference(report, region, other, there, pass);

	for (size_t i = 0; i < report->nquantities; i++) {
		int index = cp_report_quantity(other, report->quantities[i]);

		if (index >= 0 && region->counts[i].status == CP_UNAVAILABLE &&
			there->counts[index].status != CP_UNAVAILABLE)
			take_count(&region->counts[i], &there->counts[index], why);
	}
}

static void compare_passes(
	struct cp_report *report, const struct cp_report *other, uint32_t pass)
{
	double values[2];

	if (!common_counts(report, report->total, other, other->total, values))
		cp_report_warn(report,
			"pass %u and the first have no count of " COMMON
			" in common: whether they did the same is not known",
			pass);
	else if (are_different(values))
		cp_report_warn(report,
			"pass %u did not do the same as the first: %.0f " COMMON
			" instead of %.0f: "
			"do not trust metrics that compare their counts",
			pass, values[1], values[0]);
}

static void take_warnings(
	struct cp_report *report, const struct cp_report *other, uint32_t pass)
{
	for (size_t i = 0; i < other->nwarnings; i++) {
		bool known = false;

		for (size_t j = 0; j < report->nwarnings; j++)
			known |= strcmp(report->warnings[j], other->warnings[i]) == 0;
		if (!known)
			cp_report_warn(
				report, "in pass %u: %s", pass, other->warnings[i]);
	}
}

void cp_report_add_pass(
	struct cp_report *report, const struct cp_report *other, uint32_t pass)
{
	struct cp_region *region = report->total;

	compare_passes(report, other, pass);
	do {
		const struct cp_region *there = same_path(other->total, region);

		if (there)
			take_region(report, region, other, there, pass);
		region = (struct cp_region *)(uintptr_t)cp_region_next(
			report->total, region);
	} while (region);
	take_warnings(report, other, pass);
}
