/* SPDX-License-Identifier: MIT
 *
 * A buffered writer over a file descriptor, without stdio and malloc.
 */
#ifndef CACHEPEEK_BASE_OUT_H
#define CACHEPEEK_BASE_OUT_H

#include <stddef.h>

struct cp_out {
	int fd;
	int error; /* 0, or the errno of the first write that failed */
	size_t used;
	char buffer[8192];
};

void cp_out_open(struct cp_out *out, int fd);
void cp_out_bytes(struct cp_out *out, const void *bytes, size_t length);
void cp_out_text(struct cp_out *out, const char *text);

/* cp_format() into the writer, whole. */
void cp_out_format(struct cp_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes what is buffered.  Returns 0 or -errno of the first failure so far;
 * the descriptor stays the caller's. */
int cp_out_flush(struct cp_out *out);

#endif
