/* SPDX-License-Identifier: MIT */
#include "output/metrics/metric.h"

#include <string.h>

#define USUAL_ELEMENT 8 /* bytes: a double, a pointer */

struct scope {
	struct cp_arena *arena;
	const struct cp_group *group;
	cp_formula_lookup *lookup;
	void *context;
	/* of metrics: each is evaluated once, however often others name it */
	bool known[CP_GROUP_MAX_METRICS];
	struct cp_value values[CP_GROUP_MAX_METRICS];
};

/* N: references per line, of the elements of the program's data. */
static struct cp_value references_per_line(const struct scope *scope)
{
	const struct cp_let *element = cp_group_let(scope->group, "ELEMENT");
	struct cp_value line = scope->lookup(scope->context, "LINE");

	line.value /= element ? element->value : USUAL_ELEMENT;
	return line;
}

static cp_formula_lookup look_up;

static struct cp_value of_metric(struct scope *scope, const struct cp_metric *metric)
{
	size_t index = (size_t)(metric - scope->group->metrics);

	if (!scope->known[index])
		scope->values[index] = cp_formula_evaluate(
			scope->arena, metric->formula, look_up, scope);
	scope->known[index] = true;
	return scope->values[index];
}

static struct cp_value look_up(void *context, const char *name)
{
	struct scope *scope = context;
	const struct cp_let *let = cp_group_let(scope->group, name);
	const struct cp_metric *metric = cp_group_metric(scope->group, name);

	if (let)
		return (struct cp_value){.value = let->value};
	if (strcmp(name, "N") == 0)
		return references_per_line(scope);
	if (metric)
		return of_metric(scope, metric);
	return scope->lookup(scope->context, name);
}

struct cp_value cp_metric_evaluate(struct cp_arena *arena, const struct cp_group *group,
	const struct cp_formula *formula, cp_formula_lookup *lookup, void *context)
{
	struct scope scope;

	memset(&scope, 0, sizeof(scope));
	scope.arena = arena;
	scope.group = group;
	scope.lookup = lookup;
	scope.context = context;
	return cp_formula_evaluate(arena, formula, look_up, &scope);
}

/* LEFT / RIGHT, as it is written? */
static bool is_ratio_of(const char *formula, const char *left, const char *right)
{
	static const char between[] = " / ";
	size_t length = strlen(left);

	return strncmp(formula, left, length) == 0 &&
	       strncmp(formula + length, between, sizeof(between) - 1) == 0 &&
	       strcmp(formula + length + sizeof(between) - 1, right) == 0;
}

bool cp_metric_is_part(const struct cp_metric *metric)
{
	const struct cp_group *group = metric->group;

	for (size_t i = 0; i < group->nchecks; i++)
		if (!group->checks[i].about &&
			is_ratio_of(metric->formula_text, group->checks[i].left_text,
				group->checks[i].right_text))
			return true;
	return false;
}
