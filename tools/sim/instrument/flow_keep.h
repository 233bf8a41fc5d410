/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The flows of all generated code (model/flow.h), of which each is kept once.
 */
#ifndef CACHEPEEK_SIM_FLOW_KEEP_H
#define CACHEPEEK_SIM_FLOW_KEEP_H

#include "model/flow.h"
#include "tool.h"

#define MAX_VALUES (FLOW_LOADS + 1)
#define MAX_SOURCES 1024
#define MAX_WORDS 1024

/* One that is being made. */
struct made_flow {
	struct flow flow;
	struct flow_value value[MAX_VALUES];
	struct flow_source source[MAX_SOURCES];
	union flow_word way[MAX_WORDS];
	UInt nvalues, nwords;
};

const struct flow *flow_keep(const struct made_flow *made);

/* The same of any words. */
const void *flow_keep_piece(const ULong *piece, SizeT words);

#endif
