/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * rdtscp, also where the host has none: the core's CPUID says that there is one wherever
 * it has AVX2, and Go's runtime believes it; but the core decodes and executes it only
 * where the host has it.  Here it is always decoded (--wrap), and made of rdtsc and of
 * what Linux keeps for its vdso: the limit of a segment has the numbers of the node and
 * of the processor, as TSC_AUX has.
 */
#include "pin/pin.h"
#include "valgrind/guest.h"
#include "pub_tool_basics.h"
#include "pub_tool_machine.h"

#if defined(VGA_amd64)
#include "libvex.h"

/* The core's. */
typedef void arch_info(VexArch *arch, VexArchInfo *info);
typedef void helper(guest_state *state);
arch_info __real_vgPlain_machine_get_VexArchInfo, __wrap_vgPlain_machine_get_VexArchInfo;
helper __wrap_amd64g_dirtyhelper_RDTSCP;

enum { NODE_AND_PROCESSOR = 15 * 8 + 3 };

void __wrap_vgPlain_machine_get_VexArchInfo(VexArch *arch, VexArchInfo *info)
{
	__real_vgPlain_machine_get_VexArchInfo(arch, info);
	if (info)
		info->hwcaps |= VEX_HWCAPS_AMD64_RDTSCP;
}

void __wrap_amd64g_dirtyhelper_RDTSCP(guest_state *state)
{
	UInt low, high, where = 0;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	__asm__ volatile("lsl %1, %0" : "+r"(where) : "r"(NODE_AND_PROCESSOR) : "cc");
	if (pin.wanted) {
		ULong now = pin_ticks();

		low = (UInt)now;
		high = (UInt)(now >> 32);
		where = 0;
	}
	state->guest_RAX = low;
	state->guest_RDX = high;
	state->guest_RCX = where;
}
#endif
