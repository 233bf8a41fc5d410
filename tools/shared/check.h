/* SPDX-License-Identifier: MIT
 *
 * Checks what is asked for, before a program is started: each of these says in one line
 * what is wrong with an option, with the nearest name or the valid range, and returns
 * false.  Values are never wrong for the library, which takes what it can and runs the
 * program.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_CHECK_H
#define CACHEPEEK_TOOLS_SHARED_CHECK_H

#include <stdbool.h>

#include "base/machine/machine.h"

/* As given with options; NULL: not given. */
struct cp_wanted {
	const char *groups, *events, *engine;
	const char *machine, *changes, *sweep, *window;
	const char *outputs; /* of a report, as CACHEPEEK_OUTPUT */
	const char *directory;
	const char *interval; /* of a time series */
	/* The machines whose own events are known beside those of `machine`,
	 * NULL-terminated; NULL: there are no more. */
	const struct cp_machine *const *others;
};

bool cp_check_wanted(const struct cp_wanted *wanted);

/* Can this file be written, as far as that can be told without making it?  Standard
 * streams can. */
bool cp_check_place(const char *name);

#endif
