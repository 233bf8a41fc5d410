/* SPDX-License-Identifier: MIT
 *
 * cachepeek list: what can be asked for.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "output/group.h"
#include "output/preset.h"
#include "preload/encoder/pfm.h"
#include "tools/cmd.h"

static struct cp_arena arena;

/* ---- events ---- */

static char *const *filters; /* NULL-terminated; none: everything */

static bool is_wanted(const char *name)
{
	for (char *const *filter = filters; *filter; filter++)
		if (strcasestr(name, *filter))
			return true;
	return !*filters;
}

static void print_event(void *context, const char *name)
{
	(void)context;
	if (is_wanted(name))
		printf("%s\n", name);
}

static int list_events(void)
{
	cp_encoder.each_event(print_event, NULL);
	return 0;
}

/* ---- presets ---- */

static void print_terms(const struct cp_preset_alternative *alternative)
{
	for (size_t i = 0; i < alternative->nterms; i++) {
		const struct cp_preset_term *term = &alternative->terms[i];

		printf("%s%s",
			i ? (term->sign < 0 ? " - " : " + ")
			  : (term->sign < 0 ? "-" : ""),
			term->event);
	}
}

static void print_on(const char *pmu, const char *name)
{
	struct cp_preset *preset = cp_arena_alloc(&arena, sizeof(*preset));

	if (cp_preset_lookup(&arena, pmu, name, preset) < 0) {
		printf("  %-24s -\n", pmu);
		return;
	}
	for (size_t i = 0; i < preset->nalternatives; i++) {
		printf("  %-24s ", i ? "  or" : pmu);
		print_terms(&preset->alternatives[i]);
		printf("\n");
	}
}

static int describe_preset(const char *name)
{
	const char *meaning = cp_preset_meaning(&arena, name), *pmu;

	if (!meaning)
		return cp_cmd_misspelt("preset", name, cp_preset_names(&arena));
	printf("%s: %s\n", name, meaning);
	for (unsigned i = 0; (pmu = cp_encoder.core_pmu(i)); i++)
		print_on(pmu, name);
	print_on("perf", name);
	print_on("sim", name);
	return 0;
}

static bool has_preset(const char *pmu, const char *name)
{
	struct cp_preset *preset = cp_arena_alloc(&arena, sizeof(*preset));

	return cp_preset_lookup(&arena, pmu, name, preset) == 0;
}

/* The hardware comes first; what only the kernel offers is "perf". */
static const char *hardware_with(const char *name)
{
	const char *pmu;

	for (unsigned i = 0; (pmu = cp_encoder.core_pmu(i)); i++)
		if (has_preset(pmu, name))
			return "cpu";
	return has_preset("perf", name) ? "perf" : "";
}

static void print_preset(const char *name)
{
	const char *hardware = hardware_with(name),
		   *sim = has_preset("sim", name) ? "sim" : "";

	printf("%-22s %-4s %-3s  %s\n", name, hardware, sim,
		cp_preset_meaning(&arena, name));
}

static int list_presets(void)
{
	const char *const *names = cp_preset_names(&arena), *pmu;
	int status = 0;

	for (char *const *name = filters; *name; name++)
		status |= describe_preset(*name);
	if (*filters)
		return status;
	for (size_t i = 0; names[i]; i++)
		print_preset(names[i]);
	printf("\ncpu: this processor's PMU has it");
	for (unsigned i = 0; (pmu = cp_encoder.core_pmu(i)); i++)
		printf("%s%s", i ? ", " : " (", pmu);
	printf("%s; perf: the kernel has a generic\nor software event; sim: the "
	       "simulated PMU has "
	       "it.  `cachepeek list presets NAME`\nshows the events behind one, "
	       "`cachepeek "
	       "doctor` what can be counted here.\n",
		cp_encoder.core_pmu(0) ? ")" : " (none was found)");
	return 0;
}

/* ---- groups ---- */

static void print_names(const char *label, const char *const *names, size_t count)
{
	if (!count)
		return;
	printf("  %s", label);
	for (size_t i = 0; i < count; i++)
		printf(" %s", names[i]);
	printf("\n");
}

static void describe_group(const struct cp_group *group)
{
	printf("%s: %s\n", group->name, group->title);
	print_names("needs", group->need, group->nneed);
	print_names("wants", group->want, group->nwant);
	for (size_t i = 0; i < group->nmetrics; i++)
		printf("  %s%s%s%s = %s\n", group->metrics[i].name,
			*group->metrics[i].unit ? " [" : "", group->metrics[i].unit,
			*group->metrics[i].unit ? "]" : "",
			group->metrics[i].formula_text);
	if (*group->description)
		printf("\n%s", group->description);
}

static void summarise_group(const struct cp_group *group)
{
	int column = 8;

	printf("%-8s %s\n        ", group->name, group->title);
	for (size_t i = 0; i < group->nmetrics; i++) {
		column += 1 + (int)strlen(group->metrics[i].name);
		if (column > 80) {
			printf("\n        ");
			column = 9 + (int)strlen(group->metrics[i].name);
		}
		printf(" %s", group->metrics[i].name);
	}
	printf("\n");
}

static int show_group(const char *name, void (*print)(const struct cp_group *group))
{
	char error[512];
	const struct cp_group *group = cp_group_find(&arena, name, error, sizeof(error));

	if (group)
		print(group);
	else
		fprintf(stderr, "cachepeek: %s\n", error);
	return group ? 0 : 2;
}

static int list_groups(void)
{
	const char *const *names = cp_group_names(&arena);
	int status = 0;

	for (char *const *name = filters; *name; name++)
		status |= show_group(*name, describe_group);
	for (size_t i = 0; !*filters && names[i]; i++)
		status |= show_group(names[i], summarise_group);
	return status;
}

/* ---- machines ---- */

/* The first comment of the file after its licence says what it is. */
static void print_machine(const struct cp_embedded *file, size_t length)
{
	const char *comment = strstr(file->text, "\n# ");
	size_t size = comment ? strcspn(comment + 3, "\n") : 0;

	printf("%-16.*s %.*s\n", (int)length, file->name, (int)size,
		comment ? comment + 3 : "");
}

static int list_machines(void)
{
	printf("%-16s the caches and TLBs of this machine\n", "host");
	for (const struct cp_embedded *file = cp_embedded_files; file->name; file++) {
		size_t length = strlen(file->name);

		if (length > 8 && strcmp(file->name + length - 8, ".machine") == 0)
			print_machine(file, length - 8);
	}
	return 0;
}

/* ---- which ---- */

static const char *const topics[] = {"events", "presets", "groups", "machines", NULL};

static int list(const char *topic)
{
	static int (*const lists[])(void) = {
		list_events, list_presets, list_groups, list_machines};

	for (size_t i = 0; topics[i]; i++)
		if (strcmp(topic, topics[i]) == 0)
			return lists[i]();
	return cp_cmd_misspelt("list of", topic, topics);
}

int cp_cmd_list(int argc, char **argv)
{
	jmp_buf out_of_memory;
	int status;

	if (argc < 2) {
		fprintf(stderr, "cachepeek: list what? cachepeek list "
				"events|presets|groups|machines\n");
		return 2;
	}
	if (setjmp(out_of_memory)) {
		fprintf(stderr, "cachepeek: out of memory\n");
		return 1;
	}
	arena.out_of_memory = &out_of_memory;
	filters = argv + 2;
	status = list(argv[1]);
	cp_arena_free(&arena);
	return fflush(stdout) == 0 ? status : 1;
}
