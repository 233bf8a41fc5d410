/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * An instruction as VEX decodes it, of the same meaning and length.
 */
#ifndef CACHEPEEK_SIM_NATIVE_SPELLING_H
#define CACHEPEEK_SIM_NATIVE_SPELLING_H

#include "tool.h"

/* False: the instruction is as usual, as most are, which its first two bytes tell. */
static inline Bool spelling_may_be_unusual(const UChar *code)
{
	UChar first = (code[0] & 0xf0) == 0x40 ? code[1] : code[0];

	return first == 0x0f || (first & 0xf8) == 0xd8 || first == 0x63 ||
	       first == 0x8f || first == 0xc9 || (first >= 0x64 && first <= 0x67) ||
	       first == 0xf0 || first == 0xf2 || first == 0xf3 || (first & 0xe7) == 0x26;
}

/* Prefixes end before `end`, behind which there are three bytes more. */
void spelling_make_usual(UChar *code, const UChar *end);

#endif
