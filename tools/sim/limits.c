/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The limit of open files.  The core raises the soft one for descriptors of its own
 * and tells the program of what was there before; a program that is executed, or a
 * simulator that begins there again, is to find that, too.
 */
#include "limits.h"

#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

enum { NOFILE = 7 }; /* RLIMIT_NOFILE */

/* Of the core; what it tells the program. */
extern Int VG_(fd_soft_limit);

static struct vki_rlimit raised;
static Int told;

static Bool is_exec(UInt number)
{
	return number == __NR_execve || number == __NR_execveat;
}

void limits_start(void)
{
	told = VG_(fd_soft_limit);
	if (VG_(getrlimit)(NOFILE, &raised) < 0)
		raised.rlim_cur = 0;
}

/* The core had no room to raise it: then it was as high as it could be. */
static Bool was_at_its_highest(void)
{
	return raised.rlim_cur == raised.rlim_max && VG_(fd_soft_limit) == told;
}

void limits_before(UInt number)
{
	struct vki_rlimit limit = raised;

	if (!is_exec(number) || !raised.rlim_cur || was_at_its_highest())
		return;
	limit.rlim_cur = (UWord)VG_(fd_soft_limit);
	VG_(setrlimit)(NOFILE, &limit);
}

/* It is still this program that runs. */
void limits_after(UInt number)
{
	if (is_exec(number) && raised.rlim_cur)
		VG_(setrlimit)(NOFILE, &raised);
}
