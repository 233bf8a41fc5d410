/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The kernel lets such a mapping grow where the program touches the page before it, and
 * tells nobody: the core takes those pages for free, and gives them to the next mapping.
 * So it is told of them before each call that may place one.
 */
#include "system/grows.h"

#include <sys/mman.h>

#include "base/syscall.h"
#include "say.h"
#include "valgrind/core.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_vki.h"

#ifndef MAP_GROWSDOWN
#define MAP_GROWSDOWN 0x100
#endif

enum { MOST = 64 };

static const HChar too_many[] =
	"cachepeek: more than 64 mappings grow downwards: the simulated PMU may place others "
	"where these have grown: count the program with CACHEPEEK_ENGINE=perf\n";

static Addr starts[MOST]; /* those that are there come first */
static UInt known;

static Bool places_mapping(UInt number)
{
	return number == SYS_mmap || number == SYS_mremap || number == SYS_shmat;
}

static Bool has_grown_to(Addr page)
{
	UChar there;

	return !VG_(am_find_nsegment)(page) &&
	       cp_syscall(SYS_mincore, page, (long)VKI_PAGE_SIZE, &there) == 0;
}

static void tell_core(Addr from, Addr to, const NSegment *like)
{
	UInt access = (like->hasR ? VKI_PROT_READ : 0) |
		      (like->hasW ? VKI_PROT_WRITE : 0) |
		      (like->hasX ? VKI_PROT_EXEC : 0);

	ML_(notify_core_and_tool_of_mmap)
	(from, to - from, access, VKI_MAP_FIXED | VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS, -1,
		0);
}

/* False: it is not there any more. */
static Bool follow(Addr *start)
{
	const NSegment *segment = VG_(am_find_nsegment)(*start);
	Addr now = *start;
	NSegment like;

	if (!segment || segment->kind != SkAnonC)
		return False;
	like = *segment;
	while (has_grown_to(now - VKI_PAGE_SIZE))
		now -= VKI_PAGE_SIZE;
	if (now < *start)
		tell_core(now, *start, &like);
	*start = now;
	return True;
}

void grows_before(UInt number)
{
	if (!known || !places_mapping(number))
		return;
	for (UInt i = known; i-- > 0;)
		if (!follow(&starts[i]))
			starts[i] = starts[--known];
}

void grows_after(UInt number, const UWord *args, SysRes result)
{
	static Bool said;

	if (number != SYS_mmap || !(args[3] & MAP_GROWSDOWN) || sr_isError(result))
		return;
	if (known < MOST)
		starts[known++] = sr_Res(result);
	else
		say_once(&said, too_many);
}
