/* SPDX-License-Identifier: MIT
 *
 * Which functions are to be regions, and which never are.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_CHOOSE_H
#define CACHEPEEK_PRELOAD_PATCH_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/patch/patch.h"

void cp_choose_start(const char *patterns);

/* Is the function of that name (as the symbol table has it) chosen?  What chooses it is
 * found from then on. */
bool cp_choose(const char *name);

/* Is it chosen by a pattern without a wildcard, or by its address? */
bool cp_choose_exactly(const char *name);

/* The library's handle of it; NULL: no memory. */
void *cp_choose_function(const struct cp_patch_host *host, const char *name);

/* The function at an offset in a file, "FILE+0xOFFSET", that is the index'th one of the
 * patterns and in this file; false: there are no more. */
struct cp_chosen_address {
	unsigned long value;
	char name[300];
};
#define CP_MOST_ADDRESSES 64
bool cp_choose_address(const char *path, size_t index, struct cp_chosen_address *chosen);

bool cp_choose_found(const char *pattern, size_t length);

/* Does it return twice, or look at its return address, or do we call it all the time? */
bool cp_is_special(const char *name);

#endif
