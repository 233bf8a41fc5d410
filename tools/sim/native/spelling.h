/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * An instruction as VEX decodes it, of the same meaning and length.
 */
#ifndef CACHEPEEK_SIM_NATIVE_SPELLING_H
#define CACHEPEEK_SIM_NATIVE_SPELLING_H

#include "tool.h"

/* Prefixes end before `end`, behind which there are three bytes more. */
void spelling_make_usual(UChar *code, const UChar *end);

#endif
