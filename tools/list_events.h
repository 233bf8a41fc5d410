/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_LIST_EVENTS_H
#define CACHEPEEK_TOOLS_LIST_EVENTS_H

#include "tools/list/list.h"

/* The events that can be counted here, with what they count; those of the list's names,
 * whether they can or not.  Returns the exit status. */
int cp_list_events(const struct cp_list *list);

#endif
