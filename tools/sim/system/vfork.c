/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * vfork.  The core makes a fork of it, because it cannot share its own memory with a
 * child.  But the child may have something to tell: posix_spawn(3) learns in a local
 * variable of the parent why a program was not started, and so do many who call vfork
 * themselves, in variables of every kind.  Before it ends or executes a program the child
 * looks which pages it has to itself, since those are what it wrote to, and writes them
 * to a pipe; the parent waits for it, as it does in vfork, and puts them there.
 *
 * Where the kernel does not tell, or the child has other mappings than the parent, what
 * has changed in the frames of the parent is all that it tells.
 */
#include "system/vfork.h"

#include "base/syscall.h"
#include "say.h"
#include "tool.h"
#include "valgrind/core.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_vki.h"

#define WORDS 2048 /* of the stack above the call; libc's frames are smaller */

enum { PAGE = 4096, ENTRIES = 512, SEGMENTS = 4096 };

/* Bits that tell of a page: linux/Documentation/admin-guide/mm/pagemap.rst. */
#define IS_PRESENT (1ul << 63)
#define IS_OF_FILE (1ul << 61)
#define IS_ALONE (1ul << 56)

/* Followed by so many bytes. */
struct change {
	Addr at;
	UWord size;
};

/* The vfork that is under way: there is one at a time, because the parent waits. */
static struct {
	UWord *window;
	UWord before[WORDS];
	SizeT nwords;
	int from_child, to_parent;
	enum { NOBODY, PARENT, CHILD } role;
	Bool mapped; /* the child has mappings of its own */
	Bool frames; /* the kernel writes to the parent's memory, too */
} vforked = {.from_child = -1, .to_parent = -1};

static Bool is_vfork(UInt number)
{
#ifdef __NR_vfork
	return number == __NR_vfork;
#else
	return False;
#endif
}

static void close_end(int *end)
{
	if (*end >= 0)
		cp_syscall(SYS_close, *end);
	*end = -1;
}

/* To where the program does not see it. */
static Bool move_away(int *end)
{
	long moved = cp_syscall(
		SYS_fcntl, *end, (long)VKI_F_DUPFD_CLOEXEC, VG_(fd_hard_limit));

	close_end(end);
	*end = moved < 0 ? -1 : (int)moved;
	return moved >= 0;
}

static Bool open_pipe(void)
{
	int ends[2];

	if (cp_syscall(SYS_pipe2, ends, 0L) < 0)
		return False;
	vforked.from_child = ends[0];
	vforked.to_parent = ends[1];
	if (move_away(&vforked.from_child) & move_away(&vforked.to_parent))
		return True;
	close_end(&vforked.from_child);
	close_end(&vforked.to_parent);
	return False;
}

static void take_window(ThreadId tid)
{
	Addr sp = VG_ROUNDUP(VG_(get_SP)(tid), sizeof(UWord));
	const NSegment *stack = VG_(am_find_nsegment)(sp);

	vforked.nwords = 0;
	if (!stack || !stack->hasR || !stack->hasW)
		return;
	vforked.window = (UWord *)sp;
	vforked.nwords = (stack->end + 1 - sp) / sizeof(UWord);
	if (vforked.nwords > WORDS)
		vforked.nwords = WORDS;
	VG_(memcpy)(vforked.before, vforked.window, vforked.nwords * sizeof(UWord));
}

static void tell(Addr at, UWord size)
{
	struct change change = {at, size};

	cp_syscall(SYS_write, vforked.to_parent, &change, sizeof(change));
	cp_syscall(SYS_write, vforked.to_parent, at, size);
}

static void tell_frames(void)
{
	for (SizeT i = 0; i < vforked.nwords; i++) {
		if (vforked.window[i] == vforked.before[i])
			continue;
		vforked.before[i] = vforked.window[i];
		tell((Addr)&vforked.window[i], sizeof(UWord));
	}
}

/* ---- pages ---- */

