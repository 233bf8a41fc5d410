/* SPDX-License-Identifier: MIT
 *
 * cachepeek list events: libpfm4's tables have what the processor's PMU could count, and
 * many machines have no PMU.  So each event is opened.
 */
#include "tools/list_events.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "base/encoder/pfm.h"
#include "base/engine/engine.h"
#include "base/text.h"
#include "tools/shared/cmd.h"

#define GENERIC "PERF_COUNT_"

struct showing {
	const struct cp_list *list;
	size_t shown, left_out;
};

/* Libpfm4 has the name only of the kernel's own events. */
static const char *words_for(const char *meaning)
{
	static const struct {
		const char *name, *words;
	} all[] = {
		{"HW_CPU_CYCLES", "core cycles while not halted"},
		{"HW_INSTRUCTIONS", "instructions executed (retired)"},
		{"HW_CACHE_REFERENCES", "references to the last level, mostly"},
		{"HW_CACHE_MISSES", "references that missed the last level, mostly"},
		{"HW_BRANCH_INSTRUCTIONS", "branches executed"},
		{"HW_BRANCH_MISSES", "branches that were predicted wrong"},
		{"HW_BUS_CYCLES", "cycles of the bus clock"},
		{"HW_STALLED_CYCLES_FRONTEND", "cycles without an instruction to begin"},
		{"HW_STALLED_CYCLES_BACKEND", "cycles in which none could begin"},
		{"HW_REF_CPU_CYCLES", "cycles at constant rate while not halted"},
		{"SW_CPU_CLOCK", "nanoseconds by the clock of the CPU"},
		{"SW_TASK_CLOCK", "nanoseconds in which the threads ran"},
		{"SW_PAGE_FAULTS", "pages that were not mapped when they were used"},
		{"SW_PAGE_FAULTS_MIN", "page faults that read no disk"},
		{"SW_PAGE_FAULTS_MAJ", "page faults that read a disk"},
		{"SW_CONTEXT_SWITCHES", "switches to another thread"},
		{"SW_CPU_MIGRATIONS", "moves to another CPU"},
		{"SW_CGROUP_SWITCHES", "switches to a thread of another cgroup"},
	};

	if (!cp_starts_with(meaning, GENERIC))
		return meaning;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(meaning + strlen(GENERIC), all[i].name) == 0)
			return all[i].words;
	return meaning;
}

static bool opens(struct perf_event_attr *attr)
{
	struct cp_why why;

	attr->exclude_kernel = 1;
	return cp_perf_probe(attr, NULL, &why) == 0;
}

/* An event that cannot be encoded wants a unit mask of the user's: there it is enough
 * that the processor counts anything. */
static bool is_counted(const char *name)
{
	struct perf_event_attr attr = {.size = sizeof(attr)},
			       cycles = {.size = sizeof(cycles),
				       .type = PERF_TYPE_HARDWARE,
				       .config = PERF_COUNT_HW_CPU_CYCLES};
	const char *reason;

	return opens(cp_encoder.encode(name, &attr, &reason) < 0 ? &cycles : &attr);
}

static void show_event(void *context, const char *name, const char *meaning)
{
	struct showing *showing = context;
	bool named = *showing->list->names != NULL, counted;

	if (!cp_list_wants(showing->list, name) ||
		(!named && strstr(name, "::" GENERIC))) /* it has shorter names */
		return;
	counted = is_counted(name);
	if (!counted && !named) {
		showing->left_out++;
		return;
	}
	showing->shown++;
	printf("%s%s\n    ", name, counted ? "" : " (not counted here)");
	cp_cmd_wrap(words_for(meaning), 4, 4);
}

int cp_list_events(const struct cp_list *list)
{
	struct showing showing = {list, 0, 0};

	cp_encoder.each_event(show_event, &showing);
	cp_perf_probe_done();
	if (!showing.shown && *list->names)
		return cp_list_no_event(list);
	if (*list->names)
		return 0;
	if (showing.left_out)
		printf("\n%zu more of this processor are not counted here "
		       "(`cachepeek doctor` says why,\n`cachepeek list events --json` has "
		       "them).\n",
			showing.left_out);
	puts("\nPresets, which every processor and the simulated PMU counts under the "
	     "same\nname: `cachepeek list presets`");
	return 0;
}
