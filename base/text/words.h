/* SPDX-License-Identifier: MIT
 *
 * Reading the line-based data files (presets, groups): slices of a text that
 * stays where it is, lines without their comments, words.  Nothing allocates,
 * everything is re-entrant.
 */
#ifndef CACHEPEEK_BASE_TEXT_WORDS_H
#define CACHEPEEK_BASE_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a text, not NUL-terminated.  Empty: at == end. */
struct cp_slice {
	const char *at, *end;
};

struct cp_lines {
	const char *at;
	unsigned number; /* of the line that was read last, from 1 */
};

/* The next line that holds anything, without comment (from a # that begins
 * the line or follows a blank) and surrounding blanks; false at the end. */
bool cp_lines_next(struct cp_lines *lines, struct cp_slice *line);

/* The next line as it is, empty ones included, without its newline. */
bool cp_lines_verbatim(struct cp_lines *lines, struct cp_slice *line);

size_t cp_slice_length(struct cp_slice slice);
bool cp_slice_is(struct cp_slice slice, const char *text);
struct cp_slice cp_slice_of(const char *text);
struct cp_slice cp_slice_trim(struct cp_slice slice);

/* Takes the next blank-separated word off rest; false if there is none. */
bool cp_slice_word(struct cp_slice *rest, struct cp_slice *word);

/* Takes what stands before the next `mark` (or everything, if there is none)
 * off rest, trimmed, and the mark too; false if rest is empty. */
bool cp_slice_part(struct cp_slice *rest, char mark, struct cp_slice *part);

#endif
