/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Counts where others see them: in memory of the program, which the library or the run
 * record has for them (a mirror), and in the lines that the tool prints at its end.
 */
#ifndef CACHEPEEK_SIM_MIRROR_H
#define CACHEPEEK_SIM_MIRROR_H

#include "tool.h"

/* All counts; to NULL: nobody wants them. */
void mirror_write(ULong *to, const ULong *from);

/* Is any of the mirror's words in that memory? */
Bool mirror_overlaps(const ULong *mirror, UInt words, Addr a, SizeT len);

/* May so many words be written there? */
Bool mirror_fits(UWord to, UInt words);

/* One line for each count: "WHO NUMBER NAME COUNT". */
void mirror_say(const HChar *who, UInt number, const ULong *count);

#endif
