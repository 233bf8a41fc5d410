/* SPDX-License-Identifier: MIT
 *
 * The findings of a run, each with its cause, place, cost, what a mend can save, and the
 * commands that confirm it: for people, and for editors and agents.
 */
#ifndef CACHEPEEK_TOOLS_PROFILE_EXPLAIN_H
#define CACHEPEEK_TOOLS_PROFILE_EXPLAIN_H

#include "base/out.h"
#include "tools/profile/advice/advice.h"

struct cp_explained {
	const char *from; /* a run's directory, or a file of JSON */
	bool is_file;
	const char *command, *machine;
	const char *ended; /* NULL: by itself */
	const char *source;
	const char *const *words; /* of the command; NULL: not known */
	size_t nwords, nwarnings;
	const char **warnings;
	struct cp_findings found;
};

/* The findings of all measurements of data and code.  false with one line in error. */
bool cp_explain_profile(struct cp_profile *profile, const char *directory,
	struct cp_explained *to, char *error, size_t size);

/* Reads what cachepeek dcache, dtlb, icache or sharing has written; as above. */
bool cp_explain_json(struct cp_arena *arena, const char *path, struct cp_explained *to,
	char *error, size_t size);

void cp_explain_write_text(
	struct cp_out *out, struct cp_arena *arena, const struct cp_explained *what);
/* doc/cachepeek-explain-1.schema.json */
void cp_explain_write_json(
	struct cp_out *out, struct cp_arena *arena, const struct cp_explained *what);

#endif
