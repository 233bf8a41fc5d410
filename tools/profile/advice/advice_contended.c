/* SPDX-License-Identifier: MIT
 *
 * The rule of contended lines: what threads hand over all the time, a lock and what it
 * guards, a counter, the ends of a queue.  All of it is data that the other one needs, so
 * it cannot be kept apart; but every transfer is waited for.
 */
#include <string.h>

#include "base/text/table.h"
#include "tools/profile/advice/advice.h"
#include "tools/profile/advice/sharing.h"
#include "tools/profile/model/rows.h"

/* Transfers per thousand instructions from which on the rule speaks: at 100 cycles each
 * a tenth of a cycle for each instruction. */
#define RATE 1.0

static const char
	OWN[] = "Hand over less often: take a lock once for several items, give each "
		"thread a part of its own and merge the parts; and keep what a lock "
		"guards on the lock's line, so that one transfer brings all of it.",
	RUNTIMES[] =
		"It is the runtime's own, such as how often a method ran before it was "
		"compiled: nothing in the program is to be changed, and it ends where "
		"all that runs often is compiled (a longer run, -XX:-TieredCompilation).";

static const char *number_text(const struct cp_sharing *sharing, uint64_t value)
{
	return cp_text_integer(sharing->profile->arena, value);
}

static const char *evidence_text(const struct cp_sharing *sharing,
	const struct cp_shared_line *line, uint64_t instructions)
{
	struct cp_arena *arena = sharing->profile->arena;
	unsigned quantum = cp_sharing_quantum(sharing);
	const char *turns =
		quantum ? cp_text_format(arena,
				  ", %s of them if threads take turns of %u data "
				  "references",
				  number_text(sharing, line->hitm), quantum)
			: "";

	return cp_text_format(arena,
		"%zu threads use the same bytes of line 0x%lx, the two that do most %s "
		"and %s times: up to %s transfers there and back, %s per thousand "
		"instructions%s%s",
		line->nusers, (unsigned long)line->address,
		number_text(sharing, line->users[0].same),
		number_text(sharing, line->users[1].same),
		number_text(sharing, line->for_data),
		cp_text_decimal(
			arena, 1000.0 * (double)line->for_data / (double)instructions),
		turns, cp_sharing_both_text(arena, &line->users[0], &line->users[1]));
}

static bool is_handed_over(const struct cp_sharing *sharing,
	const struct cp_shared_line *line, uint64_t instructions)
{
	return !line->is_false && line->nusers > 1 &&
	       line->for_data >= CP_ADVICE_MISSES &&
	       1000.0 * (double)line->for_data >= RATE * (double)instructions &&
	       (!cp_sharing_quantum(sharing) || line->hitm);
}

bool cp_is_contended(const struct cp_finding *finding)
{
	return strcmp(finding->rule, "contended-line") == 0;
}

/* The busiest line of each data alone: the others are at its side. */
static struct cp_finding *finding_of(struct cp_findings *found, const char *data)
{
	for (size_t i = 0; i < found->n; i++)
		if (cp_is_contended(&found->finding[i]) &&
			strcmp(found->finding[i].data, data) == 0)
			return &found->finding[i];
	if (found->n == CP_ADVICE_MOST)
		return NULL;
	found->finding[found->n] =
		(struct cp_finding){.rule = "contended-line", .data = data};
	return &found->finding[found->n++];
}

static void add_line(struct cp_findings *found, const struct cp_sharing *sharing,
	const struct cp_shared_line *line, uint64_t instructions)
{
	struct cp_arena *arena = sharing->profile->arena;
	struct cp_finding *finding = finding_of(found, cp_sharing_data(arena, line));

	if (!finding)
		return;
	finding->more += finding->evidence != NULL;
	if (finding->weight >= (double)line->for_data)
		return;
	finding->weight = (double)line->for_data;
	finding->evidence = evidence_text(sharing, line, instructions);
	finding->threshold = cp_text_format(arena,
		"%s transfers of one line, and %.0f per thousand instructions",
		number_text(sharing, CP_ADVICE_MISSES), RATE);
	finding->of_runtime = line->of_runtime;
	finding->advice = line->of_runtime ? RUNTIMES : OWN;
}

void cp_advise_contended(struct cp_findings *found, const struct cp_profile *profile)
{
	const struct cp_sharing *sharing;
	uint64_t instructions = cp_profile_totals(profile).count[CP_SIM_instructions];

	if (!profile->slices || !instructions)
		return;
	sharing = cp_sharing_find(profile, 0);
	for (size_t i = 0; i < sharing->nlines; i++)
		if (is_handed_over(sharing, &sharing->lines[i], instructions))
			add_line(found, sharing, &sharing->lines[i], instructions);
}
