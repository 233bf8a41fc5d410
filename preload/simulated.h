/* SPDX-License-Identifier: MIT
 *
 * What the simulated PMU is asked for.
 */
#ifndef CACHEPEEK_PRELOAD_SIMULATED_H
#define CACHEPEEK_PRELOAD_SIMULATED_H

/* Finds what is simulated, into cp_runtime: the machine, the sweep, the windows. */
void cp_simulated_machine(void);

/* What is to be counted, before there is anywhere to keep complaints. */
void cp_request_quietly(void);

/* Executes the program again, under the simulated PMU; entries are added to its
 * environment.  Returns only if the program stays as it is. */
void cp_run_simulated(char **argv, char *const *entries);

/* On hardware: of what only the simulated PMU does. */
void cp_warn_of_simulated(void);

#endif
