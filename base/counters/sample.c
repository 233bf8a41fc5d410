/* SPDX-License-Identifier: MIT */
#include "base/counters/sample.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/counts.h"
#include "base/format.h"
#include "base/text.h"

#define MOST_GROUPS 64
#define FEWEST_GROUPS 16
#define MOST 1000000000000 /* instructions */

static const struct cp_sample_plan standard[] = {
	{.sets = 4, .warm = 100000, .burst = 100000, .period = 8000000},
	{.sets = 8, .warm = 100000, .burst = 100000, .period = 4000000},
};
static const char *const standard_names[] = {"fast", "balanced"};

/* ---- what was asked for ---- */

static bool take_standard(struct cp_sample_plan *plan, const char *word, size_t length)
{
	for (unsigned i = 0; i < sizeof(standard) / sizeof(standard[0]); i++)
		if (strlen(standard_names[i]) == length &&
			strncmp(standard_names[i], word, length) == 0) {
			*plan = standard[i];
			return true;
		}
	return false;
}

static bool take_number(
	struct cp_sample_plan *plan, const char *word, size_t length, uint64_t number)
{
	struct {
		const char *name;
		uint64_t *at;
	} const keys[] = {{"warm", &plan->warm}, {"burst", &plan->burst},
		{"period", &plan->period}, {"seed", &plan->seed}};

	if (length == 4 && strncmp("sets", word, 4) == 0) {
		plan->sets = number <= CP_SAMPLE_GROUPS ? (unsigned)number : 0;
		return true;
	}
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i].name) == length &&
			strncmp(keys[i].name, word, length) == 0) {
			*keys[i].at = number;
			return true;
		}
	return false;
}

static bool take_word(
	struct cp_sample_plan *plan, const char *word, size_t length, bool first)
{
	const char *equals = memchr(word, '=', length), *end;
	uint64_t number;

	if (!equals)
		return first && take_standard(plan, word, length);
	return cp_parse_u64_prefix(equals + 1, &end, &number) == 0 &&
	       end == word + length && number <= MOST &&
	       take_number(plan, word, (size_t)(equals - word), number);
}

/* Says why the numbers do not go together; NULL: they do. */
static const char *fault_of_plan(const struct cp_sample_plan *plan)
{
	if (plan->sets < 2)
		return "sets is a number from 2 to 16, of 64 groups of sets";
	if (!plan->burst)
		return "burst is a number of instructions above 0";
	if (plan->period < 2 * (plan->warm + plan->burst))
		return "period is at least twice as long as warm and burst together";
	return NULL;
}

int cp_sample_parse(
	struct cp_sample_plan *plan, const char *text, char *error, size_t error_size)
{
	const char *rest = text, *word, *wrong;
	bool first = true;
	size_t length;

	*plan = standard[1];
	while ((word = cp_next_piece(&rest, ',', &length))) {
		if (!take_word(plan, word, length, first)) {
			cp_format(error, error_size,
				"%.*s is none of fast, balanced, sets=N, warm=N, "
				"burst=N, period=N and seed=N",
				(int)length, word);
			return -EINVAL;
		}
		first = false;
	}
	wrong = fault_of_plan(plan);
	if (wrong)
		cp_format(error, error_size, "%s", wrong);
	return wrong ? -EINVAL : 0;
}

/* ---- the machine ---- */

static uint32_t lowest_bit(uint32_t n)
{
	return n & -n;
}

/* As many groups as go into so many sets, too. */
static void take_groups(struct cp_sample_plan *plan, uint32_t sets)
{
	uint32_t groups = sets < MOST_GROUPS ? sets : MOST_GROUPS;

	if (!plan->groups || groups < plan->groups)
		plan->groups = groups;
}

int cp_sample_fit(struct cp_sample_plan *plan, const struct cp_machine *machine,
	char *error, size_t error_size)
{
	const struct cp_cache *level = machine->level;
	uint32_t common = lowest_bit(level[CP_L1I].sets | level[CP_L1D].sets |
				     level[CP_L2].sets | level[CP_LLC].sets);
	const char *how = machine->sockets > 1 ? "several sockets" : NULL;

	for (int i = 0; i < CP_NLEVELS && !how; i++) {
		how = level[i].sets ? cp_machine_unlike_plain(machine, (enum cp_level)i)
				    : NULL;
		if (!how)
			continue;
		cp_format(error, error_size, "on machine %s %s %s", machine->name,
			cp_level_name((enum cp_level)i), how);
		return -EINVAL;
	}
	if (!how && !level[CP_L2].sets)
		how = "no L2";
	if (!how && common < FEWEST_GROUPS)
		how = "a cache whose number of sets is no multiple of 16";
	if (how)
		cp_format(error, error_size, "machine %s has %s", machine->name, how);
	take_groups(plan, common);
	return how ? -EINVAL : 0;
}

void cp_sample_fit_sweep(struct cp_sample_plan *plan, struct cp_sweep_plan *sweep)
{
	uint32_t common = 0;

	for (unsigned i = 0; i < sweep->npoints; i++)
		common |= sweep->point[i].sets;
	common = lowest_bit(common);
	if (!sweep->npoints || sweep->why[0])
		return;
	sweep->sampled = true;
	if (sweep->level != CP_L2 && sweep->level != CP_LLC)
		cp_format(sweep->why, sizeof(sweep->why),
			CP_UNSAMPLED "first levels and TLBs are simulated in bursts "
				     "only, in which other sizes do not get warm: "
				     "L2 and the last level can be swept");
	else if (common < FEWEST_GROUPS)
		cp_format(sweep->why, sizeof(sweep->why),
			CP_UNSAMPLED "a point of the sweep has a number of sets "
				     "that is no multiple of 16: leave it out");
	else
		take_groups(plan, common);
}

/* ---- for others ---- */

void cp_sample_option(
	const struct cp_sample_plan *plan, uint64_t seed, char *to, size_t size)
{
	cp_format(to, size, "--sample=%u,%lu,%lu,%lu,%lu", plan->sets, plan->warm,
		plan->burst, plan->period, plan->seed ? plan->seed : seed);
}

void cp_sample_describe(const struct cp_sample_plan *plan, char *to, size_t size)
{
	size_t used =
		cp_format(to, size, "sets=%u groups=%u warm=%lu burst=%lu period=%lu",
			plan->sets, plan->groups, plan->warm, plan->burst, plan->period);

	if (plan->seed && used < size)
		cp_format(to + used, size - used, " seed=%lu", plan->seed);
}
