/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The mappings of files whose symbols somebody has looked up: each once, when its first
 * code is translated.
 */
#ifndef CACHEPEEK_SIM_SCANNED_H
#define CACHEPEEK_SIM_SCANNED_H

#include "tool.h"

struct scanned;

/* The mapping that a is in, if it is of a file and not in the list, where it is now;
 * else NULL. */
const NSegment *scanned_new(struct scanned **list, Addr a);
/* Returns whether any was there. */
Bool scanned_forget(struct scanned **list, Addr a, SizeT len);

#endif
