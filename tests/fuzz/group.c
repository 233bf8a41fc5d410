/* SPDX-License-Identifier: MIT
 *
 * A group file, its metrics evaluated with inputs of which some are missing.
 */
#include "base/arena.h"
#include "output/metrics/formula.h"
#include "output/metrics/group.h"
#include "output/metrics/metric.h"
#include "tests/fuzz/fuzz.h"

static struct cp_value look_up(void *context, const char *name)
{
	struct cp_value value = {.status = CP_EXACT, .value = (double)strlen(name)};

	(void)context;
	if (strlen(name) % 5 == 0)
		value = (struct cp_value){.status = CP_UNAVAILABLE, .reason = "none"};
	return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), error[256] = "";
	struct cp_arena arena = {.give_up = abort};
	const struct cp_group *group =
		cp_group_parse(&arena, "fuzz.group", text, error, sizeof(error));

	fuzz_read(error);
	if (size < 32 && !strchr(text, '/'))
		cp_group_find(&arena, text, error, sizeof(error));
	cp_group_find(&arena, size % 64 ? "l2" : "/dev/null", error, sizeof(error));
	fuzz_read(cp_group_names(&arena)[0]);
	for (size_t i = 0; group && i < group->nmetrics; i++) {
		struct cp_value value = cp_metric_evaluate(
			&arena, group, group->metrics[i].formula, look_up, NULL);

		fuzz_read(value.reason);
		fuzz_read(value.flag);
	}
	for (size_t i = 0; group && i < group->nchecks; i++)
		fuzz_read(group->checks[i].message);
	cp_arena_free(&arena);
	free(text);
	return 0;
}
