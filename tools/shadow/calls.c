/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * System calls of a shadow: those that change nothing but the fork's own memory are
 * made, regular files are read at an offset of the shadow's own, what is written is
 * swallowed.  All others end the window.
 */
#include "tools/shadow/parts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct {
	Int parent, thread;
	ULong mask; /* of signals: as the program sees it */
} calls;

void calls_begin(Int parent, Int thread, ULong mask)
{
	calls.parent = parent;
	calls.thread = thread;
	calls.mask = mask;
}

/* Gives the program the call's result. */
static Bool answer(VexGuestAMD64State *g, Long result)
{
	g->guest_RAX = (ULong)result;
	return True;
}

static Bool make(VexGuestAMD64State *g)
{
	return answer(g, cp_syscall((long)g->guest_RAX, g->guest_RDI, g->guest_RSI,
				 g->guest_RDX, g->guest_R10, g->guest_R8, g->guest_R9));
}

/* The offset of a file; NULL: it has none. */
static Long *offset_of(ULong fd)
{
	int64_t *offset = shadow_plan.shared->offset;

	return fd < CP_SHADOW_FILES && offset[fd] >= 0 ? (Long *)&offset[fd] : NULL;
}

static Bool read_file(VexGuestAMD64State *g)
{
	ULong fd = g->guest_RDI;
	Long *offset = offset_of(fd), n;

	if (!offset)
		return False;
	n = cp_syscall(SYS_pread64, fd, g->guest_RSI, g->guest_RDX, *offset);
	if (n > 0)
		*offset += n;
	return answer(g, n);
}

static Bool seek(VexGuestAMD64State *g)
{
	Long *offset = offset_of(g->guest_RDI);

	if (!offset)
		return False;
	if (g->guest_RDX == SEEK_SET)
		*offset = (Long)g->guest_RSI;
	else if (g->guest_RDX == SEEK_CUR)
		*offset += (Long)g->guest_RSI;
	else
		return False;
	return answer(g, *offset);
}

static Bool swallow(VexGuestAMD64State *g)
{
	Long *offset = offset_of(g->guest_RDI);

	if (offset)
		*offset += (Long)g->guest_RDX;
	return answer(g, (Long)g->guest_RDX);
}

/* A mapping that others would see written to is none of a shadow's. */
static Bool map(VexGuestAMD64State *g)
{
	if ((g->guest_R10 & MAP_SHARED) && (g->guest_RDX & PROT_WRITE))
		return False;
	if ((Long)g->guest_R8 >= 0 && (g->guest_RDX & PROT_EXEC))
		return False;
	return make(g);
}

static Bool block_signals(VexGuestAMD64State *g)
{
	const ULong *set = (const ULong *)g->guest_RSI;

	if (g->guest_R10 != sizeof(*set))
		return False;
	if (g->guest_RDX)
		*(ULong *)g->guest_RDX = calls.mask;
	if (set)
		calls.mask = g->guest_RDI == 0   ? calls.mask | *set
			     : g->guest_RDI == 1 ? calls.mask & ~*set
						 : *set;
	return answer(g, 0);
}

/* Beyond the fork's own memory. */
static Bool changes_nothing(ULong number)
{
	static const UShort calls[] = {SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise,
		SYS_pread64, SYS_fstat, SYS_stat, SYS_lstat, SYS_newfstatat, SYS_access,
		SYS_readlink, SYS_getcwd, SYS_getuid, SYS_geteuid, SYS_getgid,
		SYS_getegid, SYS_clock_gettime, SYS_gettimeofday, SYS_getrusage,
		SYS_times, SYS_getrandom, SYS_sched_yield, SYS_uname};

	for (UInt i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i] == number)
			return True;
	return False;
}

Bool calls_make(VexGuestAMD64State *g)
{
	switch (g->guest_RAX) {
	case SYS_read:
		return read_file(g);
	case SYS_lseek:
		return seek(g);
	case SYS_write:
		return swallow(g);
	case SYS_mmap:
		return map(g);
	case SYS_rt_sigprocmask:
		return block_signals(g);
	case SYS_getpid:
		return answer(g, calls.parent);
	case SYS_gettid:
		return answer(g, calls.thread);
	default:
		return changes_nothing(g->guest_RAX) && make(g);
	}
}
