/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <sys/auxv.h>

#include "base/syscall.h"
#include "preload/patch/architecture.h"

#define HAS_SVE (1ul << 22)    /* of AT_HWCAP */
#define HAS_SME (1ul << 23)    /* of AT_HWCAP2 */
#define SHADOW_STACK_STATUS 74 /* of prctl */

__attribute__((visibility("hidden"))) uint8_t cp_vectors_scale; /* they are SVE's */

static bool has_shadow_stack(void)
{
	unsigned long enabled = 0;

	return cp_syscall(SYS_prctl, SHADOW_STACK_STATUS, &enabled, 0, 0, 0) == 0 &&
	       (enabled & 1);
}

/* In SME's streaming mode what saves registers may not be executed. */
enum cp_patch_why cp_architecture_start(void)
{
	if (has_shadow_stack())
		return CP_PATCH_SHADOW;
	if (getauxval(AT_HWCAP2) & HAS_SME)
		return CP_PATCH_REGISTERS;
	cp_vectors_scale = (getauxval(AT_HWCAP) & HAS_SVE) != 0;
	return CP_PATCH_DONE;
}
