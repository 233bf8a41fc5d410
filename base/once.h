/* SPDX-License-Identifier: MIT
 *
 * For what is done, or said, once.  A fork child inherits it: whoever reads what was said
 * has read it.  Nobody ever waits for one.
 */
#ifndef CACHEPEEK_BASE_ONCE_H
#define CACHEPEEK_BASE_ONCE_H

#include <stdbool.h>

struct cp_once {
	int done; /* atomic; not every CPU exchanges bytes */
};

/* Is this the first time? */
static inline bool cp_once(struct cp_once *once)
{
	return !__atomic_exchange_n(&once->done, 1, __ATOMIC_RELAXED);
}

static inline bool cp_once_was(const struct cp_once *once)
{
	return __atomic_load_n(&once->done, __ATOMIC_RELAXED);
}

#endif
