/* SPDX-License-Identifier: MIT
 *
 * Whether memory that the program names can be read.  It is for the kernel to say that
 * a pointer is bad (EFAULT), so whoever looks before the kernel does asks here first.
 */
#ifndef CACHEPEEK_PRELOAD_PROGRAM_READABLE_H
#define CACHEPEEK_PRELOAD_PROGRAM_READABLE_H

#include <stdbool.h>
#include <stddef.h>

/* NULL cannot be. */
bool cp_can_read(const void *memory, size_t size);

/* Up to the end of the string. */
bool cp_can_read_text(const char *text);

/* The array and its strings, as exec takes them: NULL has none. */
bool cp_can_read_texts(char *const texts[]);

#endif
