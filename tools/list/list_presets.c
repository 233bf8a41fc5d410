/* SPDX-License-Identifier: MIT
 *
 * cachepeek list presets: the vendor-neutral quantities, here or on other PMUs.
 */
#include <stdio.h>
#include <string.h>

#include "output/metrics/preset.h"
#include "base/text/table.h"
#include "base/encoder/pfm.h"
#include "tools/shared/cmd.h"
#include "tools/list/list.h"
#include "tools/list/presets_check.h"

int cp_list_know_pmu(const struct cp_list *list)
{
	const char *const *pmus = cp_preset_pmus(list->arena);

	for (size_t i = 0; pmus[i]; i++)
		if (strcmp(pmus[i], list->pmu) == 0)
			return 0;
	return cp_cmd_misspelt("PMU", list->pmu, pmus, "list presets -p all");
}

const char *cp_list_terms(
	const struct cp_list *list, const struct cp_preset_alternative *alternative)
{
	const char *text = "";

	for (size_t i = 0; i < alternative->nterms; i++) {
		const struct cp_preset_term *term = &alternative->terms[i];
		const char *sign = term->sign < 0 ? "-" : "+";

		if (i)
			text = cp_text_format(
				list->arena, "%s %s %s", text, sign, term->event);
		else
			text = cp_text_format(list->arena, "%s%s",
				term->sign < 0 ? sign : "", term->event);
	}
	return text;
}

/* "(loads stores)", and what is peculiar. */
static void print_remarks(const struct cp_preset *preset, int indent)
{
	const char *name, *separator = "counts ";

	if (!preset->includes && !*preset->note)
		return;
	printf("%*s", indent, "");
	for (unsigned i = 0; (name = cp_preset_include_name(i)); i++)
		if (preset->includes & 1U << i) {
			printf("%s%s", separator, name);
			separator = ", ";
		}
	printf("%s%s\n", preset->includes && *preset->note ? "; " : "", preset->note);
}

static void print_alternatives(
	const struct cp_list *list, const struct cp_preset *preset, const char *label)
{
	for (size_t i = 0; i < preset->nalternatives; i++) {
		printf("  %-24s %s\n", i ? "  or" : label,
			cp_list_terms(list, &preset->alternatives[i]));
	}
	print_remarks(preset, 27);
}

static void print_on(const struct cp_list *list, const char *pmu, const char *name)
{
	struct cp_preset *preset = cp_arena_alloc(list->arena, sizeof(*preset));

	if (cp_preset_lookup(list->arena, pmu, name, preset) < 0)
		printf("  %-24s -\n", pmu);
	else
		print_alternatives(list, preset, pmu);
}

static int describe_preset(const struct cp_list *list, const char *name)
{
	const char *meaning, *pmu;

	name = cp_list_ours(list, CP_NAMED_EVENT, name);
	meaning = cp_preset_meaning(list->arena, name);
	if (!meaning)
		return cp_cmd_misspelt(
			"preset", name, cp_preset_names(list->arena), "list presets");
	printf("%s: %s\n", name, meaning);
	if (list->pmu)
		return print_on(list, list->pmu, name), 0;
	for (unsigned i = 0; (pmu = cp_encoder.core_pmu(i)); i++)
		print_on(list, pmu, name);
	print_on(list, "perf", name);
	print_on(list, "sim", name);
	return 0;
}

/* ---- all of one PMU ---- */

static bool print_preset_of(void *context, const struct cp_preset *preset)
{
	print_alternatives(context, preset, preset->name);
	return true;
}

static int list_pmu(const struct cp_list *list)
{
	const char *const *beside = cp_preset_beside(list->arena, list->pmu);
	unsigned line = cp_preset_line(list->pmu);
	struct cp_list copy = *list;

	printf("%s", list->pmu);
	if (line)
		printf(", lines of %u bytes", line);
	printf("%s\n", cp_preset_is_socket(list->pmu) ? ", counts all of a socket" : "");
	if (cp_preset_each(list->arena, list->pmu, print_preset_of, &copy) < 0)
		return 1;
	for (size_t i = 0; beside[i]; i++)
		printf("%s%s",
			i ? " " : "\nbeside it, for the whole socket: ", beside[i]);
	printf("%s", beside[0] ? "\n" : "");
	return 0;
}

/* ---- all presets, here ---- */

static bool has_preset(const struct cp_list *list, const char *pmu, const char *name)
{
	struct cp_preset *preset = cp_arena_alloc(list->arena, sizeof(*preset));

	return cp_preset_lookup(list->arena, pmu, name, preset) == 0;
}

/* The hardware comes first; what only the kernel offers is "perf". */
static const char *hardware_with(const struct cp_list *list, const char *name)
{
	const char *pmu;

	for (unsigned i = 0; (pmu = cp_encoder.core_pmu(i)); i++)
		if (has_preset(list, pmu, name))
			return "cpu";
	return has_preset(list, "perf", name) ? "perf" : "";
}

static int list_here(const struct cp_list *list)
{
	const char *const *names = cp_preset_names(list->arena), *pmu;

	for (size_t i = 0; names[i]; i++)
		printf("%-24s %-4s %-3s  %s\n", names[i], hardware_with(list, names[i]),
			has_preset(list, "sim", names[i]) ? "sim" : "",
			cp_preset_meaning(list->arena, names[i]));
	printf("\ncpu: this processor's PMU has it");
	for (unsigned i = 0; (pmu = cp_encoder.core_pmu(i)); i++)
		printf("%s%s", i ? ", " : " (", pmu);
	printf("%s; perf: the kernel has a generic\n"
	       "or software event; sim: the simulated PMU has it.  "
	       "`cachepeek list presets NAME`\n"
	       "shows the events behind one, --pmu PMU those "
	       "of another processor, `cachepeek\n"
	       "doctor` what can be counted here.\n",
		cp_encoder.core_pmu(0) ? ")" : " (none was found)");
	return 0;
}

static void print_pmus(const struct cp_list *list)
{
	const char *const *pmus = cp_preset_pmus(list->arena);

	for (size_t i = 0; pmus[i]; i++)
		printf("%s\n", pmus[i]);
}

int cp_list_presets(const struct cp_list *list)
{
	int status = 0;

	if (list->check)
		return cp_presets_check(list->arena, list->verbose);
	if (list->pmu && strcmp(list->pmu, "all") == 0)
		return print_pmus(list), 0;
	if (list->pmu && (status = cp_list_know_pmu(list)))
		return status;
	for (char *const *name = list->names; *name; name++)
		status |= describe_preset(list, *name);
	if (*list->names)
		return status;
	return list->pmu ? list_pmu(list) : list_here(list);
}
