/* SPDX-License-Identifier: MIT
 *
 * The timestamp counter is used where the kernel itself keeps time by it, which
 * means that it runs evenly and alike on all CPUs.  Its rate is measured over the
 * first 2 ms, to some hundred-thousandths; until then the kernel is asked.
 */
#include "base/counters/clock.h"

#include <string.h>
#include <time.h>

#include "base/text.h"

#define LONG_ENOUGH_NS 2000000
#define SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

struct moment {
	uint64_t ticks, ns;
};

struct cp_clock cp_clock;

static struct moment first;
static int calibrating = 1; /* atomic: nobody else may (any more) */

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t cp_clock_of_kernel(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t cp_clock_realtime(void)
{
	return read_clock(CLOCK_REALTIME);
}

/* Both clocks at once: of some tries, the one that took least. */
static struct moment read_both_clocks(void)
{
	struct moment best = {0, 0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t before = cp_arch_timestamp(), ns = cp_clock_of_kernel(),
			 after = cp_arch_timestamp();

		if (after - before >= least)
			continue;
		least = after - before;
		best = (struct moment){before + least / 2, ns};
	}
	return best;
}

void cp_clock_start(void)
{
	char source[32];

	if (!CP_ARCH_USER_READ || !cp_read_file(SOURCE, source, sizeof(source)) ||
		(strcmp(source, "tsc") != 0 && strcmp(source, "arch_sys_counter") != 0))
		return;
	first = read_both_clocks();
	__atomic_store_n(&calibrating, 0, __ATOMIC_RELEASE);
}

static void calibrate_clock(void)
{
	struct moment base;

	if (__atomic_exchange_n(&calibrating, 1, __ATOMIC_ACQUIRE))
		return;
	base = read_both_clocks();
	if (base.ticks <= first.ticks)
		return;
	cp_clock.ticks = base.ticks;
	cp_clock.ns = base.ns;
	cp_clock.rate = (uint64_t)((double)(base.ns - first.ns) /
				   (double)(base.ticks - first.ticks) * 4294967296.0);
	__atomic_store_n(&cp_clock.calibrated, 1, __ATOMIC_RELEASE);
}

uint64_t cp_clock_slowly(void)
{
	uint64_t now;

	now = cp_clock_of_kernel();
	if (!__atomic_load_n(&calibrating, __ATOMIC_RELAXED) &&
		now - first.ns > LONG_ENOUGH_NS)
		calibrate_clock();
	return now;
}

void cp_clock_warm_up(void)
{
	while (!__atomic_load_n(&calibrating, __ATOMIC_RELAXED))
		cp_clock_ns();
}
