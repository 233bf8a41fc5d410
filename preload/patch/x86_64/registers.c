/* SPDX-License-Identifier: MIT */
#include "preload/patch/architecture.h"

#include <cpuid.h>
#include <stdint.h>

#include "base/syscall.h"
#include "preload/patch/x86_64/decode.h"

/* x87, SSE, AVX, the masks and the rest of AVX-512.  Tiles are 8 KiB, and nothing of ours
 * uses them, nor protection keys. */
#define STATES 0xe7u

#define OSXSAVE (1u << 27)
#define XSAVEC (1u << 1)

/* The state that the stubs save; they know where it is. */
__attribute__((visibility("hidden"))) struct {
	uint64_t size;
	uint32_t mask;
	uint8_t compact;
} cp_vectors;
_Static_assert(__builtin_offsetof(__typeof__(cp_vectors), mask) == 8 &&
		       __builtin_offsetof(__typeof__(cp_vectors), compact) == 12,
	"as in stubs.S");

static uint32_t enabled_states(void)
{
	uint32_t low, high;

	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

/* Where the last of them ends, in the form that is not compact: the other is smaller. */
static uint64_t size_of(uint32_t states)
{
	uint64_t end = 512 + 64;
	uint32_t a, b, c, d;

	for (unsigned i = 2; i < 8; i++) {
		if (!(states & 1u << i))
			continue;
		__cpuid_count(0xd, i, a, b, c, d);
		if ((uint64_t)a + b > end)
			end = (uint64_t)a + b;
	}
	return end;
}

static bool start_vectors(void)
{
	uint32_t a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE))
		return false;
	cp_vectors.mask = enabled_states() & STATES;
	cp_vectors.size = size_of(cp_vectors.mask);
	cp_vectors.compact = __get_cpuid_count(0xd, 1, &a, &b, &c, &d) && (a & XSAVEC);
	return true;
}

/* Intel's and AMD's: returns are compared with it. */
static bool has_shadow_stack(void)
{
	unsigned long features = 0;

	return cp_syscall(SYS_arch_prctl, 0x5005 /* ARCH_SHSTK_STATUS */, &features) ==
		       0 &&
	       (features & 1);
}

enum cp_patch_why cp_architecture_start(void)
{
	if (has_shadow_stack())
		return CP_PATCH_SHADOW;
	if (!start_vectors())
		return CP_PATCH_REGISTERS;
	return cp_decode_start() < 0 ? CP_PATCH_MEMORY : CP_PATCH_DONE;
}
