/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The core's descriptors, of which the program's system calls know nothing.
 */
#ifndef CACHEPEEK_SIM_HIDDEN_H
#define CACHEPEEK_SIM_HIDDEN_H

#include "pub_tool_basics.h"

enum { HIDDEN_ARGS = 5, HIDDEN_WORDS = 16 };

struct hidden_call {
	UInt changed; /* arguments, a bit each */
	UWord given[HIDDEN_ARGS];
	UInt n_words; /* in memory */
	struct {
		Int *at, given;
	} words[HIDDEN_WORDS];
};

/* Before and behind a call. */
struct hidden_call hidden_before(ThreadId tid, Int number);
void hidden_behind(ThreadId tid, const struct hidden_call *call);

#endif
