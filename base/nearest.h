/* SPDX-License-Identifier: MIT
 *
 * "Did you mean …?" for a misspelt name.
 */
#ifndef CACHEPEEK_BASE_NEAREST_H
#define CACHEPEEK_BASE_NEAREST_H

/* The candidate (NULL-terminated array) with the fewest insertions, deletions,
 * replacements and swaps of neighbours from word, case aside; NULL if none is
 * near enough to be meant (more than a third of the word would change). */
const char *cp_nearest(const char *word, const char *const *candidates);

#endif
