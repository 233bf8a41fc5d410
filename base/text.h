/* SPDX-License-Identifier: MIT
 *
 * Small things about strings that need neither locale nor malloc.
 */
#ifndef CACHEPEEK_BASE_TEXT_H
#define CACHEPEEK_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Decimal or 0x hexadecimal with nothing after it.  Returns 0, or -EINVAL
 * for anything else and for what does not fit into 64 bits. */
int cp_parse_u64(const char *text, uint64_t *value);

/* The same up to the first byte that is not a digit; *end points there. */
int cp_parse_u64_prefix(const char *text, const char **end, uint64_t *value);

/* The same of a size, which may end in K, M or G: below 4 G before that. */
bool cp_parse_size_prefix(const char *text, const char **end, uint64_t *value);

bool cp_starts_with(const char *text, const char *prefix);

/* As a file's name does that has more than its ending. */
bool cp_ends_with(const char *text, const char *ending);

/* The part of a path behind its last slash. */
static inline const char *cp_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Is it one of n names? */
static inline bool cp_is_among(const char *name, const char *const *names, size_t n)
{
	size_t i = 0;

	while (i < n && strcmp(name, names[i]) != 0)
		i++;
	return i < n;
}
#define CP_IS_AMONG(name, names)                                                         \
	cp_is_among(name, names, sizeof(names) / sizeof((names)[0]))

/* The next piece of a list: skips separators at *at, sets *length to the
 * piece's, moves *at behind it.  NULL: no more pieces. */
const char *cp_next_piece(const char **at, char separator, size_t *length);

/* Reads a small file of /proc or /sys, NUL-terminated, without a newline at its end.
 * Returns whether that worked. */
bool cp_read_file(const char *path, char *to, size_t size);

/*
 * Bytes of the character at text, up to end, that commands a terminal or turns
 * the direction of writing; 0 if it is none: C0, DEL, C1, and the marks of
 * Unicode's bidirectional algorithm and line separators in UTF-8.
 */
size_t cp_control_length(const char *text, const char *end);

#endif
