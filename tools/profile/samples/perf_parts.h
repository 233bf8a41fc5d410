/* SPDX-License-Identifier: MIT
 *
 * The parts of reading perf's files: perf_data.c asks perf, perf_script.c reads its
 * lines, perf_image.c makes of each process what a .samples file has.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_SAMPLES_PERF_PARTS_H
#define CACHEPEEK_TOOLS_PROFILE_SAMPLES_PERF_PARTS_H

#include "tools/profile/samples/samples_parts.h"

/* An event of the file. */
struct cp_perf_event {
	const char *name;
	enum cp_sampled_event
		kind; /* CP_SAMPLED_EVENTS: its samples are of no use here */
	bool each;    /* one sample for each event */
	unsigned type;
	unsigned long config;
	bool of_kernel; /* of the kernel only */
	uint64_t samples;
	const char *left_out;           /* why its samples are; NULL: they are not */
	const struct cp_perf_event *by; /* another one that has the same samples */
	uint64_t repeated;              /* samples that are left out for that */
};

struct cp_perf_mapping {
	uint64_t time, start, size, offset;
	bool read, write, code;
	const char *path;
};

struct cp_perf_thread {
	int32_t tid;
	const char *name;
};

/* A process, from an exec to the next one. */
struct cp_perf_image {
	int32_t pid;
	CP_LIST(struct cp_perf_mapping) mappings;
	CP_LIST(struct cp_perf_thread) threads;
	CP_LIST(struct cp_timed_sample) samples;
};

struct cp_perf {
	struct cp_arena *arena;
	bool has_source, has_weight; /* columns of a sample's line */
	bool faults, memory;         /* the measurement's events */
	bool translations;           /* it looks at TLBs */
	const char *vendor_name, *command;
	uint64_t written_ns; /* CLOCK_REALTIME of the file */
	/* Paths of files that have the build ID that perf saw. */
	CP_LIST(const char *) same;
	CP_LIST(struct cp_perf_event) events;
	CP_LIST(struct cp_perf_image) images;
	uint64_t lost, in_kernel;
};

/* Whether samples of such events are in the measurement. */
static inline bool cp_perf_takes(const struct cp_perf *perf, enum cp_sampled_event kind)
{
	return kind == CP_SAMPLED_FAULTS ? perf->faults
					 : kind == CP_SAMPLED_MEMORY && perf->memory;
}

/* perf_script.c: a line of `perf script`. */
void cp_perf_line(struct cp_perf *perf, const char *line);

/* perf_image.c */
struct cp_sampled_source cp_perf_source(
	const struct cp_perf *perf, const struct cp_perf_image *image);

#endif
