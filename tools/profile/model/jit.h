/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_JIT_H
#define CACHEPEEK_TOOLS_JIT_H

#include "tools/profile/model/profile.h"

/* Fills in function and offset from /tmp/perf-PID.map, which compilers at run
 * time write for the code that they make; at->address is in memory. */
void cp_jit_find(struct cp_profile *profile, int32_t pid, struct cp_place_in_code *at);

/* Before the arena of what was read is freed. */
void cp_jit_forget(void);

#endif
