/* SPDX-License-Identifier: MIT
 *
 * The other machines of `cachepeek compare`: the simulated PMU gives them the
 * same references as the one that the report is about, and keeps what the whole
 * process counts there in the record.
 */
#ifndef CACHEPEEK_PRELOAD_COMPARED_H
#define CACHEPEEK_PRELOAD_COMPARED_H

#include <stdbool.h>

#include "base/counters/compared.h"
#include "base/machine/machine.h"

/* The name of the first; false: nothing is compared. */
bool cp_compared_first(char *name, size_t size);

/* Adds to machines[1] and on what else the command asks for; returns how many there
 * are.  complain gets a line for what cannot be found. */
unsigned cp_compared_find(
	struct cp_machine machines[CP_MAX_MACHINES], void (*complain)(const char *line));

/* Has their counts kept in this process's record. */
void cp_compared_bind(void);

#endif
