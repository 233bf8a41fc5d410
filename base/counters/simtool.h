/* SPDX-License-Identifier: MIT
 *
 * The simulated PMU as a program: its file, and the words of its command line.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_SIMTOOL_H
#define CACHEPEEK_BASE_COUNTERS_SIMTOOL_H

#include "base/engine/engine.h"
#include "base/machine/machine.h"

/* Beside the library, in the directory "cachepeek". */
#if defined(__x86_64__)
#define CP_SIM_TOOL "cachepeek-amd64-linux"
#elif defined(__aarch64__)
#define CP_SIM_TOOL "cachepeek-arm64-linux"
#else
#define CP_SIM_TOOL "cachepeek-none"
#endif

/* May memory be both written and executed, as what translates code needs?  false: why. */
bool cp_sim_may_write_code(struct cp_why *why);

/* Is the tool in that directory, and as much memory as it takes?  0, or -errno and why.
 */
int cp_sim_is_installed(const char *directory, struct cp_why *why);

/* Why it does not run the program at path, which the kernel may run; NULL: it does, or
 * neither runs it.  Async-signal-safe. */
const char *cp_sim_refuses(const char *path);

/* The options of Valgrind's core, whatever is simulated. */
#define CP_SIM_NCORE 10
extern const char *const cp_sim_core_options[CP_SIM_NCORE];

/* The options that describe a machine; words point into it. */
#define CP_SIM_NWORDS (CP_NLEVELS + 8)
struct cp_sim_words {
	char level[CP_NLEVELS][CP_MACHINE_OPTION];
	char page[32], cores[32], timing[128], ooo[160], sockets[80], streams[32];
	const char *word[CP_SIM_NWORDS];
};
void cp_sim_describe(const struct cp_machine *machine, struct cp_sim_words *words);

#endif
