/* SPDX-License-Identifier: MIT */
#include "preload/program/room.h"

#include <link.h>
#include <sys/auxv.h>

#include "base/format.h"

/* The simulator is at a fixed address, and the core loads what may be anywhere, and what
 * has its own addresses, below it or beside it. */
#if defined(__aarch64__)
enum { TOOL_AT = 0x38000000, TOOL_SIZE = 64 << 20, CORE_LOADS_AT = 0x108000 };
#else
enum { TOOL_AT = 0x58000000, TOOL_SIZE = 64 << 20, CORE_LOADS_AT = 0x108000 };
#endif

/* Where the segments of this program are, by its program headers. */
static bool program_extent(uint64_t *low, uint64_t *high, bool *anywhere)
{
	const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	unsigned long n = getauxval(AT_PHNUM);

	*low = UINT64_MAX;
	*high = 0;
	for (unsigned long i = 0; header && i < n; i++) {
		if (header[i].p_type != PT_LOAD)
			continue;
		if (header[i].p_vaddr < *low)
			*low = header[i].p_vaddr;
		if (header[i].p_vaddr + header[i].p_memsz > *high)
			*high = header[i].p_vaddr + header[i].p_memsz;
	}
	*anywhere = *low == 0;
	return *high > *low;
}

bool cp_has_room_beside_tool(struct cp_why *why)
{
	uint64_t low, high;
	bool anywhere;

	if (!program_extent(&low, &high, &anywhere))
		return true;
	if (anywhere) {
		low = CORE_LOADS_AT;
		high += CORE_LOADS_AT;
	}
	if (high <= TOOL_AT || low >= (uint64_t)TOOL_AT + TOOL_SIZE)
		return true;
	cp_format(why->text, sizeof(why->text),
		anywhere
			? "its code and static data of %llu MiB are more than the simulated PMU "
			  "has room for: allocate large arrays at run time"
			: "its code and static data, up to address %llu MiB, are where the "
			  "simulated PMU is: allocate large arrays at run time, or link it "
			  "elsewhere",
		(unsigned long long)(high >> 20));
	return false;
}
