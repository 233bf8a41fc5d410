/* SPDX-License-Identifier: MIT
 *
 * Reading a counter in user space, per CPU.  Each header defines
 *   CP_ARCH_USER_READ      1 if this CPU can
 *   cp_arch_read_counter   the PMU register behind the mmap page's index
 *                          (index as in the page: 1 is counter 0)
 *   cp_arch_timestamp      the clock that the page's time_mult speaks of
 *   CP_ARCH_LISTS(config)  1 if the kernel lists, in sysfs, exactly those events
 *                          of this kind that the PMU says it has
 *   CP_ARCH_LISTED_EVENT   one of these, that every CPU has
 */
#ifndef CACHEPEEK_BASE_ENGINE_ARCH_ARCH_H
#define CACHEPEEK_BASE_ENGINE_ARCH_ARCH_H

#include <stdint.h>

#if defined(__x86_64__)
#include "base/engine/arch/x86_64.h"
#elif defined(__aarch64__)
#include "base/engine/arch/aarch64.h"
#else
#include "base/engine/arch/generic.h"
#endif

#endif
