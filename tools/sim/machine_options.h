/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The options that describe a machine: its caches, TLBs, cores, sockets and time.
 */
#ifndef CACHEPEEK_SIM_MACHINE_OPTIONS_H
#define CACHEPEEK_SIM_MACHINE_OPTIONS_H

#include "tool.h"

/* Is it one of these?  An option that cannot be taken ends the process. */
Bool machine_options_parse(const HChar *arg);
/* Adds the machine that the options so far describe to those of tool_options. */
void machine_options_add(void);
/* A batch tells of chains once, for all machines of the run. */
void machine_options_check_ooo(void);

/* ---- options.c: for all that parse options ---- */

/* The last row has no name. */
struct option_value {
	const HChar *name; /* with its "=" */
	void (*parse)(const HChar *value);
};

Bool option_has_value(const HChar *arg, const struct option_value *rows);
void refuse_option(const HChar *name, const HChar *why) __attribute__((noreturn));
/* "1,2,3" into out[n], and where it ends. */
Bool parse_numbers(const HChar **at, HChar separator, ULong *out, UInt n);

#endif
