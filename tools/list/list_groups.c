/* SPDX-License-Identifier: MIT
 *
 * cachepeek list groups: the questions, and which this processor can answer.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/metrics/group.h"
#include "output/metrics/plan.h"
#include "output/metrics/preset.h"
#include "base/text/table.h"
#include "base/encoder/pfm.h"
#include "tools/shared/cmd.h"
#include "tools/list/list.h"

#define MAX_PMUS 64
#define WIDTH 80

/* ---- one group, in full ---- */

static void print_names(const struct cp_list *list, const char *label,
	const char *const *names, size_t count)
{
	const char *line = "";

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		line = cp_text_format(
			list->arena, "%s%s%s", line, i ? " " : "", names[i]);
	printf("  %s ", label);
	cp_cmd_wrap(line, 3 + strlen(label), 4);
}

static void print_metric(const struct cp_list *list, const struct cp_metric *metric)
{
	const char *unit =
		*metric->unit ? cp_text_format(list->arena, " [%s]", metric->unit) : "";

	printf("  ");
	cp_cmd_wrap(cp_text_format(list->arena, "%s%s = %s", metric->name, unit,
			    metric->formula_text),
		2, 6);
}

static void print_let(const struct cp_list *list, const struct cp_let *let)
{
	printf("  ");
	cp_cmd_wrap(cp_text_format(list->arena,
			    "assumed: %s = %s (%s): CACHEPEEK_LET sets it", let->name,
			    let->text, let->meaning),
		2, 6);
}

/* The machine's file says them, or nobody does. */
static void print_weights(const struct cp_list *list, const struct cp_group *group)
{
	const struct cp_weights weights = cp_weights_assumed();

	for (enum cp_weight_of of = CP_OF_L1; of < CP_NWEIGHTS; of++) {
		if (!(cp_group_weighs(group) & 1u << of))
			continue;
		printf("  ");
		cp_cmd_wrap(
			cp_text_format(list->arena,
				"assumed: %s = %g (cycles; "
				"where the simulated machine's file does not say it): "
				"CACHEPEEK_LET sets it",
				cp_weight_name(of), weights.of[of].cycles),
			2, 6);
	}
}

static void describe_group(const struct cp_list *list, const struct cp_group *group)
{
	cp_cmd_wrap(
		cp_text_format(list->arena, "%s: %s", group->name, group->title), 0, 4);
	print_names(list, "needs", group->need, group->nneed);
	print_names(list, "wants", group->want, group->nwant);
	print_names(list, "simulated PMU only:", group->simulated, group->nsimulated);
	for (size_t i = 0; i < group->nmetrics; i++)
		print_metric(list, &group->metrics[i]);
	for (size_t i = 0; i < group->nlets; i++)
		print_let(list, &group->lets[i]);
	print_weights(list, group);
	if (*group->description)
		printf("\n%s", group->description);
}

/* ---- all groups ---- */

/* Words of a paragraph that is indented by 8. */
static void print_word(const char *word, int *column)
{
	*column += 1 + (int)strlen(word);
	if (*column > WIDTH) {
		printf("\n        ");
		*column = 9 + (int)strlen(word);
	}
	printf(" %s", word);
}

static void print_paragraph(const char *first, const char *const *words, size_t count)
{
	int column = 8;

	printf("        ");
	if (first)
		print_word(first, &column);
	for (size_t i = 0; i < count; i++)
		print_word(words[i], &column);
	printf("\n");
}

/* Does libpfm know it?  What only the kernel can tell, the engine finds out. */
static bool is_known(void *context, const char *event)
{
	const char *reason;

	(void)context;
	return strncmp(event, "sysfs:", 6) == 0 || cp_encoder.check(event, &reason) == 0;
}

/* Only the software events of the group "perf" are there on every kernel. */
static bool is_sure(void *context, const char *event)
{
	struct perf_event_attr attr;
	const char *reason;

	(void)context;
	return strncmp(event, "perf::", 6) != 0 ||
	       (cp_encoder.encode(event, &attr, &reason) == 0 &&
		       attr.type == PERF_TYPE_SOFTWARE);
}

struct pmus {
	const char *names[MAX_PMUS + 1];
	size_t count;
};

static void add_pmu(struct pmus *pmus, const char *name)
{
	if (pmus->count < MAX_PMUS)
		pmus->names[pmus->count++] = name;
}

static void add_core(const struct cp_list *list, struct pmus *pmus, const char *core)
{
	const char *const *beside = cp_preset_beside(list->arena, core);

	add_pmu(pmus, cp_arena_copy(list->arena, core, strlen(core)));
	for (size_t i = 0; beside[i]; i++)
		add_pmu(pmus, beside[i]);
}

static void find_pmus(const struct cp_list *list, struct pmus *pmus)
{
	const char *core;

	if (list->pmu)
		add_core(list, pmus, list->pmu);
	for (unsigned i = 0; !list->pmu && (core = cp_encoder.core_pmu(i)); i++)
		add_core(list, pmus, core);
	add_pmu(pmus, "perf");
}

