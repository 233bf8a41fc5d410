/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Every miss of L1D in its order (--profile-misses=FILE): 8 bytes each, the
 * instruction and, from bit 48 on, the thread.  What samples are compared with.
 */
#include "pub_tool_libcfile.h"
#include "profile/profile.h"
#include "stop.h"
#include "valgrind/core.h"

/* The file, and what is to be written to it next. */
static struct {
	Int fd;
	ULong pending[4096];
	UInt npending;
} misses = {.fd = -1};

void profile_misses_open(const HChar *path)
{
	SysRes opened = VG_(open)(path, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_TRUNC, 0600);

	if (!sr_isError(opened))
		misses.fd = VG_(safe_fd)((Int)sr_Res(opened));
	if (misses.fd < 0)
		stop(2, "--profile-misses: %s cannot be written", path);
}

Bool profile_misses_wanted(void)
{
	return misses.fd >= 0;
}

void profile_misses_flush(void)
{
	if (misses.fd >= 0 && misses.npending)
		VG_(write)
	(misses.fd, misses.pending, (Int)(misses.npending * sizeof(misses.pending[0])));
	misses.npending = 0;
}

void profile_misses_add(UInt thread, Addr instruction, ULong n)
{
	for (; misses.fd >= 0 && n > 0; n--) {
		if (misses.npending == sizeof(misses.pending) / sizeof(misses.pending[0]))
			profile_misses_flush();
		misses.pending[misses.npending++] = (ULong)instruction | (ULong)thread
										 << 48;
	}
}
