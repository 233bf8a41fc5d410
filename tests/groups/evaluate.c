/* SPDX-License-Identifier: MIT
 *
 * Evaluates the metrics of every group on what standard input gives, for
 * formulas.t.  A line of input is "NAME=VALUE …"; for each, a line
 * "GROUP METRIC STATUS VALUE REASON" per metric (tabs between them), then ".".
 * With an argument: "GROUP METRIC UNIT FORMULA" of each instead, and the text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/metrics/metric.h"

#define MAX_GROUPS 64

static struct cp_arena arena = {.give_up = abort};
static const struct cp_group *groups[MAX_GROUPS];
static size_t ngroups;

/* input: " NAME=VALUE NAME=VALUE … " */
static struct cp_value look_up(void *input, const char *name)
{
	char key[200];
	const char *at;

	snprintf(key, sizeof(key), " %s=", name);
	at = strstr(input, key);
	return at ? (struct cp_value){.value = strtod(at + strlen(key), NULL)}
		  : cp_unavailable("left out");
}

static void evaluate(char *input)
{
	for (size_t i = 0; i < ngroups; i++)
		for (size_t j = 0; j < groups[i]->nmetrics; j++) {
			const struct cp_metric *metric = &groups[i]->metrics[j];
			struct cp_value value = cp_metric_evaluate(
				&arena, groups[i], metric->formula, look_up, input);

			printf("%s\t%s\t%s\t%.17g\t%s\n", groups[i]->name, metric->name,
				cp_status_name(value.status), value.value,
				value.reason ? value.reason
				: value.flag ? value.flag
					     : "");
		}
	printf(".\n");
	fflush(stdout);
}

static void describe(void)
{
	for (size_t i = 0; i < ngroups; i++) {
		for (size_t j = 0; j < groups[i]->nmetrics; j++)
			printf("%s\t%s\t%s\t%s\n", groups[i]->name,
				groups[i]->metrics[j].name, groups[i]->metrics[j].unit,
				groups[i]->metrics[j].formula_text);
		printf("%s\t\n%s\n\f\n", groups[i]->name, groups[i]->description);
	}
}

int main(int argc, char **argv)
{
	static char line[20000];
	char error[500];

	(void)argv;
	for (const char *const *name = cp_group_names(&arena); *name; name++)
		if (ngroups < MAX_GROUPS)
			groups[ngroups++] =
				cp_group_find(&arena, *name, error, sizeof(error));
	if (argc > 1)
		describe();
	while (argc == 1 && fgets(line + 1, sizeof(line) - 1, stdin)) {
		line[0] = ' ';
		line[strcspn(line, "\n")] = ' ';
		evaluate(line);
	}
	return 0;
}
