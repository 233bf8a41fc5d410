/* SPDX-License-Identifier: MIT
 *
 * Explains what the columns of a page mean: of metrics a line and the formula, of counts
 * a line.
 */
#ifndef CACHEPEEK_OUTPUT_MEANINGS_H
#define CACHEPEEK_OUTPUT_MEANINGS_H

#include "base/out.h"
#include "output/metrics/group.h"

/* Writes a JSON object by name, of the metrics of these groups and of these quantities.
 * A metric of the user's own has no meaning but its formula. */
void cp_meanings_write(struct cp_out *out, const struct cp_group *const *groups,
	size_t ngroups, const char *const *quantities, size_t nquantities);

/* The same of names of either kind, where the groups are not known: those of the
 * compiled-in groups.  No formula where two of these have two. */
void cp_meanings_of_names(struct cp_out *out, const char *const *names, size_t n);

#endif
