/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The core looks whether code has changed where it is of no file.  Code of a file
 * changes, too: where it lies may be writable (functions that are patched, an image of
 * Lisp), its file may be written, or be memory that is mapped twice (compilers at run
 * time), and who opens /proc/self/mem writes where nothing is writable.  Such code is
 * looked at as well, from the call on that makes a change possible; what was translated
 * before is dropped.
 */
#include "changing.h"

#include "base/syscall.h"
#include "pub_tool_aspacehl.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "valgrind/core.h"

typedef UInt needs_self_check(
	void *opaque, VexRegisterUpdates *control, const VexGuestExtents *extents);

/* A file; nothing else has its key for long. */
struct file {
	struct file *next;
	UWord key;
};

static struct {
	VgHashTable *written;  /* files that may be */
	VgHashTable *executed; /* and those that code was translated of */
	needs_self_check *cores;
	Bool all;
} files;

static UWord key_of(ULong device, ULong inode)
{
	return (UWord)(inode ^ device << 40);
}

static Bool has(VgHashTable *table, UWord key)
{
	return VG_(HT_lookup)(table, key) != NULL;
}

/* Returns whether it is new. */
static Bool note(VgHashTable *table, UWord key)
{
	struct file *f;

	if (has(table, key))
		return False;
	f = VG_(malloc)("cachepeek.changing", sizeof(*f));
	f->key = key;
	VG_(HT_add_node)(table, f);
	return True;
}

/* --- Code --- */

static Bool ends_with(const HChar *text, const HChar *end)
{
	SizeT length = VG_(strlen)(text), wanted = VG_(strlen)(end);

	return length >= wanted && VG_(strcmp)(text + length - wanted, end) == 0;
}

/* A file in name only: others may write it, by a descriptor that they were given. */
static Bool is_memory(const NSegment *segment)
{
	const HChar *name = VG_(am_get_filename)(segment);

	return name && (VG_(strncmp)(name, "/memfd:", 7) == 0 ||
			       VG_(strncmp)(name, "/dev/shm/", 9) == 0 ||
			       ends_with(name, " (deleted)"));
}

static Bool segment_changes(const NSegment *s)
{
	return !s || s->kind != SkFileC || s->hasW || files.all ||
	       has(files.written, key_of(s->dev, s->ino)) || is_memory(s);
}

Bool changing_at(Addr code)
{
	return segment_changes(VG_(am_find_nsegment)(code));
}

static Bool looks_at(Addr code)
{
	const NSegment *s = VG_(am_find_nsegment)(code);

	if (s && s->kind == SkFileC)
		note(files.executed, key_of(s->dev, s->ino));
	return segment_changes(s);
}

/* A bit for each stretch of code, which may go on in another mapping. */
static UInt check_mappings(
	void *opaque, VexRegisterUpdates *control, const VexGuestExtents *extents)
{
	UInt checked = files.cores(opaque, control, extents);

	for (UInt i = 0; i < extents->n_used; i++) {
		Addr first = (Addr)extents->base[i], last = first + extents->len[i] - 1;

		if (extents->len[i] && (looks_at(first) || looks_at(last)))
			checked |= 1u << i;
	}
	return checked;
}

void changing_check(VexTranslateArgs *args)
{
	files.cores = args->needs_self_check;
	args->needs_self_check = check_mappings;
}

/* --- What was translated --- */

static void drop_part(const NSegment *s, Addr lo, Addr hi)
{
	Addr from = s->start > lo ? s->start : lo, to = s->end < hi ? s->end + 1 : hi;

	if (s->kind == SkFileC && s->hasT && from < to)
		VG_(discard_translations)(from, to - from, "cachepeek");
}

/* All of [lo, hi) is mapped. */
static void drop_range(Addr lo, Addr hi)
{
	const NSegment *s = VG_(am_find_nsegment)(lo);

	for (; s && s->start < hi; s = VG_(am_find_nsegment)(s->end + 1))
		drop_part(s, lo, hi);
}

/* That of a file; 0: of any. */
static void drop_file(UWord key)
{
	Int n;
	Addr *starts = VG_(get_segment_starts)(SkFileC, &n);

	for (Int i = 0; i < n; i++) {
		const NSegment *s = VG_(am_find_nsegment)(starts[i]);

		if (s && (!key || key_of(s->dev, s->ino) == key))
			drop_part(s, 0, ~(Addr)0);
	}
	VG_(free)(starts);
}

/* --- Files --- */

static void file_changes(UWord key)
{
	if (note(files.written, key) && has(files.executed, key))
		drop_file(key);
}

static void all_changes(void)
{
	if (files.all)
		return;
	files.all = True;
	drop_file(0);
}

enum { PROC = 0x9fa0 };

/* That of a process: it has a mode that nothing else there has by which a process is
 * changed, for who has no name for it. */