/* Tells the pages of the segment that the child alone has. */
static Bool tell_segment(long pagemap, const NSegment *s)
{
	static UWord entries[ENTRIES];

	for (Addr at = s->start; at < s->end; at += ENTRIES * PAGE) {
		UWord n = (s->end + 1 - at) / PAGE;

		if (n > ENTRIES)
			n = ENTRIES;
		if (cp_syscall(SYS_pread64, pagemap, entries, n * sizeof(*entries),
			    at / PAGE * sizeof(*entries)) != (long)(n * sizeof(*entries)))
			return False;
		for (UWord i = 0; i < n; i++)
			if ((entries[i] & (IS_PRESENT | IS_OF_FILE | IS_ALONE)) ==
				(IS_PRESENT | IS_ALONE))
				tell(at + i * PAGE, PAGE);
	}
	return True;
}

static Bool tell_pages(void)
{
	static Addr starts[SEGMENTS];
	Int n = VG_(am_get_segment_starts)(SkAnonC | SkFileC, starts, SEGMENTS);
	long pagemap = cp_syscall(SYS_openat, 0, "/proc/self/pagemap", VKI_O_RDONLY);
	Bool told = pagemap >= 0 && n >= 0;

	for (Int i = 0; told && i < n; i++) {
		const NSegment *s = VG_(am_find_nsegment)(starts[i]);

		if (s->hasR && s->hasW)
			told = tell_segment(pagemap, s);
	}
	if (pagemap >= 0)
		cp_syscall(SYS_close, pagemap);
	return told;
}

static const HChar why[] =
	"cachepeek: a child of vfork has changed mappings: the program sees of what it wrote "
	"only what is on the stack, on the simulated PMU: count it with "
	"CACHEPEEK_ENGINE=perf\n";

void vfork_tell(void)
{
	static Bool said;

	if (vforked.role != CHILD)
		return;
	if (vforked.mapped)
		say_once(&said, why);
	if (vforked.mapped || vforked.frames || !tell_pages())
		tell_frames();
}

static Bool is_mapping(UInt number)
{
	return number == __NR_mmap || number == __NR_munmap || number == __NR_mremap ||
	       number == __NR_brk || number == __NR_mprotect;
}

static Bool is_end(UInt number)
{
	return number == __NR_exit || number == __NR_exit_group;
}

Bool vfork_begin(ThreadId tid, Bool only_frames)
{
	if (vforked.role == CHILD)
		return False;
	take_window(tid);
	vforked.mapped = False;
	vforked.frames = only_frames;
	if (open_pipe())
		vforked.role = PARENT;
	return vforked.role == PARENT;
}

void vfork_before(ThreadId tid, UInt number)
{
	if (is_mapping(number))
		vforked.mapped = True;
	if (is_end(number))
		vfork_tell();
	if (is_vfork(number))
		vfork_begin(tid, False);
}

static Bool take(void *to, UWord size)
{
	for (UWord have = 0; have < size;) {
		long n = cp_syscall(
			SYS_read, vforked.from_child, (UChar *)to + have, size - have);

		if (n <= 0)
			return False;
		have += (UWord)n;
	}
	return True;
}

/* Until nobody can write any more. */
static void take_changes(void)
{
	static UChar page[PAGE];
	struct change change;

	while (take(&change, sizeof(change)) && change.size <= PAGE &&
		take(page, change.size))
		if (VG_(am_is_valid_for_client)(
			    change.at, change.size, VKI_PROT_READ | VKI_PROT_WRITE))
			VG_(memcpy)((void *)change.at, page, change.size);
}

void vfork_after(SysRes result)
{
	if (vforked.role != PARENT)
		return;
	vforked.role = NOBODY;
	close_end(&vforked.to_parent);
	if (!sr_isError(result))
		take_changes();
	close_end(&vforked.from_child);
}

/* A child of the child has nothing to tell, and its parent's parent is not to wait for
 * it. */
static void on_fork_child(ThreadId tid)
{
	(void)tid;
	if (vforked.role == CHILD)
		close_end(&vforked.to_parent);
	vforked.role = vforked.role == PARENT ? CHILD : NOBODY;
	close_end(&vforked.from_child);
}

void vfork_start(void)
{
	VG_(atfork)(NULL, NULL, on_fork_child);
}
