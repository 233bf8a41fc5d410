/* SPDX-License-Identifier: MIT
 *
 * Code: memory for more of it, and changes of what is there.  No page is ever writable
 * and executable at once if the kernel lets it be written to in another way.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_MEMORY_H
#define CACHEPEEK_PRELOAD_PATCH_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Memory for code, within reach of a jump from all of [low, high); 0: there is none. */
uintptr_t cp_code_take(uintptr_t low, uintptr_t high, size_t size);

/* Changes code; 0 or -errno, and then nothing has changed. */
int cp_code_write(uintptr_t to, const void *bytes, size_t size);

#endif
