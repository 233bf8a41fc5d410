/* SPDX-License-Identifier: MIT
 *
 * Call chains by what the code's own tables (.eh_frame) say of its stack, as far as the
 * part of the stack goes that a sample has; from there on by frame pointers.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_SAMPLES_UNWIND_H
#define CACHEPEEK_TOOLS_PROFILE_SAMPLES_UNWIND_H

#include "regions/samples.h"
#include "tools/profile/samples/memory.h"

struct cp_unwinder;

/* Files that are mapped are opened when they are needed.  NULL: libdw does not start. */
struct cp_unwinder *cp_unwinder_new(struct cp_arena *arena);
void cp_unwinder_close(struct cp_unwinder *unwinder);

/* The addresses of the chain's frames, the innermost one first: where it was, and in each
 * caller an address of the call.  How many there are, at most CP_CHAIN_LENGTH. */
size_t cp_unwind(struct cp_unwinder *unwinder, const struct cp_memory *memory,
	const struct cp_samples_chain *chain, uint64_t address[CP_CHAIN_LENGTH]);

#endif
