/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The core puts the heap where it has 8 MiB free, behind the dynamic linker.  Here it
 * begins behind the simulator, at an address below 2 GiB as well, with half of what the
 * core has for mappings: these begin below the simulator, and go on behind the heap.
 *
 * A program whose addresses are not to be random (GNU Common Lisp asks for that, because
 * the static data of its image were heap before) has it behind its static data, as the
 * kernel does: up to the simulator, and mappings, the dynamic linker's first, begin
 * behind that one.
 *
 * The core asks for a reservation behind the static data first, and where it has none,
 * for any address that is free: these two questions are answered here (--wrap).
 */
#include "heap.h"

#include <elf.h>
#include <link.h>
#include <linux/personality.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "model/huge.h"
#include "readable.h"
#include "system/registers.h"
#include "say.h"
#include "valgrind/core.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"

Bool __real_vgPlain_am_create_reservation(Addr, SizeT, ShrinkMode, SSizeT);
Bool __wrap_vgPlain_am_create_reservation(Addr, SizeT, ShrinkMode, SSizeT);
Addr __real_vgPlain_am_get_advisory_client_simple(Addr, SizeT, Bool *);
Addr __wrap_vgPlain_am_get_advisory_client_simple(Addr, SizeT, Bool *);

#if defined(VGA_arm64)
#define TOOL 0x38000000UL
#else
#define TOOL 0x58000000UL
#endif
#define BEHIND_TOOL (TOOL + 0x4000000)
#define MAPPINGS 0x4000000UL /* the first of the core's for programs */
#define KEPT_FREE 0x10000UL

static const SizeT most = (SizeT)32 << 30, least = (SizeT)16 << 20;

static struct {
	Addr start, end;
	enum { NONE, FOUND, TOLD, MADE } state;
	Bool keeps_low; /* mappings are kept away until it is known where the heap begins
			 */
} heap;

/* A reservation, and the page before it, which is the core's to map. */
static Bool take(Addr start, SizeT size)
{
	if (!__real_vgPlain_am_create_reservation(start + VKI_PAGE_SIZE,
		    size - VKI_PAGE_SIZE, SmLower, -(SSizeT)VKI_PAGE_SIZE))
		return False;
	heap.start = start;
	/* The core keeps the last page. */
	heap.end = start + size - VKI_PAGE_SIZE;
	return True;
}

/* As much as there is of what the program may have. */
static Bool take_most(Addr start)
{
	SizeT size = most;

	while (size > VG_(client_rlimit_data).rlim_cur && size > least)
		size /= 2;
	while (size >= least && !take(start, size))
		size /= 2;
	return size >= least;
}

/* Below the first of its mappings the core reserves all for good: it is as if the program
 * had mapped and unmapped it. */
static Bool set_free(Addr start, Addr end)
{
	Bool discard = False;

	if (sr_isError(VG_(am_munmap_client)(&discard, start, end - start)))
		return False;
	if (discard)
		VG_(discard_translations)(start, end - start, "brk");
	return True;
}

static Bool is_to_be_random(void)
{
	return !(cp_syscall(SYS_personality, ~0u) & ADDR_NO_RANDOMIZE);
}

void heap_start(void)
{
	if (!is_to_be_random())
		heap.keeps_low = __real_vgPlain_am_create_reservation(
			MAPPINGS, TOOL - MAPPINGS, SmFixed, 0);
}

/* Is the program at fixed addresses of its own, not any?  The core has mapped it, and the
 * dynamic linker behind it. */
