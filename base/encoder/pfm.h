/* SPDX-License-Identifier: MIT
 *
 * libpfm4, reduced to what is needed here.
 *
 * Its tables are 2 MB with 41,000 pointers to relocate, 0.7 ms for every
 * process that is started: so it lives in an object of its own, encoder.so,
 * which the library loads when an event is named that only libpfm knows.  The
 * command has it linked in.
 */
#ifndef CACHEPEEK_BASE_ENCODER_PFM_H
#define CACHEPEEK_BASE_ENCODER_PFM_H

#include <stddef.h>

struct perf_event_attr;

/* An event's name and what libpfm4 says that it counts. */
typedef void cp_event_visit(void *context, const char *name, const char *meaning);

struct cp_encoder {
	/* The environment that libpfm's LIBPFM_* variables are looked up in. */
	void (*use_environment)(char **envp);

	/*
	 * Encodes an event for user mode (unless its modifiers say otherwise)
	 * into *attr.  Returns 0, or -EINVAL with a phrase of libpfm's in
	 * *reason, which is static.
	 */
	int (*encode)(
		const char *event, struct perf_event_attr *attr, const char **reason);

	/*
	 * Does libpfm know this event, on whatever PMU?  0; -ENOENT if it has no
	 * table of that PMU (each architecture's libpfm has its own), -EINVAL
	 * with a phrase in *reason if there is no such event.  Wants
	 * LIBPFM_ENCODE_INACTIVE in the environment.
	 */
	int (*check)(const char *event, const char **reason);

	/* The name of the index'th core PMU that is present ("skx", "arm_n1"),
	 * NULL after the last.  "perf", uncore and OS PMUs are left out. */
	const char *(*core_pmu)(unsigned index);

	/* Calls visit for every event of every PMU present, "PMU::NAME". */
	void (*each_event)(cp_event_visit *visit, void *context);
};

/* The only symbol that encoder.so shows. */
extern const struct cp_encoder cp_encoder;

#endif
