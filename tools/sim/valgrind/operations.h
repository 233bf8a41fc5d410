/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * VEX's operations, where its versions differ.
 */
#ifndef CACHEPEEK_SIM_VALGRIND_OPERATIONS_H
#define CACHEPEEK_SIM_VALGRIND_OPERATIONS_H

#include "libvex_ir.h"

#include "valgrind/found.h"

/* Leading and trailing zeros are counted by those from this one on... */
#if HAS_Iop_Clz64
#define FIRST_COUNT_OF_ZEROS Iop_Clz64
#else
#define FIRST_COUNT_OF_ZEROS Iop_ClzNat64
#endif
/* ...to this one. */
#define LAST_COUNT_OF_ZEROS Iop_CtzNat32

#endif