static Bool is_at_fixed_addresses(void)
{
	const NSegment *segment = VG_(am_find_nsegment)(0);
	const ElfW(Ehdr) * header;

	while (segment && segment->kind != SkFileC && segment->end < TOOL)
		segment = VG_(am_find_nsegment)(segment->end + 1);
	if (!segment || segment->kind != SkFileC || !segment->hasR)
		return False;
	header = (const ElfW(Ehdr) *)segment->start;
	return VG_(memcmp)(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_type == ET_EXEC;
}

static Bool take_behind_data(void)
{
	Addr base = VG_(brk_base);

	if (!heap.keeps_low)
		return False;
	if (base <= TOOL - least && is_at_fixed_addresses())
		return set_free(base, TOOL) && take(base, TOOL - base);
	set_free(MAPPINGS, TOOL);
	return False;
}

Bool __wrap_vgPlain_am_create_reservation(
	Addr start, SizeT length, ShrinkMode mode, SSizeT extra)
{
	Addr base = VG_(brk_base) < BEHIND_TOOL ? BEHIND_TOOL : VG_(brk_base);

	if (mode != SmLower)
		return __real_vgPlain_am_create_reservation(start, length, mode, extra);
	if (heap.state == NONE && take_behind_data())
		heap.state = TOLD;
	else if (heap.state == NONE && take_most(base)) {
		heap.state = FOUND;
		return False;
	}
	if (heap.state == TOLD && start == heap.start + VKI_PAGE_SIZE) {
		heap.state = MADE;
		return True;
	}
	return __real_vgPlain_am_create_reservation(start, length, mode, extra);
}

Addr __wrap_vgPlain_am_get_advisory_client_simple(Addr start, SizeT length, Bool *ok)
{
	Addr usual = __real_vgPlain_am_get_advisory_client_simple(start, length, ok);

	if (heap.state != FOUND)
		return usual;
	/* Between the dynamic linker's data and the first mapping, as everywhere: a block
	 * of the linker's would go on behind its data, and others than these miss.  Where
	 * there is a heap under the core's other tools (8 MiB), this is as far from a
	 * boundary of 64 KiB: allocators waste as much to align their blocks.  No more:
	 * some programs want nearly all that is below 2 GiB. */
	if (*ok)
		__real_vgPlain_am_create_reservation(usual, KEPT_FREE, SmFixed, 0);
	heap.state = TOLD;
	*ok = True;
	return heap.start;
}

/* ---- calls ---- */

/* Would the kernel, which looks at how much memory there is? */
static Bool may_grow_alone(SizeT size)
{
	long found = cp_syscall(SYS_mmap, 0, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (found < 0 && found > -4096)
		return False;
	cp_syscall(SYS_munmap, found, size);
	return True;
}

static void say_full(SizeT more)
{
	static Bool said;

	if (!said && may_grow_alone(more))
		say_once(&said,
			"cachepeek: the simulated PMU has no more room for the program's "
			"heap by brk: it does not grow; count it with "
			"CACHEPEEK_ENGINE=perf\n");
}

/* The end of what is still reserved behind it: the core does not take two that are side
 * by side for one. */
static Addr end_of_reserved(Addr a)
{
	const NSegment *next = VG_(am_find_nsegment)(a);

	return next && next->kind == SkResvn && next->smode == SmLower ? next->end + 1
								       : a;
}

static void set_zero(Addr from, Addr to)
{
	const NSegment *segment = VG_(am_find_nsegment)(from);

	if (!segment || segment->kind != SkAnonC || from >= to)
		return;
	if (segment->hasT)
		VG_(discard_translations)(from, to - from, "brk");
	if (segment->hasW)
		VG_(memset)((void *)from, 0, to - from);
}

/* The pages are the kernel's again, as alone; the core would keep them, and write zeros
 * to all, were it 16 GiB that were never touched.  It wants to find the heap's first
 * page. */
static void shrink(Addr new)
{
	Addr old = VG_PGROUNDUP(VG_(brk_limit)), end = end_of_reserved(old),
	     from = VG_PGROUNDUP(new);

	if (from == VG_(brk_base))
		from += VKI_PAGE_SIZE;
	set_zero(new, from);
	if (from < old && set_free(from, end)) {
		__real_vgPlain_am_create_reservation(from, end - from, SmLower, 0);
		huge_forget(from, old - from);
		readable_forget();
	}
	VG_(brk_limit) = new;
}

static Bool is_forbidden(Addr new)
{
	return new - VG_(brk_base) > VG_(client_rlimit_data).rlim_cur;
}

Bool heap_changes(ThreadId tid, Int number, UWord *end)
{
	Addr new;

	if (number != SYS_brk)
		return False;
	new = call_take(tid, CALL_ARG1);
	if (new >= VG_(brk_base) && new < VG_(brk_limit))
		shrink(new);
	else if (new <= VG_(brk_limit) || !is_forbidden(new)) {
		if (new > heap.end && heap.state == MADE)
			say_full(new - VG_(brk_limit));
		return False;
	}
	*end = VG_(brk_limit);
	return True;
}
