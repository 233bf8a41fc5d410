/* SPDX-License-Identifier: MIT
 *
 * Numbers of pairs of numbers.
 */
#ifndef CACHEPEEK_TOOLS_KEYS_H
#define CACHEPEEK_TOOLS_KEYS_H

#include "base/arena.h"

struct cp_keys;

struct cp_keys *cp_keys_new(struct cp_arena *arena);

/* The number of a pair, which the caller gives one if it is 0; until the next call. */
size_t *cp_keys_number(struct cp_keys *keys, size_t a, size_t b);

#endif
