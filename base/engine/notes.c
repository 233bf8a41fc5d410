/* SPDX-License-Identifier: MIT */
#include "base/engine/notes.h"

#include "base/text.h"

#ifndef CP_NMI_WATCHDOG /* tests have their own */
#define CP_NMI_WATCHDOG "/proc/sys/kernel/nmi_watchdog"
#define CP_SMT_ACTIVE "/sys/devices/system/cpu/smt/active"
#endif

static bool is_on(const char *path)
{
	char text[8];

	return cp_read_file(path, text, sizeof(text)) && text[0] == '1';
}

/* The hardware groups of the kind of core that has most.  Groups that only tell for how
 * long a kind of core is in use do not count. */
static unsigned hardware_groups(const struct cp_event_set *set)
{
	unsigned most = 0;

	for (unsigned core = 0; core <= set->ncounters; core++) {
		unsigned groups = 0;

		for (unsigned i = 0; i < set->ncounters; i++)
			groups += set->counters[i].core == core &&
				  !set->counters[i].attr.pinned &&
				  !set->counters[i].socket &&
				  cp_perf_needs_pmu(&set->counters[i].attr) &&
				  (i == 0 || set->counters[i].group !=
						     set->counters[i - 1].group);
		if (groups > most)
			most = groups;
	}
	return most;
}

static void note_accounts(const struct cp_event_set *set, void (*say)(const char *line))
{
	for (unsigned i = 0; i < set->ncounters; i++)
		if (set->counters[i].rusage) {
			say("context switches are counted by getrusage(RUSAGE_THREAD): "
			    "this user may not open events in kernel mode");
			return;
		}
}

void cp_perf_note(const struct cp_event_set *set, void (*say)(const char *line))
{
	bool shared = hardware_groups(set) > 1;

	note_accounts(set, say);
	if ((set->starved || shared) && is_on(CP_NMI_WATCHDOG))
		say(set->starved ? "an event never gets a counter: "
				   "the NMI watchdog holds one on each CPU, "
				   "which `sysctl -w kernel.nmi_watchdog=0` "
				   "as root frees"
				 : "the events do not fit into the counters at once: "
				   "the NMI watchdog holds one on each CPU, "
				   "which `sysctl -w kernel.nmi_watchdog=0` "
				   "as root frees");
	else if (set->starved)
		say("an event opens but never gets a counter: "
		    "another user of the PMU holds them (a profiler, "
		    "a virtual machine), or it wants one that this CPU does not have");
}

const char *cp_perf_note_siblings(const struct cp_event_set *set)
{
	if (!hardware_groups(set) || !is_on(CP_SMT_ACTIVE))
		return NULL;
	return "hardware threads share the core (SMT): events are each thread's own, "
	       "but its L1, L2 and TLBs hold also what the sibling uses";
}
