/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the model needs from whoever hosts it: the tool or a unit test.
 */
#ifndef CACHEPEEK_SIM_HOST_H
#define CACHEPEEK_SIM_HOST_H

#include <stdint.h>

/* Zeroed, aligned to 64 bytes, and backed by memory only where it is touched;
 * NULL if there is none. */
void *host_alloc(uint64_t size);
void host_free(void *p, uint64_t size);
void host_zero(void *p, uint64_t size);

#endif
