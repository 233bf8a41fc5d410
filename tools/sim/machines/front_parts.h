/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * For the parts of the front: the filter itself (front.c), and those who look there
 * (front_lines.c).
 */
#ifndef CACHEPEEK_SIM_FRONT_PARTS_H
#define CACHEPEEK_SIM_FRONT_PARTS_H

#include "flex/flex.h"
#include "machines/front.h"

LANES_INLINE uint64_t unit_of(struct front *f, uint64_t line)
{
	return far_lines_shorten(&f->far_lines, line);
}

/* The entry's fact leaves the filter; known: the stamp that every member has heard of. */
void front_tell_data(struct front *f, const struct front_entry *e, uint32_t known);
void front_tell_code(struct front *f, const struct front_entry *e, uint32_t known);

#endif
