/* SPDX-License-Identifier: MIT
 *
 * Presets: vendor-neutral quantities (l1d_misses) and the events that give
 * them on each PMU.  They are data, in output/presets/ *.events:
 *
 *     @pmu skl skx clx       the PMUs of this file, as libpfm4 names them;
 *                            "sim" is the simulated PMU, "perf" the kernel's
 *                            generic and software events
 *     @device cpu_atom/0x97  the kernel's PMUs (in sysfs) that are the first of
 *                            these, on CPUs of this model or part; without
 *                            models, on all
 *     @line 64               bytes of a cache line, if known
 *     @bare                  event names stand for themselves (no "PMU::")
 *     @counters 0-3          the counters that an event may use
 *     @fixed EVENT…          have a counter each of their own
 *     @only 0-1 EVENT…       may use only these counters
 *     @scope socket          counts all that a socket does, not one thread
 *     @beside skx clx        core PMUs that a PMU of scope socket belongs to
 *     # what is peculiar about it
 *     l2_misses = L2_RQSTS:MISS | L2_RQSTS:0x3f {loads stores prefetch code}
 *     l2_evictions = L2_LINES_OUT:SILENT + L2_LINES_OUT:NON_SILENT
 *     @doc NAME MEANING      what a preset means on any PMU
 *
 * Alternatives, separated by |, are to be tried in order; terms are combined
 * by + and - standing alone.  A name without "::" belongs to the PMU asked for;
 * sysfs:PATTERN/KEY=VALUE,…/ is perf's spelling for the PMUs in
 * /sys/bus/event_source/devices whose names match, and their sum.  In @fixed
 * and @only, EVENT stands for EVENT:UMASK, too.  The braces say what the counts
 * include; without them it is not documented, or the question makes no sense.
 * The comment in the line above a preset is its note.  A file that lists several
 * PMUs of scope socket (one per memory channel) is about their sum.
 */
#ifndef CACHEPEEK_OUTPUT_METRICS_PRESET_H
#define CACHEPEEK_OUTPUT_METRICS_PRESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define CP_PRESET_MAX_TERMS 8
#define CP_PRESET_MAX_ALTERNATIVES 4

struct cp_preset_term {
	int sign; /* +1 or -1 */
	const char *
		event; /* "skx::L1D:REPLACEMENT", "perf::page-faults", sim: "l1d_loads" */
};

struct cp_preset_alternative {
	size_t nterms; /* 1 .. CP_PRESET_MAX_TERMS */
	struct cp_preset_term terms[CP_PRESET_MAX_TERMS];
};

/* The kinds of accesses that a count includes. */
enum cp_preset_includes {
	CP_INCLUDES_LOADS = 1,
	CP_INCLUDES_STORES = 2,
	CP_INCLUDES_PREFETCH = 4, /* by hardware */
	CP_INCLUDES_CODE = 8,
	CP_INCLUDES_WALKS = 16,
	CP_INCLUDES_WRITEBACKS = 32, /* from the level above */
	CP_INCLUDES_SOCKET = 64,     /* all that the socket does */
	CP_INCLUDES_FILLS = 128,     /* of misses: what came in, not references */
};

struct cp_preset {
	const char *name;
	const char *meaning; /* one line, or "" */
	const char *note;    /* about this PMU's events, one line, or "" */
	unsigned includes;   /* enum cp_preset_includes; 0: not known */
	size_t nalternatives;
	struct cp_preset_alternative alternatives[CP_PRESET_MAX_ALTERNATIVES];
};

/* How `preset` is counted on `pmu`.  0, -ENOENT if that PMU cannot give it (or
 * is not known), -EINVAL if its data file is malformed.  Strings are in arena. */
int cp_preset_lookup(struct cp_arena *arena, const char *pmu, const char *preset,
	struct cp_preset *out);

/* Every preset of pmu, in the order of its file; visit returns false to stop.
 * Returns 0, -ENOENT for an unknown PMU, -EINVAL for a malformed file. */
int cp_preset_each(struct cp_arena *arena, const char *pmu,
	bool (*visit)(void *context, const struct cp_preset *preset), void *context);

/* Is this the name of a preset, on whatever PMU? */
bool cp_preset_known(const char *name);

/* Its meaning in one line, in static storage; NULL if unknown. */
const char *cp_preset_meaning(struct cp_arena *arena, const char *name);

/* The names of all presets, sorted as in the documentation, NULL-terminated:
 * for cp_nearest() and lists. */
const char *const *cp_preset_names(struct cp_arena *arena);

/* Bytes of a cache line on pmu, 0 if unknown. */
unsigned cp_preset_line(const char *pmu);

/* Does pmu count for all of a socket, so that no thread can be given a share? */
bool cp_preset_is_socket(const char *pmu);

/*
 * The counters of pmu that may count event (of its own file, "PMU::" or not), a
 * bit each; 0 if it has one of its own.  -ENOENT if the counters of that PMU
 * are not known.
 */
int cp_preset_counters(const char *pmu, const char *event, uint32_t *counters);

/* The PMU that a core PMU of the kernel's is, on a CPU of that model (x86) or part
 * (Arm); NULL: not known. */
const char *cp_preset_pmu_of_device(
	struct cp_arena *arena, const char *device, unsigned model);

/* Every PMU that has a file, in the order of the files, NULL-terminated. */
const char *const *cp_preset_pmus(struct cp_arena *arena);

/* The PMUs of scope socket beside the core PMU, NULL-terminated. */
const char *const *cp_preset_beside(struct cp_arena *arena, const char *core);

/* The index'th word for what a count includes, NULL after the last. */
const char *cp_preset_include_name(unsigned index);

#endif
