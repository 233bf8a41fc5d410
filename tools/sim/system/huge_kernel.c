/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Asks the kernel about huge pages, whenever that may have changed.
 *
 * Since Linux 6.7 an ioctl of /proc/self/pagemap (PAGEMAP_SCAN) tells it exactly.
 * Before, /proc/self/smaps tells how much of a mapping is huge but not where: an
 * area is taken for huge if its mapping has more than those known already.  That is
 * asked only where huge pages may be: they must have been advised, or be for
 * everybody.
 *
 * References are mostly counted when they have been made, so the memory is there.
 * A load may come later; the kernel gives it what it would give us, hence we make
 * it first.
 */
#include "base/syscall.h"
#include "pub_tool_libcfile.h"
#include "changing.h"
#include "simulated.h"
#include "tool.h"
#include "transfers.h"
#include "system/huge_kernel.h"
#include "model/huge.h"
#include "system/descriptors.h"
#include "system/grows.h"
#include "system/hidden.h"
#include "system/exec.h"
#include "system/faults.h"
#include "system/limits.h"
#include "system/links.h"
#include "system/masks.h"
#include "system/newer.h"
#include "pin/pin.h"
#include "system/sent.h"
#include "system/vfork.h"
#include "valgrind/core.h"

#define AREA (1ul << HUGE_SHIFT)

/* ---- PAGEMAP_SCAN (linux/fs.h) ---- */

struct scan {
	ULong size, flags, start, end, walk_end, to, to_length, max_pages;
	ULong inverted, all_of, any_of, wanted;
};
struct scanned {
	ULong start, end, categories;
};
_Static_assert(sizeof(struct scan) == 96, "as the kernel has it");

enum { SCAN = 0xc0606610, IS_PRESENT = 1 << 3, IS_SWAPPED = 1 << 4, IS_HUGE = 1 << 6 };

/* This process's huge pages, as far as the kernel was asked. */
static struct {
	Int pagemap;  /* of this process */
	Bool advised; /* the program has asked for some */
} pages = {.pagemap = -1};

static void open_pagemap(void)
{
	SysRes opened = VG_(open)("/proc/self/pagemap", VKI_O_RDONLY, 0);

	pages.pagemap = sr_isError(opened) ? -1 : VG_(safe_fd)((Int)sr_Res(opened));
}

/* Negative: it cannot tell. */
static long scan_pagemap(Addr area, struct scanned *to)
{
	struct scan scan = {.size = sizeof(scan),
		.start = area,
		.end = area + AREA,
		.to = (ULong)(Addr)to,
		.to_length = 1,
		.any_of = IS_PRESENT | IS_SWAPPED | IS_HUGE,
		.wanted = IS_HUGE};

	if (pages.pagemap < 0)
		open_pagemap();
	return cp_syscall(SYS_ioctl, pages.pagemap, SCAN, &scan);
}

/* A page that is mapped as one is one stretch of the answer. */
static enum huge_answer ask_pagemap(Addr area)
{
	struct scanned found = {0, 0, 0};
	long n = scan_pagemap(area, &found);

	if (n <= 0)
		return n ? HUGE_SMALL : HUGE_ABSENT;
	return found.categories & IS_HUGE && found.start == area &&
			       found.end == area + AREA
		       ? HUGE_ONE
		       : HUGE_SMALL;
}

/* ---- smaps ---- */

/* Lines of a file, one after the other. */
struct lines {
	Int fd, have, at;
	HChar buffer[4096];
};

static Int next_char(struct lines *l)
{
	if (l->at == l->have) {
		l->have = VG_(read)(l->fd, l->buffer, sizeof(l->buffer));
		l->at = 0;
	}
	return l->have > 0 ? (UChar)l->buffer[l->at++] : -1;
}

/* As much of the line as there is room for. */
static Bool next_line(struct lines *l, HChar *line, UInt size)
{
	UInt n = 0;
	Int c;

	while ((c = next_char(l)) >= 0 && c != '\n')
		if (n + 1 < size)
			line[n++] = (HChar)c;
	line[n] = '\0';
	return c >= 0 || n > 0;
}

/* "7f0000000000-7f0000200000 rw-p ..." */
static Bool is_header(const HChar *line, Addr *start, Addr *end)
{
	HChar *after;

	*start = (Addr)VG_(strtoull16)(line, &after);
	if (after == line || *after != '-')
		return False;
	*end = (Addr)VG_(strtoull16)(after + 1, &after);
	return *after == ' ';
}

/* Kilobytes in huge pages, if the line tells them. */
static ULong huge_of(const HChar *line)
{
	static const HChar *const keys[] = {"AnonHugePages:", "ShmemPmdMapped:",
		"FilePmdMapped:", "Shared_Hugetlb:", "Private_Hugetlb:"};

	for (UInt i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		SizeT length = VG_(strlen)(keys[i]);

		if (VG_(strncmp)(line, keys[i], length) != 0)
			continue;
		line += length;
		while (*line == ' ')
			line++;
		return (ULong)VG_(strtoll10)(line, NULL);
	}
	return 0;
}

struct mapping {
	Addr start, end;
	ULong huge; /* kilobytes */
};

