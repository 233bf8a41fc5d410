/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * System calls of a shadow: those that change nothing but the fork's own memory are
 * made, regular files are read at an offset of the shadow's own, what is written is
 * swallowed.  All others end the window.
 *
 * A shadow of the whole run executes what the program has done by then, so what it has
 * swallowed is in the file.  One of a region may come first: it does not read such files.
 * Nor is in a file what was there at the fork, if the program has written to it since:
 * with that a shadow of the whole run may go on another way, and never come to its
 * bounds.  One of a region, which has none, does not read it.
 */
#include "tools/shadow/parts.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define MOST_PARTS 1024 /* of a call, to the kernel */

static struct {
	Int parent, thread;
	ULong mask;    /* of signals: as the program sees it */
	ULong written; /* a bit for each descriptor */
	Bool reread;
} calls;
_Static_assert(CP_SHADOW_FILES == 64, "as many as a word has bits");

void calls_begin(Int parent, Int thread, ULong mask)
{
	calls.parent = parent;
	calls.thread = thread;
	calls.mask = mask;
	calls.written = 0;
	calls.reread = False;
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

/* The program may not have written yet what the shadow has. */
static Bool may_lack(ULong fd)
{
	return shadow_plan.shared->is_region && fd < CP_SHADOW_FILES &&
	       calls.written >> fd & 1;
}

/* Since the fork, or in the same tick of the kernel's clock.  Some file systems keep
 * seconds. */
static Bool has_changed(ULong fd)
{
	const struct cp_shadow_shared *shared = shadow_plan.shared;
	struct stat status;

	if (cp_syscall(SYS_fstat, fd, &status) != 0)
		return False;
	if (status.st_mtim.tv_sec != shared->forked_seconds)
		return status.st_mtim.tv_sec > shared->forked_seconds;
	return status.st_mtim.tv_nsec == 0 || status.st_mtim.tv_nsec >= shared->forked_ns;
}

static void note_read(const VexGuestAMD64State *g)
{
	if (!has_changed(g->guest_RDI))
		return;
	if (shadow_plan.shared->is_region)
		shadow_finish(CP_SHADOW_REREAD, (UInt)g->guest_RDI, g->guest_RIP);
	calls.reread = True;
}

Bool calls_have_reread(void)
{
	return calls.reread;
}

static Bool read_file(VexGuestAMD64State *g)
{
	ULong fd = g->guest_RDI;
	Long *offset = offset_of(fd), n;

	if (!offset || may_lack(fd))
		return False;
	note_read(g);
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

static Bool read_there(VexGuestAMD64State *g)
{
	if (may_lack(g->guest_RDI))
		return False;
	note_read(g);
	return make(g);
}

static void note_written(ULong fd)
{
	if (fd < CP_SHADOW_FILES)
		calls.written |= 1ull << fd;
}

static Bool swallow(VexGuestAMD64State *g, ULong size)
{
	Long *offset = offset_of(g->guest_RDI);

	if (offset)
		*offset += (Long)size;
	note_written(g->guest_RDI);
	return answer(g, (Long)size);
}

static Bool swallow_parts(VexGuestAMD64State *g)
{
	const struct iovec *part = (const struct iovec *)g->guest_RSI;
	ULong size = 0;

	if (g->guest_RDX > MOST_PARTS)
		return False;
	for (ULong i = 0; i < g->guest_RDX; i++)
		size += part[i].iov_len;
	return swallow(g, size);
}

/* Only regular files have places to write to. */
static Bool swallow_there(VexGuestAMD64State *g)
{
	if (!offset_of(g->guest_RDI))
		return False;
	note_written(g->guest_RDI);
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

/* Of the fork's own memory, where nobody waits. */
static Bool wake(VexGuestAMD64State *g)
{
	return (g->guest_RSI & ~(ULong)FUTEX_CLOCK_REALTIME) == FUTEX_WAKE_PRIVATE &&
	       make(g);
}

/* Beyond the fork's own memory. */
static Bool changes_nothing(ULong number)
{
	static const UShort calls[] = {SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise,
		SYS_fstat, SYS_stat, SYS_lstat, SYS_newfstatat, SYS_access, SYS_readlink,
		SYS_getcwd, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
		SYS_clock_gettime, SYS_gettimeofday, SYS_getrusage, SYS_times,
		SYS_getrandom, SYS_sched_yield, SYS_uname};

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
	case SYS_pread64:
		return read_there(g);
	case SYS_lseek:
		return seek(g);
	case SYS_write:
		return swallow(g, g->guest_RDX);
	case SYS_writev:
		return swallow_parts(g);
	case SYS_pwrite64:
		return swallow_there(g);
	case SYS_fsync:
	case SYS_fdatasync:
		return offset_of(g->guest_RDI) && answer(g, 0);
	case SYS_futex:
		return wake(g);
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
