/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The CPU that the program finds.  The core's CPUID is that of one model wherever there
 * is AVX2, but for instructions that some hosts lack; random numbers and the time stamp
 * counter are the host's.  The function for that is in the place of the core's (--wrap).
 */
#include "pin/pin.h"

#if defined(VGA_amd64)
#include "libvex.h"

ULong __real_amd64g_dirtyhelper_RDTSC(void);
ULong __wrap_amd64g_dirtyhelper_RDTSC(void);

/* Time between two looks at it. */
enum { TICKS = 1000 };

ULong pin_ticks(void)
{
	static ULong now = 1ull << 40;

	return now += TICKS;
}

ULong __wrap_amd64g_dirtyhelper_RDTSC(void)
{
	return pin.wanted ? pin_ticks() : __real_amd64g_dirtyhelper_RDTSC();
}

void pin_capabilities(UInt *guest, UInt *host)
{
	const UInt hidden = VEX_HWCAPS_AMD64_RDRAND | VEX_HWCAPS_AMD64_RDSEED;

	if (!pin.wanted)
		return;
	if (!(*host & VEX_HWCAPS_AMD64_AVX2) || !(*host & VEX_HWCAPS_AMD64_F16C))
		pin.seen |= 1ul << CP_UNPINNED_CPU;
	*guest &= ~hidden;
	*host &= ~hidden;
}
#else
void pin_capabilities(UInt *guest, UInt *host)
{
	(void)guest, (void)host;
}
#endif
