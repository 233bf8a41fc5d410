/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Every miss of L1D in its order (--profile-misses=FILE): 8 bytes each, the
 * instruction and, from bit 48 on, the thread.  What samples are compared with.
 */
#include "pub_tool_libcfile.h"
#include "profile/profile.h"

/* A descriptor of the core's, which the program can neither see nor close. */
Int VG_(safe_fd)(Int oldfd);

static Int fd = -1;
static ULong pending[4096];
static UInt npending;

void profile_misses_open(const HChar *path)
{
	SysRes opened = VG_(open)(path, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_TRUNC, 0600);

	if (!sr_isError(opened))
		fd = VG_(safe_fd)((Int)sr_Res(opened));
	if (fd < 0) {
		VG_(fmsg)("--profile-misses: %s cannot be written\n", path);
		VG_(exit)(2);
	}
}

void profile_misses_flush(void)
{
	if (fd >= 0 && npending)
		VG_(write)(fd, pending, (Int)(npending * sizeof(pending[0])));
	npending = 0;
}

void profile_misses_add(UInt thread, Addr instruction, ULong n)
{
	for (; fd >= 0 && n > 0; n--) {
		if (npending == sizeof(pending) / sizeof(pending[0]))
			profile_misses_flush();
		pending[npending++] = (ULong)instruction | (ULong)thread << 48;
	}
}
