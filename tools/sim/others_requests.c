/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "others_requests.h"
#include "ask.h"

#if defined(VGA_amd64)

/* A request begins with four instructions that turn %rdi once around, and the fifth says
 * which kind it is; the library's has its sign behind them. */
static const UChar preamble[] = {0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d, 0x48,
	0xc1, 0xc7, 0x3d, 0x48, 0xc1, 0xc7, 0x33};
static const UChar librarys[] = {0x48, 0x87, 0xdb, CP_SIM_SIGN};

enum { PREAMBLE = sizeof(preamble), ONE = 4, WHOLE = PREAMBLE + sizeof(librarys) };

static Bool is_librarys(Addr pc)
{
	return VG_(am_is_valid_for_client)(pc, WHOLE, VKI_PROT_READ) &&
	       VG_(memcmp)((const UChar *)pc + PREAMBLE, librarys, sizeof(librarys)) == 0;
}

/* Each instruction by itself is one like others. */
const UChar *others_requests_hide(Addr pc, const UChar *code)
{
	static UChar first[WHOLE + 16];

	if (VG_(memcmp)(code, preamble, ONE) != 0 ||
		VG_(memcmp)(code, preamble, PREAMBLE) != 0 || is_librarys(pc))
		return code;
	VG_(memcpy)(first, code, ONE);
	return first;
}

#else

const UChar *others_requests_hide(Addr pc, const UChar *code)
{
	(void)pc;
	return code;
}

#endif
