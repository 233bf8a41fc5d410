/* SPDX-License-Identifier: MIT
 *
 * How the CPU saves its vector registers: what stubs.S gives xsave.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_VECTORS_H
#define CACHEPEEK_PRELOAD_PATCH_VECTORS_H

#include <stdbool.h>

/* false: it cannot, or the kernel does not let it. */
bool cp_vectors_start(void);

#endif
