/* SPDX-License-Identifier: MIT */
#include "base/engine/userread.h"

#include <linux/perf_event.h>

#include "base/engine/arch/arch.h"

bool cp_user_page_readable(const void *page)
{
	const struct perf_event_mmap_page *control = page;

	return CP_ARCH_USER_READ && control && control->cap_user_rdpmc &&
	       control->cap_user_time && control->index;
}

/* time_enabled and time_running stand still between context switches; the
 * page says how to turn the timestamp counter into the time since then. */
static uint64_t time_since_update(
	const struct perf_event_mmap_page *control, uint64_t now)
{
	uint64_t quotient = now >> control->time_shift;
	uint64_t remainder = now & (((uint64_t)1 << control->time_shift) - 1);

	return control->time_offset + quotient * control->time_mult +
	       ((remainder * control->time_mult) >> control->time_shift);
}

static int64_t sign_extend(uint64_t value, unsigned width)
{
	return (int64_t)(value << (64 - width)) >> (64 - width);
}

bool cp_user_page_read(const void *page, uint64_t *count, struct cp_times *times)
{
	const volatile struct perf_event_mmap_page *control = page;
	uint32_t sequence, index;
	uint64_t since;

	do {
		sequence = control->lock;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		index = control->index;
		if (!control->cap_user_rdpmc || !control->cap_user_time || index == 0)
			return false;
		since = time_since_update((const void *)page, cp_arch_timestamp());
		times->enabled = control->time_enabled + since;
		times->running = control->time_running + since;
		*count = (uint64_t)control->offset +
			 (uint64_t)sign_extend(
				 cp_arch_read_counter(index), control->pmc_width);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (control->lock != sequence);
	return true;
}
