/* SPDX-License-Identifier: MIT */
#include "output/metrics/spreads.h"

#include <stdint.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"

#define ALL ((1u << CP_PART_CLOCK) - 1)
#define PERFECT (1u << CP_PART_ISSUE | 1u << CP_PART_BRANCH)

static const struct {
	const char *name, *quantity;
} parts[CP_NPARTS] = {
	[CP_PART_ISSUE] = {"issue", "time_issue"},
	[CP_PART_BRANCH] = {"branch", "time_branch"},
	[CP_PART_L2] = {"l2", "time_l2"},
	[CP_PART_L3] = {"l3", "time_l3"},
	[CP_PART_MEMORY] = {"memory", "time_memory"},
	[CP_PART_TLB] = {"tlb", "time_tlb"},
	[CP_PART_BANDWIDTH] = {"bandwidth", "time_bandwidth"},
	[CP_PART_STORE] = {"store", "time_store"},
	[CP_PART_CLOCK] = {"clock", ""},
};

const char *cp_part_quantity(enum cp_time_part part)
{
	return parts[part].quantity;
}

unsigned cp_parts_of_quantity(const char *quantity)
{
	if (strcmp(quantity, "cycles") == 0)
		return ALL;
	if (strcmp(quantity, "time_perfect") == 0)
		return PERFECT;
	if (strcmp(quantity, "miss_time_cycles") == 0)
		return ALL & ~PERFECT;
	for (unsigned part = 0; part < CP_PART_CLOCK; part++)
		if (strcmp(quantity, parts[part].quantity) == 0)
			return 1u << part;
	return 0;
}

const char *cp_time_sample_quantity(unsigned which)
{
	static const char *const names[CP_NTIME_SAMPLE] = {"timed_instructions",
		"untimed_instructions", "time_variance", "miss_time_variance"};

	return names[which];
}

bool cp_is_of_time_sample(const char *quantity)
{
	for (unsigned i = 0; i < CP_NTIME_SAMPLE; i++)
		if (strcmp(quantity, cp_time_sample_quantity(i)) == 0)
			return true;
	return false;
}

bool cp_is_variance(const char *quantity)
{
	return strcmp(quantity, cp_time_sample_quantity(CP_TIME_VARIANCE)) == 0 ||
	       strcmp(quantity, cp_time_sample_quantity(CP_MISS_TIME_VARIANCE)) == 0;
}

/* ---- as text ---- */

/* "issue=1 branch=3 …", or "none: why" */
void cp_spreads_print(const struct cp_spreads *spreads, char *to, size_t size)
{
	size_t used = 0;

	*to = '\0';
	if (!spreads->known) {
		cp_format(to, size, "none: %s", spreads->why);
		return;
	}
	for (unsigned part = 0; part < CP_NPARTS && used < size; part++)
		used += cp_format(to + used, size - used, "%s%s=%u", part ? " " : "",
			parts[part].name, (unsigned)(spreads->of[part] * 100 + 0.5));
}

static bool read_part(const char **at, enum cp_time_part part, double *share)
{
	size_t length = strlen(parts[part].name);
	uint64_t percent;

	*at += strspn(*at, " ");
	if (strncmp(*at, parts[part].name, length) != 0 || (*at)[length] != '=' ||
		cp_parse_u64_prefix(*at + length + 1, at, &percent) < 0 ||
		percent > CP_MOST_SPREAD)
		return false;
	*share = (double)percent / 100;
	return true;
}

struct cp_spreads cp_spreads_read(const char *text)
{
	struct cp_spreads spreads = {.known = false};

	if (!text)
		return spreads;
	if (cp_starts_with(text, "none: ")) {
		cp_format(
			spreads.why, sizeof(spreads.why), "%s", text + strlen("none: "));
		return spreads;
	}
	for (unsigned part = 0; part < CP_NPARTS; part++)
		if (!read_part(&text, (enum cp_time_part)part, &spreads.of[part]))
			return (struct cp_spreads){.known = false};
	spreads.known = true;
	return spreads;
}

/* ---- errors ---- */

double cp_spreads_error(double value, const double with_part[CP_NCAUSES])
{
	double square = 0;

	for (unsigned part = 0; part < CP_NCAUSES; part++)
		square += (with_part[part] - value) * (with_part[part] - value);
	return __builtin_sqrt(square);
}

/* ---- JSON ---- */

void cp_spreads_write_json(struct cp_out *out, const struct cp_spreads *spreads)
{
	if (!spreads->known)
		return;
	cp_out_text(out, ",\n  \"spreads\": {");
	for (unsigned part = 0; part < CP_NPARTS; part++)
		cp_out_format(out, "%s\"%s\": %.10g", part ? ", " : "", parts[part].name,
			spreads->of[part]);
	cp_out_text(out, "}");
}
