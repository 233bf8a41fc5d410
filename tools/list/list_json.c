/* SPDX-License-Identifier: MIT
 *
 * cachepeek list --json (doc/cachepeek-list-1.schema.json).
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/encoder/pfm.h"
#include "tools/shared/cmd.h"
#include "tools/list/list.h"

struct making {
	const struct cp_list *list;
	json_t *entries;
};

static json_t *texts_json(const char *const *names, size_t count)
{
	json_t *made = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(made, json_string(names[i]));
	return made;
}

/* The preset or group that another tool's name stands for; other names as they are. */
static const char *our_name(
	const struct cp_list *list, enum cp_named what, const char *name)
{
	struct cp_other_name other;

	return cp_other_name(list->arena, what, name, &other) ? other.ours : name;
}

/* ---- events and machines ---- */

static void add_event(void *context, const char *name, const char *meaning)
{
	const struct making *making = context;

	if (cp_list_wants(making->list, name))
		json_array_append_new(making->entries,
			json_pack("{ss ss}", "name", name, "meaning", meaning));
}

static int add_events(struct making *making)
{
	cp_encoder.each_event(add_event, making);
	if (json_array_size(making->entries) == 0 && *making->list->names)
		return cp_list_no_event(making->list);
	return 0;
}

static void add_machine(void *context, const char *name, const char *text)
{
	const struct making *making = context;
	char *const *wanted = making->list->names;

	while (*wanted && strcmp(*wanted, name) != 0)
		wanted++;
	if (*wanted || !*making->list->names)
		json_array_append_new(making->entries,
			json_pack("{ss ss}", "name", name, "description", text));
}

/* ---- presets ---- */

static void add_preset_on(
	const struct cp_list *list, json_t *on, const char *pmu, const char *name)
{
	struct cp_preset *preset = cp_arena_alloc(list->arena, sizeof(*preset));
	json_t *events;

	if (cp_preset_lookup(list->arena, pmu, name, preset) < 0)
		return;
	events = json_array();
	for (size_t i = 0; i < preset->nalternatives; i++)
		json_array_append_new(events,
			json_string(cp_list_terms(list, &preset->alternatives[i])));
	json_object_set_new(on, pmu, events);
}

static int add_preset(const struct making *making, const char *name)
{
	const struct cp_list *list = making->list;
	const char *known = our_name(list, CP_NAMED_EVENT, name), *pmu;
	const char *meaning = cp_preset_meaning(list->arena, known);
	json_t *on;

	if (!meaning)
		return cp_cmd_misspelt(
			"preset", name, cp_preset_names(list->arena), "list presets");
	on = json_object();
	if (list->pmu)
		add_preset_on(list, on, list->pmu, known);
	for (unsigned i = 0; !list->pmu && (pmu = cp_encoder.core_pmu(i)); i++)
		add_preset_on(list, on, pmu, known);
	if (!list->pmu) {
		add_preset_on(list, on, "perf", known);
		add_preset_on(list, on, "sim", known);
	}
	json_array_append_new(making->entries,
		json_pack("{ss ss so}", "name", known, "meaning", meaning, "on", on));
	return 0;
}

/* ---- groups ---- */

static json_t *plan_of(const struct cp_plan *plan)
{
	return json_pack("{sb sb sI so}", "usable", plan->usable, "complete",
		plan->complete, "passes", (json_int_t)plan->passes, "missing",
		texts_json(plan->missing, plan->nmissing));
}

static json_t *metrics_of(const struct cp_group *group)
{
	json_t *made = json_array();

	for (size_t i = 0; i < group->nmetrics; i++)
		json_array_append_new(
			made, json_pack("{ss ss ss}", "name", group->metrics[i].name,
				      "unit", group->metrics[i].unit, "formula",
				      group->metrics[i].formula_text));
	return made;
}

static int add_group(const struct making *making, const char *name)
{
	const struct cp_list *list = making->list;
	char error[512];
	const struct cp_group *group = cp_group_find(
		list->arena, our_name(list, CP_NAMED_GROUP, name), error, sizeof(error));
	json_t *on = json_object();
	struct cp_plan plan;
	const char *pmu;

	if (!group) {
		json_decref(on);
		return fprintf(stderr, "cachepeek: %s\n", error), 2;
	}
	pmu = cp_list_plan(list, group, false, &plan);
	if (pmu)
		json_object_set_new(on, pmu, plan_of(&plan));
	cp_list_plan(list, group, true, &plan);
	if (!list->pmu)
		json_object_set_new(on, "sim", plan_of(&plan));
	json_array_append_new(making->entries,
		json_pack("{ss ss so so so so so}", "name", group->name, "title",
			group->title, "needs", texts_json(group->need, group->nneed),
			"wants", texts_json(group->want, group->nwant), "simulated_only",
			texts_json(group->simulated, group->nsimulated), "metrics",
			metrics_of(group), "on", on));
	return 0;
}

/* ---- all ---- */

static int add_all(const struct making *making, const char *const *all,
	int (*add)(const struct making *making, const char *name))
{
	int status = making->list->pmu ? cp_list_know_pmu(making->list) : 0;

	if (status)
		return status;
	for (char *const *name = making->list->names; *name; name++)
		status |= add(making, *name);
	for (; !*making->list->names && *all; all++)
		status |= add(making, *all);
	return status;
}

static int fill_topic(struct making *making, const char *topic)
{
	struct cp_arena *arena = making->list->arena;

	if (strcmp(topic, "presets") == 0)
		return add_all(making, cp_preset_names(arena), add_preset);
	if (strcmp(topic, "groups") == 0)
		return add_all(making, cp_list_group_names(making->list), add_group);
	if (strcmp(topic, "events") == 0)
		return add_events(making);
	cp_list_each_machine(add_machine, making, arena);
	return cp_list_check_machines(making->list);
}

int cp_list_json(const struct cp_list *list, const char *topic)
{
	struct making making = {list, json_array()};
	bool pmus = list->pmu && strcmp(list->pmu, "all") == 0 &&
		    strcmp(topic, "presets") == 0;
	int status = 0;
	json_t *document;

	for (const char *const *pmu = cp_preset_pmus(list->arena); pmus && *pmu; pmu++)
		json_array_append_new(making.entries, json_pack("{ss}", "name", *pmu));
	if (!pmus)
		status = fill_topic(&making, topic);
	document = json_pack("{ss ss so}", "schema", "cachepeek-list/1", "cachepeek",
		CP_VERSION, pmus ? "pmus" : topic, making.entries);
	if (!status && json_dumpf(document, stdout, JSON_INDENT(1)) < 0)
		status = 1;
	json_decref(document);
	return status || putchar('\n') != EOF ? status : 1;
}
