/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_BASE_TEXT_NEAREST_H
#define CACHEPEEK_BASE_TEXT_NEAREST_H

/*
 * Returns the candidate that word was probably meant to be: the one at the smallest edit
 * distance (case ignored), if that is at most a third of the word's length, rounded up.
 * NULL: none is near.  The list ends with NULL.
 */
const char *cp_nearest(const char *word, const char *const *candidates);

/* The edit distance itself, for callers that hold their candidates otherwise: letters to
 * add, drop or change, and neighbours to swap; words longer than 63 bytes are taken as
 * unrelated.  Case is ignored. */
unsigned cp_edit_distance(const char *a, const char *b);

#endif
