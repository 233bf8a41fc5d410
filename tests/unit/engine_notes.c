/* SPDX-License-Identifier: MIT
 *
 * Other holders of counters, and what siblings share: said where it matters.
 */
#include <stdio.h>

static char watchdog[] = "/tmp/engine_notes_w_XXXXXX",
	    smt[] = "/tmp/engine_notes_s_XXXXXX";
#define CP_NMI_WATCHDOG watchdog
#define CP_SMT_ACTIVE smt

#include "base/engine/notes.c"
#include "tests/tap/tap.h"
#include "tests/unit/engine_world.h"

static struct cp_event_set set;
static char said[400];

static void keep(const char *line)
{
	snprintf(said, sizeof(said), "%s", line);
}

static void write_to(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	fputs(text, out);
	fclose(out);
}

/* The note about so many events on so many counters. */
static const char *note(unsigned ncounters, unsigned capacity, uint32_t type)
{
	world_reset();
	world.capacity = capacity;
	memset(&set, 0, sizeof(set));
	set.ncounters = ncounters;
	for (unsigned i = 0; i < ncounters; i++)
		set.counters[i].attr.type = type;
	cp_perf_arrange(&set);
	said[0] = '\0';
	cp_perf_note(&set, keep);
	return said;
}

int main(void)
{
	plan_lazy();
	if (mkstemp(watchdog) < 0 || mkstemp(smt) < 0)
		bail("no /tmp");
	write_to(watchdog, "1\n");
	write_to(smt, "1\n");
	is_string(note(4, 4, PERF_TYPE_RAW), "", "all fit: the watchdog is no matter");
	ok(strstr(note(5, 4, PERF_TYPE_RAW), "do not fit") &&
			strstr(said, "nmi_watchdog=0"),
		"they do not: it is named, and the cure: %s", said);
	ok(strstr(note(1, 0, PERF_TYPE_RAW), "never gets a counter: the NMI watchdog"),
		"nor does a single one: %s", said);
	is_string(note(5, 0, PERF_TYPE_SOFTWARE), "", "software needs no counters");
	write_to(watchdog, "0\n");
	is_string(note(5, 4, PERF_TYPE_RAW), "",
		"without a watchdog: too many events, no more");
	ok(strstr(note(1, 0, PERF_TYPE_RAW), "another user"),
		"a group that opens and never runs: %s", said);
	note(1, 4, PERF_TYPE_RAW);
	ok(cp_perf_note_siblings(&set) && strstr(cp_perf_note_siblings(&set), "L1, L2"),
		"siblings that are in use: %s", cp_perf_note_siblings(&set));
	write_to(smt, "0\n");
	ok(!cp_perf_note_siblings(&set), "that are not");
	write_to(smt, "1\n");
	note(1, 4, PERF_TYPE_SOFTWARE);
	ok(!cp_perf_note_siblings(&set), "for software events they do not matter");
	unlink(watchdog);
	unlink(smt);
	world_reset();
	return 0;
}
