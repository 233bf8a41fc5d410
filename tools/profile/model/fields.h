/* SPDX-License-Identifier: MIT
 *
 * The fields of the structures that a variable is made of, by its type in DWARF, and how
 * often each was used of the lines that L1D fetched (--line-use).
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_MODEL_FIELDS_H
#define CACHEPEEK_TOOLS_PROFILE_MODEL_FIELDS_H

#include "tools/profile/model/profile.h"

struct cp_field {
	const char *name; /* "inner.one", of what is nested */
	uint64_t offset, size;
	/* Lines that it was fetched with, and of these those that it was used in until
	 * they went; the same of lines of which less than three quarters were used. */
	uint64_t fetched, used, sparse, used_of_sparse;
};

struct cp_fields {
	const char *type; /* "struct node" */
	uint64_t size;    /* of an element */
	size_t n;
	struct cp_field *field;  /* by offset */
	uint64_t used_of_sparse; /* of all its bytes */
};

/* As the debugging information says, without numbers; NULL: the variable that begins
 * there is of no structure, or nothing is known of it. */
struct cp_fields *cp_symbols_fields(
	struct cp_symbols *symbols, struct cp_arena *arena, uint64_t address);

/* With numbers; NULL: as above, or nobody looked, or its elements cannot be told apart.
 */
const struct cp_fields *cp_fields_of(
	const struct cp_profile *profile, const struct cp_profiled_object *object);

/* The part of an element that is in fields which are not cold. */
double cp_fields_hot_share(const struct cp_fields *fields);
/* As many lines have room for these fields as often as they were used. */
double cp_fields_hot_lines(const struct cp_fields *fields, uint64_t line);

/* "one, two": those that are cold, or those that are not; "none". */
const char *cp_fields_names(
	struct cp_arena *arena, const struct cp_fields *fields, bool cold);

/* "one 100, two 20": in how many percent of the lines that it was fetched with each was
 * used. */
const char *cp_fields_shares(struct cp_arena *arena, const struct cp_fields *fields);

#endif
