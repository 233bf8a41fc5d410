/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The core's temporary files, of which it makes one for each of /proc/self/cmdline and
 * /proc/self/auxv, opens them and deletes their names.  Where none can be made (TMPDIR is
 * not there, or somebody else's, or /tmp is read-only) it would not run the program. Here
 * they are memory, which has no name.
 */
#include "base/syscall.h"
#include "pub_tool_basics.h"
#include "pub_tool_libcbase.h"
#include "tool.h"
#include "valgrind/core.h"

#define CLOSED_ON_EXEC 1u /* of memfd_create */

/* In the place of a path: no file is called so. */
#define IN_MEMORY "/memory:cachepeek"

Int __real_vgPlain_mkstemp(const HChar *name, HChar *path);
Int __wrap_vgPlain_mkstemp(const HChar *name, HChar *path);
Int __real_vgPlain_unlink(const HChar *path);
Int __wrap_vgPlain_unlink(const HChar *path);

/* The core has room for the path of a file in its directory, which is no shorter. */
Int __wrap_vgPlain_mkstemp(const HChar *name, HChar *path)
{
	long fd = cp_syscall(SYS_memfd_create, name, CLOSED_ON_EXEC);

	if (fd < 0)
		return __real_vgPlain_mkstemp(name, path);
	VG_(strcpy)(path, IN_MEMORY);
	return VG_(safe_fd)((Int)fd);
}

Int __wrap_vgPlain_unlink(const HChar *path)
{
	return VG_(strcmp)(path, IN_MEMORY) == 0 ? 0 : __real_vgPlain_unlink(path);
}
