/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_BASE_SEARCH_H
#define CACHEPEEK_BASE_SEARCH_H

#include <stddef.h>

/* How many of n items in order are those in front, of which `holds` is true; it says that
 * of item number i. */
#define CP_IN_FRONT(n, i, holds)                                                         \
	__extension__({                                                                  \
		size_t low_ = 0, high_ = (n);                                            \
                                                                                         \
		while (low_ < high_) {                                                   \
			size_t i = low_ + (high_ - low_) / 2;                            \
                                                                                         \
			if (holds)                                                       \
				low_ = i + 1;                                            \
			else                                                             \
				high_ = i;                                               \
		}                                                                        \
		low_;                                                                    \
	})

#endif
