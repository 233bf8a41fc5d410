/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * State that VEX has no place for lies in the guest state's two shadows, which this tool
 * has no other use for: the core makes them for each thread, copies them for a new one,
 * and keeps and restores them around the handler of a signal.
 */
#ifndef CACHEPEEK_SIM_NATIVE_STATE_H
#define CACHEPEEK_SIM_NATIVE_STATE_H

#include "tool.h"
#include "valgrind/guest.h"

struct side_state {
	U256 upper[16];   /* of zmm0 to zmm15 */
	ULong zmm[16][8]; /* zmm16 to zmm31 */
	ULong mask[8];    /* k0 to k7 */
	UInt live;        /* bit n: upper[n] counts, else that half is 0 */
	UInt mxcsr;       /* its bits that are not what they are in the beginning */
};

/* The last word is sample/log.c's. */
_Static_assert(sizeof(struct side_state) <= 2 * sizeof(guest_state) - sizeof(ULong),
	"the side state has to fit into the shadows");

#define SIDE_OF(field) (sizeof(guest_state) + offsetof(struct side_state, field))

static inline UInt state_general(UInt n)
{
	return (UInt)(STATE_OF(guest_RAX) + 8 * n);
}

static inline UInt state_ymm(UInt n)
{
	return (UInt)(STATE_OF(guest_YMM0) + 32 * n);
}

static inline UInt state_upper(UInt n)
{
	return (UInt)(SIDE_OF(upper) + 32 * n);
}

static inline UInt state_zmm(UInt n)
{
	return (UInt)(SIDE_OF(zmm) + 64 * (n - 16));
}

static inline UInt state_mask(UInt n)
{
	return (UInt)(SIDE_OF(mask) + 8 * (n & 7));
}

static inline const struct side_state *side_of(const guest_state *g)
{
	return (const struct side_state *)(g + 1);
}

#endif
