/* SPDX-License-Identifier: MIT
 *
 * A lock as it is in memory, for code that has no libc (the simulated PMU).
 */
#ifndef CACHEPEEK_BASE_LOCK_WORD_H
#define CACHEPEEK_BASE_LOCK_WORD_H

struct cp_lock {
	int held; /* atomic */
	int torn; /* was it held when this process was forked? */
};

#endif