static Bool is_memory_of_process(Int fd, const struct vg_stat *file)
{
	UWord about[16] = {0};
	HChar link[32], name[128];
	SSizeT length;

	if (!VKI_S_ISREG(file->mode) || (file->mode & 0777) != 0600 || file->size ||
		cp_syscall(SYS_fstatfs, (long)fd, about) < 0 || about[0] != PROC)
		return False;
	VG_(sprintf)(link, "/proc/self/fd/%d", fd);
	length = VG_(readlink)(link, name, sizeof(name) - 1);
	if (length <= 0)
		return True;
	name[length] = '\0';
	return ends_with(name, "/mem");
}

static Bool may_write(Int fd)
{
	long flags = cp_syscall(SYS_fcntl, (long)fd, (long)VKI_F_GETFL);

	return flags >= 0 && (flags & VKI_O_ACCMODE) != VKI_O_RDONLY;
}

static void look_at_file(Int fd)
{
	struct vg_stat file;

	if (VG_(fstat)(fd, &file) != 0)
		return;
	if (is_memory_of_process(fd, &file))
		all_changes();
	else if (VKI_S_ISREG(file.mode))
		file_changes(key_of(file.dev, file.ino));
}

static void look_at_descriptor(Int fd)
{
	if (may_write(fd))
		look_at_file(fd);
}

/* --- System calls --- */

/* The headers may be older. */
enum { PIDFD_GETFD = 438 };
enum { SHM_RDONLY = 010000, SHM_EXEC = 0100000 };
enum { MAP_TYPE = 0xf, MAP_PRIVATE = 2, MAP_ANONYMOUS = 0x20 };
enum { DONTNEED = 4, FREE = 8, REMOVE = 9, DONTNEED_LOCKED = 24 };

/* Looks at the descriptors that another process passes on. */
static void look_at_message(struct vki_msghdr *message)
{
	for (struct vki_cmsghdr *c = VKI_CMSG_FIRSTHDR(message); c;
		c = VKI_CMSG_NXTHDR(message, c)) {
		const Int *fds = VKI_CMSG_DATA(c);

		if (c->cmsg_len < sizeof(*c))
			return;
		if (c->cmsg_level != VKI_SOL_SOCKET || c->cmsg_type != VKI_SCM_RIGHTS)
			continue;
		for (SizeT i = 0; i < (c->cmsg_len - sizeof(*c)) / sizeof(*fds); i++)
			look_at_descriptor(fds[i]);
	}
}

static void look_at_messages(struct vki_mmsghdr *messages, UWord n)
{
	for (UWord i = 0; i < n; i++)
		look_at_message(&messages[i].msg_hdr);
}

/* The core has shared memory be data. */
static void after_shmat(Addr start, UWord flags)
{
	const NSegment *s = VG_(am_find_nsegment)(start);

	if (s && s->start == start && flags & SHM_EXEC)
		VG_(am_notify_mprotect)
	(start, s->end + 1 - start,
		VKI_PROT_READ | VKI_PROT_EXEC |
			(flags & SHM_RDONLY ? 0 : VKI_PROT_WRITE));
}

static void after_mmap(const UWord *args)
{
	Int fd = (Int)args[4];

	if (args[3] & MAP_ANONYMOUS)
		return;
	if ((args[3] & MAP_TYPE) != MAP_PRIVATE)
		look_at_file(fd); /* others may write it, too */
	else if (args[2] & VKI_PROT_EXEC)
		look_at_descriptor(fd);
}

/* Pages that were written are those of the file again. */
static void after_madvise(const UWord *args)
{
	if (args[2] == DONTNEED || args[2] == FREE || args[2] == REMOVE ||
		args[2] == DONTNEED_LOCKED)
		drop_range(args[0], args[0] + args[1]);
}

static void after_mprotect(const UWord *args)
{
	if (args[2] & VKI_PROT_WRITE)
		drop_range(args[0], args[0] + args[1]);
}

void changing_after(UInt number, const UWord *args, SysRes result)
{
	if (sr_isError(result))
		return;
	switch (number) {
#ifdef __NR_open
	case __NR_open:
	case __NR_creat:
#endif
	case __NR_openat:
	case __NR_open_by_handle_at:
	case PIDFD_GETFD:
		look_at_descriptor((Int)sr_Res(result));
		break;
	case __NR_recvmsg:
		look_at_message((struct vki_msghdr *)args[1]);
		break;
	case __NR_recvmmsg:
		look_at_messages((struct vki_mmsghdr *)args[1], sr_Res(result));
		break;
	case __NR_shmat:
		after_shmat(sr_Res(result), args[2]);
		break;
	case __NR_mmap:
		after_mmap(args);
		break;
	case __NR_mprotect:
	case __NR_pkey_mprotect:
		after_mprotect(args);
		break;
	case __NR_madvise:
		after_madvise(args);
		break;
	}
}

/* Descriptors that the program was given. */
void changing_start(void)
{
	enum { MOST = 64 };

	files.written = VG_(HT_construct)("cachepeek.written");
	files.executed = VG_(HT_construct)("cachepeek.executed");
	for (Int fd = 0; fd < MOST; fd++)
		look_at_descriptor(fd);
}