static Bool read_mapping(struct lines *l, Addr area, struct mapping *m)
{
	Bool found = False;
	HChar line[128];
	Addr start, end;

	while (next_line(l, line, sizeof(line))) {
		if (!is_header(line, &start, &end)) {
			m->huge += found ? huge_of(line) : 0;
			continue;
		}
		if (found)
			break;
		found = start <= area && area + AREA <= end;
		*m = (struct mapping){start, end, 0};
	}
	return found;
}

static Bool find_mapping(Addr area, struct mapping *m)
{
	SysRes opened = VG_(open)("/proc/self/smaps", VKI_O_RDONLY, 0);
	struct lines l = {.have = 0};
	Bool found;

	if (sr_isError(opened))
		return False;
	l.fd = (Int)sr_Res(opened);
	found = read_mapping(&l, area, m);
	VG_(close)(l.fd);
	return found;
}

/* The huge bytes that are known already. */
static ULong known_within(const struct mapping *m, Addr area)
{
	ULong known = 0;

	for (Addr a = VG_ROUNDUP(m->start, AREA); a + AREA <= m->end; a += AREA)
		known += a != area && huge_is_known(a >> HUGE_SHIFT);
	return known;
}

static enum huge_answer ask_smaps(Addr area)
{
	struct mapping m = {0, 0, 0};

	if (!find_mapping(area, &m))
		return HUGE_SMALL;
	return m.huge * 1024 >= (known_within(&m, area) + 1) * AREA ? HUGE_ONE
								    : HUGE_SMALL;
}

/* ---- may there be any? ---- */

static Bool are_for_everybody(void)
{
	static const HChar path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
	HChar text[64];
	Int n;

	if (sr_isError(opened))
		return False;
	n = VG_(read)((Int)sr_Res(opened), text, sizeof(text) - 1);
	VG_(close)((Int)sr_Res(opened));
	text[n > 0 ? n : 0] = '\0';
	return VG_(strstr)(text, "[always]") != NULL;
}

/* ---- for huge.c ---- */

/* The load that the program is about to make, where that can be done. */
static void load_page(Addr a)
{
	const NSegment *s = VG_(am_find_nsegment)(a);

	if (s && s->kind == SkAnonC && s->hasR)
		*(volatile UChar *)a;
}

static enum huge_answer ask_area(uint64_t address, int is_load)
{
	Addr area = address & ~(AREA - 1);
	enum huge_answer answer;

	if (tool_options.huge_from_smaps)
		return pages.advised ? ask_smaps(area) : HUGE_SMALL;
	answer = ask_pagemap(area);
	if (answer != HUGE_ABSENT || !is_load)
		return answer;
	load_page(address);
	return ask_pagemap(area);
}

enum { ADVISE_HUGE = 14, ADVISE_COLLAPSE = 25, MAP_HUGE = 0x40000 };

static void after_syscall(ThreadId tid, UInt number, UWord *args, UInt n, SysRes result)
{
	(void)n;
	most_threads_after_call();
	exec_after(tid, number, args);
	descriptors_after(number, args, result);
	hidden_after(number, args, result);
	changing_after(number, args, result);
	limits_after(tid, number, args, result);
	newer_after(tid, number, args, result);
	masks_after(tid, result);
	faults_after(number, args, result);
	sent_ignored(number, args, result);
	sent_after(tid);
	grows_after(number, args, result);
	vfork_after(result);
	pin_after(tid, number, args, result);
	if (number == __NR_mmap && args[3] & MAP_HUGE)
		pages.advised = True;
	if (number != __NR_madvise || sr_isError(result))
		return;
	if (args[2] == ADVISE_HUGE || args[2] == ADVISE_COLLAPSE)
		pages.advised = True;
	huge_forget(args[0], args[1]);
}

static void before_syscall(ThreadId tid, UInt number, UWord *args, UInt n)
{
	(void)n;
	newer_tell(number, args);
	limits_before(number);
	masks_before(tid, number, args);
	grows_before(number);
	sent_before();
	vfork_before(tid, number);
	exec_before(tid, number, args);
	transfers_before_call(tid, number);
	pin_rounds_call(number);
}

static void on_remap(Addr from, Addr to, SizeT size)
{
	huge_forget(from, size);
	huge_forget(to, size);
}

/* The memory of both is shared from now on, and pages are copied as small ones. */
static void on_fork(ThreadId tid)
{
	(void)tid;
	huge_forget_all();
}

static void on_fork_child(ThreadId tid)
{
	(void)tid;
	if (pages.pagemap >= 0)
		VG_(close)(pages.pagemap);
	pages.pagemap = -1;
}

void huge_register(void)
{
	links_start();
	limits_start();
	vfork_start();
	VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
}

void huge_start(void)
{
	struct scanned found;

	/* Which pages are huge is the host's affair. */
	if (!tool_options.huge || pin.wanted)
		return;
	tool_options.huge_from_smaps |=
		scan_pagemap((Addr)&found & ~(AREA - 1), &found) < 0;
	pages.advised = are_for_everybody();
	if (huge_init(ask_area) < 0)
		simulated_no_memory("huge pages");
	VG_(track_copy_mem_remap)(on_remap);
	VG_(track_die_mem_brk)(huge_forget);
	VG_(atfork)(on_fork, NULL, on_fork_child);
}
