/* SPDX-License-Identifier: MIT */
#include "preload/threads/interval.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <string.h>

#include "base/syscall.h"
#include "preload/helper.h"
#include "preload/runtime.h"
#include "preload/threads/threads.h"
#include "regions/series_write.h"
#include "base/counters/options.h"
#include "preload/warn.h"
#include "preload/planned.h"

static void wake_helper(void);

static struct cp_series series;
CP_LOCK_LISTED(series.lock);

/* The thread that adds to it. */
static struct cp_helper helper = {.wake = wake_helper};
CP_HELPER_LISTED(helper);

/* ---- the thread ---- */

static void take_row(void)
{
	cp_series_tick(&series, cp_now_ns());
}

/* Until the next row is due, the process ends, or we are to stop. */
static void wait_for_row(void)
{
	uint64_t now = cp_now_ns();

	cp_helper_wait(&helper, now < series.next_ns ? series.next_ns - now : 0);
}

static int run_helper(void *unused)
{
	(void)unused;
	while (cp_counting() && !cp_helper_told(&helper)) {
		wait_for_row();
		if (cp_counting() && cp_now_ns() >= series.next_ns)
			cp_threads_sample(take_row);
	}
	cp_syscall(SYS_exit, 0);
	return 0;
}

static void start_thread(void)
{
	int result = cp_helper_start(&helper, run_helper);

	if (result == -ENOMEM)
		cp_warn("CACHEPEEK_INTERVAL: no memory for it: there is no time series");
	else if (result < 0)
		cp_warn("CACHEPEEK_INTERVAL: the system allows no other thread: "
			"there is no time series");
}

/* ---- for the rest of the library ---- */

/* Where the words of a reading are in the mirrors; returns how many there are. */
static uint32_t find_mirrors(const struct cp_event_set *set, uint32_t at[CP_MAX_READ])
{
	uint32_t n = 0;

	for (unsigned i = 0; i < set->ncounters; i++) {
		unsigned parts = set->counters[i].sampled ? CP_SAMPLE_PARTS : 1;

		for (unsigned p = 0; p < parts; p++)
			at[n++] = set->counters[i].mirror + p;
	}
	return n;
}

void cp_interval_prepare(void)
{
	uint32_t at[CP_MAX_READ], n;
	const struct cp_event_set *set = &cp_plan.set;

	if (!cp_options.interval)
		return;
	if (set->nrotated) {
		cp_warn("CACHEPEEK_INTERVAL is ignored: groups of events take turns "
			"(CACHEPEEK_SCHEDULE=rotate), "
			"and an interval has too few of them");
		return;
	}
	if (cp_series_start(&series, &cp_runtime.record,
		    (uint64_t)cp_options.interval * 1000000, cp_now_ns()) < 0) {
		cp_warn("CACHEPEEK_INTERVAL: no room on the disk: "
			"there is no time series");
		return;
	}
	if (!cp_engine->add_rows)
		return;
	n = find_mirrors(set, at);
	cp_series_process(&series, cp_runtime.record.header->process, at, n);
}

void cp_interval_start(void)
{
	if (!cp_runtime.record.series)
		return;
	if (cp_engine->add_rows)
		cp_engine->add_rows(&series);
	else
		start_thread();
}

static void wake_helper(void)
{
	if (!cp_confined())
		cp_syscall(SYS_futex, &helper.stopping, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
			0);
}

static void add_last_row(void)
{
	cp_lock(&series.lock);
	cp_series_add(&series, cp_now_ns());
	cp_unlock(&series.lock);
}

void cp_interval_finish(void)
{
	if (!cp_runtime.record.series)
		return;
	if (cp_engine->add_rows)
		cp_engine->add_rows(NULL);
	else
		add_last_row();
}
