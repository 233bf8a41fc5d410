/* SPDX-License-Identifier: MIT
 *
 * Running the program again, under the simulated PMU.
 */
#ifndef CACHEPEEK_PRELOAD_REEXEC_H
#define CACHEPEEK_PRELOAD_REEXEC_H

#include <stdbool.h>

#include "base/engine/engine.h"
#include "base/counters/plan.h"
#include "base/machine/shown.h"

/* The path of a file that is installed with the library: DIR/libcachepeek/NAME for
 * DIR/libcachepeek.so.  0 or -errno. */
int cp_companion_path(const char *name, char *to, size_t size);

/* Is the simulated PMU installed beside the library?  0, or -errno and why. */
int cp_reexec_possible(struct cp_why *why);

/* Further work for the simulated PMU. */
struct cp_sim_wishes {
	bool profile, sharing; /* sharing: with a profile */
	bool call_paths;
	bool line_use;         /* with a profile */
	bool lines;            /* of source that are regions */
	enum cp_shown_cpu cpu; /* of which CPUID tells */
	unsigned quantum;      /* of sharing: data references of a turn; 0: none */
};

/*
 * Replaces this process image by the same program under the simulated PMU,
 * with the environment entries added[] ("NAME=value", NULL-terminated); the
 * simulator's own messages, and a profile if one is wanted, go into the run
 * directory.  Does not return unless that fails:
 * -errno and why.
 */
int cp_reexec(char **argv, char *const added[], const struct cp_plan *plan,
	const char *run_directory, const struct cp_sim_wishes *wishes,
	struct cp_why *why);

/* In the new image: gives argv[0] its old text and takes our private variables
 * out of the environment array, in place. */
void cp_reexec_restore(char **argv, char **envp);

/* The program's own executable: /proc/self/exe natively, what was re-executed
 * under the simulated PMU (where /proc/self/exe is the tool). */
const char *cp_own_executable(void);

/* This library's own path, without symbolic links.  0 or -errno. */
int cp_library_path(char *to, size_t size);

#endif
