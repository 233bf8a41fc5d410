/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The model's memory in programs that test it: libc's.
 */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

void *host_alloc(uint64_t size)
{
	void *p = aligned_alloc(4096, (size + 4095) & ~4095ull);

	return p ? memset(p, 0, size) : NULL;
}

void host_free(void *p, uint64_t size)
{
	(void)size;
	free(p);
}

void host_zero(void *p, uint64_t size)
{
	memset(p, 0, size);
}

/* Newer compilers' AddressSanitizer would find this by itself: a batch that was on the
 * stack, which the model looks at later. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_stack_use_after_return=1";
}