static void print_plan(const char *where, const struct cp_plan *plan)
{
	char what[80] = "";

	if (plan->passes > 1)
		snprintf(what, sizeof(what), ", %u passes", plan->passes);
	else if (plan->nevents)
		snprintf(what, sizeof(what), ", %s",
			plan->passes ? "1 pass" : "an unknown number of passes");
	if (plan->complete)
		printf("         %s: complete%s\n", where, what);
	else {
		char first[200];

		snprintf(first, sizeof(first), "%s: %s%s; lacks", where,
			plan->usable ? "partial" : "not usable",
			plan->usable ? what : "");
		print_paragraph(first, plan->missing, plan->nmissing);
	}
}

const char *cp_list_plan(const struct cp_list *list, const struct cp_group *group,
	bool simulated, struct cp_plan *plan)
{
	static const char *const sim[] = {"sim", NULL};
	bool (*here)(void *context, const char *event);
	struct pmus pmus = {.count = 0};

	if (simulated) {
		cp_plan_group(list->arena, group, sim, NULL, NULL, plan);
		return sim[0];
	}
	find_pmus(list, &pmus);
	here = list->pmu || pmus.count == 1 ? is_sure : is_known;
	cp_plan_group(list->arena, group, pmus.names, here, NULL, plan);
	return list->pmu ? list->pmu : pmus.count > 1 ? pmus.names[0] : NULL;
}

static void summarise_group(const struct cp_list *list, const struct cp_group *group)
{
	const char *metrics[CP_GROUP_MAX_METRICS];
	struct cp_plan plan;
	const char *pmu = cp_list_plan(list, group, false, &plan);

	for (size_t i = 0; i < group->nmetrics; i++)
		metrics[i] = group->metrics[i].name;
	cp_cmd_wrap(
		cp_text_format(list->arena, "%s: %s", group->name, group->title), 0, 9);
	print_paragraph(NULL, metrics, group->nmetrics);
	if (pmu || plan.complete)
		print_plan(pmu ? pmu : "no PMU found", &plan);
	if (list->pmu)
		return;
	cp_list_plan(list, group, true, &plan);
	print_plan("simulated", &plan);
}

static const struct cp_group *find_group(const struct cp_list *list, const char *name)
{
	char error[512];
	const struct cp_group *group = cp_group_find(list->arena,
		cp_list_ours(list, CP_NAMED_GROUP, name), error, sizeof(error));

	if (!group)
		fprintf(stderr, "cachepeek: %s\n", error);
	return group;
}

/* ---- their order ---- */

/* As libcachepeek(7) has them; one that is not here comes last. */
static unsigned place_of(const char *name)
{
	static const char *const order[] = {"cache", "l1", "l2", "l3", "mem", "numa",
		"tlb", "memlevel", "load-levels", "dtlb-levels", "time",
		"l2-effectiveness", "stalls", "basic", "icache", "dcache",
		"fetch-latency", "buffer-full", "stall-writeback", "itlb", "dtlb",
		"dcache-four", "soft"};
	unsigned i = 0;

	while (i < sizeof(order) / sizeof(order[0]) && strcmp(name, order[i]) != 0)
		i++;
	return i;
}

static bool is_usable(const struct cp_list *list, const char *name)
{
	char error[512];
	const struct cp_group *group =
		cp_group_find(list->arena, name, error, sizeof(error));
	struct cp_plan plan = {.usable = false};

	if (group)
		cp_list_plan(list, group, false, &plan);
	if (group && !plan.usable && !list->pmu)
		cp_list_plan(list, group, true, &plan);
	return plan.usable;
}

struct placed {
	const char *name;
	unsigned place;
};

static int by_place(const void *a, const void *b)
{
	const struct placed *one = a, *other = b;

	return (one->place > other->place) - (one->place < other->place);
}

const char *const *cp_list_group_names(const struct cp_list *list)
{
	const char *const *all = cp_group_names(list->arena);
	struct placed *placed;
	const char **names;
	size_t count = 0;

	while (all[count])
		count++;
	placed = cp_arena_alloc(list->arena, count * sizeof(*placed));
	names = cp_arena_alloc(list->arena, (count + 1) * sizeof(*names));
	for (size_t i = 0; i < count; i++)
		placed[i] = (struct placed){
			all[i], place_of(all[i]) + (is_usable(list, all[i]) ? 0 : 1000)};
	qsort(placed, count, sizeof(*placed), by_place);
	for (size_t i = 0; i < count; i++)
		names[i] = placed[i].name;
	return names;
}

int cp_list_groups(const struct cp_list *list)
{
	const char *const *names;
	const struct cp_group *group;
	int status = 0;

	if (list->pmu && (status = cp_list_know_pmu(list)))
		return status;
	names = cp_list_group_names(list);
	for (char *const *name = list->names; *name; name++) {
		group = find_group(list, *name);
		if (group && list->pmu)
			summarise_group(list, group);
		else if (group)
			describe_group(list, group);
		status |= group ? 0 : 2;
	}
	for (size_t i = 0; !*list->names && names[i]; i++)
		if ((group = find_group(list, names[i])))
			summarise_group(list, group);
	return status;
}
