/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/rows.h"

const char *const *cp_profile_quantities(const struct cp_profile_view *view)
{
	const struct cp_group *m = view->measurement;
	const char **names = cp_arena_alloc(
		view->profile->arena, (m->nneed + m->nwant + 1) * sizeof(*names));

	for (size_t i = 0; i < m->nneed; i++)
		names[i] = m->need[i];
	for (size_t i = 0; i < m->nwant; i++)
		names[m->nneed + i] = m->want[i];
	return names;
}

struct cp_tally cp_profile_totals(const struct cp_profile *profile)
{
	struct cp_tally tally = {.only_kept = false};

	for (size_t i = 0; i < profile->nthreads; i++)
		cp_tally_thread(&tally, &profile->threads[i]);
	return tally;
}

bool cp_profile_is_placed(const struct cp_profile_view *view, const char *name)
{
	const struct cp_tally none = {.only_kept = true};

	return cp_measure(view->profile, view->measurement, name, &none).status !=
	       CP_UNAVAILABLE;
}
