/* SPDX-License-Identifier: MIT
 *
 * The differences between kinds of CPUs: how far a jump reaches, how much room patches
 * take, where a return address is.  Each has a directory of its own, with what plan.h,
 * jumps.h and this promise, and the entries and returns in assembly.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_ARCHITECTURE_H
#define CACHEPEEK_PRELOAD_PATCH_ARCHITECTURE_H

#define CP_STUB_SIZE 8

#ifdef __aarch64__

#define CP_JUMP_SIZE 4
#define CP_CODE_PAGE 65536ul       /* the largest that kernels have */
#define CP_CODE_REACH (64ul << 20) /* half of a jump's */
#define CP_CODE_STEP (1ul << 16)
/* Return addresses in memory may have a signature above. */
#define CP_ADDRESS_BITS ((1ul << 48) - 1)

#else

#define CP_JUMP_SIZE 5
#define CP_CODE_PAGE 4096ul
#define CP_CODE_REACH                                                                    \
	(1ul << 30) /* half of a jump's, so that what it refers to is near, too */
#define CP_CODE_STEP (1ul << 20)
#define CP_ADDRESS_BITS (~0ul)

#endif

#ifndef __ASSEMBLER__

#include "preload/patch/patch.h"

/* CP_PATCH_DONE, or why nothing can be patched on this CPU. */
enum cp_patch_why cp_architecture_start(void);

#endif
#endif
