/* SPDX-License-Identifier: MIT */
#include "base/counters/windows.h"

#include "base/format.h"
#include "base/text.h"
#include "base/counters/events_internal.h"
#include "tools/sim/request.h"

unsigned cp_windows_parse(const char *text)
{
	uint64_t length;

	if (cp_parse_u64(text, &length) < 0 || length > 1000000000)
		return 0;
	return (unsigned)length;
}

void cp_windows_add_events(struct cp_event_set *set)
{
	static const char *const names[] = {"windows", "window_data_lines",
		"window_data_pages", "window_code_lines", "window_code_pages"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct cp_quantity *quantity;

		if (set->nquantities == CP_MAX_QUANTITIES)
			return;
		quantity = cp_set_quantity(set, names[i]);
		if (set->ncounters == CP_MAX_COUNTERS) {
			cp_format(quantity->why.text, sizeof(quantity->why.text),
				"more than %d counters: ask for fewer events beside it",
				CP_MAX_COUNTERS);
			continue;
		}
		cp_quantity_add_term(quantity, 1, set->ncounters);
		cp_set_add_counter(set, names[i])->mirror = CP_SIM_WINDOWS + i;
		quantity->available = true;
	}
}

static unsigned entries_of(const struct cp_machine *machine, enum cp_level level)
{
	return machine->level[level].sets * machine->level[level].ways;
}

void cp_windows_describe(
	unsigned length, const struct cp_machine *machine, char *to, size_t size)
{
	unsigned own = entries_of(machine, CP_DTLB2);

	cp_format(to, size, "length=%u line=%u code_line=%u page=%u dtlb=%u second=%u",
		length, machine->level[CP_L1D].line, machine->level[CP_L1I].line,
		machine->page, entries_of(machine, CP_DTLB),
		own ? own : entries_of(machine, CP_STLB));
}
