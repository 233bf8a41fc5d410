/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where files of the host lie that have another size on each: the list of its libraries,
 * which is mapped before any of them.  They would lie elsewhere when a package is
 * installed, and with them what programs hash or sort by address.
 */
#include "pin/pin.h"

#include "pub_tool_libcfile.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* Nothing that is given no place comes here. */
enum { NONE = -1 };
static const Addr APART = 32ul << 30;
static Int opened = NONE;

static Bool is_hosts(const HChar *path)
{
	static const HChar *const files[] = {
		"/etc/ld.so.cache", "/usr/lib/locale/locale-archive"};

	for (UInt i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (VG_(strcmp)(path, files[i]) == 0)
			return True;
	return False;
}

void pin_mapping_before(ThreadId tid, UInt number)
{
	if (number == __NR_mmap && opened != NONE &&
		(Int)pin_take(tid, PIN_FIFTH) == opened && pin_take(tid, PIN_FIRST) == 0)
		pin_put(tid, PIN_FIRST, APART);
}

void pin_mapping_after(UInt number, const UWord *args, SysRes result)
{
	if (number == __NR_openat)
		opened = is_hosts((const HChar *)args[1]) ? (Int)sr_Res(result) : NONE;
	else if (number == __NR_close && (Int)args[0] == opened)
		opened = NONE;
}
