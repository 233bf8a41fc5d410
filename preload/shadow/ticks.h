/* SPDX-License-Identifier: MIT
 *
 * Ticks of the first thread's CPU time, and the forks that they make.
 */
#ifndef CACHEPEEK_PRELOAD_SHADOW_TICKS_H
#define CACHEPEEK_PRELOAD_SHADOW_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/shadow/shadow.h"

/* What has come of them. */
struct cp_shadow_log {
	unsigned ended[CP_SHADOW_NENDS]; /* windows, by how they ended */
	unsigned ticks;
	unsigned refused; /* forks that the kernel refused */
	int refused_error;
	uint32_t last_detail[CP_SHADOW_NENDS];
	uint64_t last_where[CP_SHADOW_NENDS];
	uint64_t work_ns; /* CPU time of the ticks themselves */
	unsigned nwindows;
	struct cp_shadow_window
		*window; /* those that are counted, at most CP_SHADOW_WINDOWS */
};
extern struct cp_shadow_log cp_shadow_log;

/* 0, or -errno with one line in why. */
int cp_ticks_start(const struct cp_shadow *shadow, struct cp_shadow_shared *shared,
	char *why, size_t size);
bool cp_ticks_are_on(void);

/* No ticks from here on, and no shadow; and: again. */
void cp_ticks_stop(void);
void cp_ticks_resume(void);

/* In a fork child: they were the parent's. */
void cp_ticks_forget(void);

#endif
