/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * VEX rounds sums, products, quotients and roots to nearest, whatever mode the program
 * has set.  Once one sets another (LDMXCSR), all that was translated is made again, and
 * the host executes those.
 */
#ifndef CACHEPEEK_SIM_NATIVE_ROUNDING_H
#define CACHEPEEK_SIM_NATIVE_ROUNDING_H

#include "tool.h"

/* Is it one that VEX would round to nearest, and has the program another mode? */
Bool rounding_looks_wrong(const UChar *code, UInt length);
/* May it be the first that sets another mode?  (rounding_look() is then called behind it,
 * at the end of its superblock: native.h) */
Bool rounding_looks_set(const UChar *code, UInt length);
#endif
