/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Requests that are not the library's: natively they do nothing, and answer what the
 * program has put there.
 */
#ifndef CACHEPEEK_SIM_OTHERS_REQUESTS_H
#define CACHEPEEK_SIM_OTHERS_REQUESTS_H

#include "tool.h"

/* The bytes to decode in the place of the code at pc: those, or a copy. */
const UChar *others_requests_hide(Addr pc, const UChar *code);

#if defined(VGA_amd64)
/* The answer of VEX's decoder, in two words: the length comes first. */
struct decoded {
	UInt length, next;
	ULong more;
};

typedef struct decoded decode_one(IRSB *out, const UChar *code, Long delta, Addr pc,
	UInt arch, const void *arch_info, const void *abi, UInt endness, UChar diagnose);
decode_one __real_disInstr_AMD64, __wrap_disInstr_AMD64;
#endif

#endif
