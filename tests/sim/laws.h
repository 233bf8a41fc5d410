/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Laws that any true count obeys, whatever the machine: they are checked on the plain
 * model of reference.h, so that what it shares with the fast models is tested, too.
 */
#ifndef CACHEPEEK_TESTS_SIM_LAWS_H
#define CACHEPEEK_TESTS_SIM_LAWS_H

#include "reference.h"

/* How many modified lines have a copy that another core could read: the modified copy
 * is the only one in front of the last level.  Prints each. */
int laws_of_coherence(struct ref_system *s);

/* How many of the laws of conservation the counts break, over all cores: what enters a
 * level is what the level inside asked for, and nothing is served that was not asked
 * for.  Prints each. */
int laws_of_conservation(const struct ref_system *s);

#endif
