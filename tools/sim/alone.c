/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "alone.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "base/syscall.h"
#include "valgrind/core.h"

/* The entry goes: what is behind it, the auxiliary vector with it, is one word nearer. */
static void leave_out(HChar **at)
{
	UWord *word = (UWord *)at, *last = VG_(client_auxv);

	while (*last)
		last += 2;
	for (last++; word < last; word++)
		*word = word[1];
	VG_(client_auxv)--;
}

/* The core's own library stands first.  Returns whether there is another. */
static Bool keep_others(HChar *value)
{
	const HChar *other = VG_(strchr)(value, ':');

	if (!other)
		return False;
	VG_(memmove)(value, other + 1, VG_(strlen)(other + 1) + 1);
	return True;
}

static Bool is_ours(HChar *variable)
{
	static const HChar preload[] = "LD_PRELOAD=";
	HChar *value = variable + sizeof(preload) - 1;

	if (VG_(strncmp)(variable, "VALGRIND_LIB=", 13) == 0 ||
		VG_(strncmp)(variable, "VALGRIND_LAUNCHER=", 18) == 0)
		return True;
	return VG_(strncmp)(variable, preload, sizeof(preload) - 1) == 0 &&
	       VG_(strstr)(value, "/vgpreload_") && !keep_others(value);
}

void alone_start(const HChar *path)
{
	const HChar *slash = VG_(strrchr)(path, '/');

	for (HChar **at = VG_(client_envp); at && *at;)
		if (is_ours(*at))
			leave_out(at);
		else
			at++;
	cp_syscall(SYS_prctl, PR_SET_NAME, slash ? slash + 1 : path);
}
