/* SPDX-License-Identifier: MIT
 *
 * The rounds, and what they are measured in.
 */
#include "tools/calibrate/calibrate.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/machine/host.h"
#include "base/text.h"
#include "tools/calibrate/memory_left.h"

enum { MIB = 1 << 20, HUGE_PAGE = 2 * MIB };
#define MOST_BYTES ((size_t)512 * MIB)
#define LEAST_BYTES ((size_t)32 * MIB)
#define ENOUGH_BYTES ((size_t)128 * MIB)
#define PAGES_BYTES ((size_t)64 * MIB)
/* The pages and as much to write to, and the program, its tables and a thread. */
#define OTHER_BYTES (2 * PAGES_BYTES + (size_t)16 * MIB)

/* In the order in which they need each other's figures. */
static cp_measure *const measures[] = {cp_measure_rates, cp_measure_pages,
	cp_measure_latencies, cp_measure_window, cp_measure_branches, cp_measure_streams,
	cp_measure_room, cp_measure_transfers};

/* ---- memory ---- */

/* Aligned for huge pages, and touched, so that no page is the kernel's page of zeros. */
static char *map_touched(size_t bytes, int advice)
{
	char *memory = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	memory += HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE;
	madvise(memory, bytes, advice);
	for (size_t at = 0; at < bytes; at += 4096)
		((volatile char *)memory)[at] = 0;
	return memory;
}

/* A number of KiB from a file of the kernel's; 0: there is none. */
static size_t kernel_number(const char *path, const char *key)
{
	char text[8192], *at;

	if (!cp_read_file(path, text, sizeof(text)) || !(at = strstr(text, key)))
		return 0;
	return strtoul(at + strlen(key), NULL, 10);
}

/* Half of what is free; of what the process's groups leave, all but what else it takes.
 */
static size_t free_bytes(void)
{
	struct cp_memory_text room;
	struct cp_memory_left left = cp_memory_left(&room, "");
	uint64_t half = left.machine == UINT64_MAX ? MOST_BYTES : left.machine / 2,
		 rest = left.groups > OTHER_BYTES ? left.groups - OTHER_BYTES : 0;

	return rest < half ? rest : half;
}

static int set_up(struct cp_host *host, char *error, size_t error_size)
{
	size_t bytes = MOST_BYTES, most = free_bytes(),
	       enough = 4 * cp_host_level(host, CP_LLC);

	host->page_bytes = PAGES_BYTES;
	if (most >= LEAST_BYTES) {
		host->pages = map_touched(PAGES_BYTES, MADV_NOHUGEPAGE);
		host->scratch = map_touched(PAGES_BYTES, MADV_HUGEPAGE);
	}
	/* Memory much larger than the last level costs only time. */
	while (bytes > ENOUGH_BYTES && bytes / 2 >= enough)
		bytes /= 2;
	while (bytes > LEAST_BYTES && bytes > most)
		bytes /= 2;
	for (; host->pages && host->scratch && bytes >= LEAST_BYTES; bytes /= 2) {
		host->memory = map_touched(bytes, MADV_HUGEPAGE);
		host->bytes = bytes;
		if (host->memory) {
			host->huge = kernel_number("/proc/self/smaps_rollup",
					     "AnonHugePages:") >= bytes / 2048;
			return 0;
		}
	}
	snprintf(error, error_size,
		"no memory to calibrate with: %zu MiB are needed, better %zu MiB",
		(LEAST_BYTES + 2 * PAGES_BYTES) / MIB,
		(MOST_BYTES + 2 * PAGES_BYTES) / MIB);
	return -ENOMEM;
}

static void tear_down(struct cp_host *host)
{
	if (host->memory)
		munmap(host->memory, host->bytes);
	if (host->scratch)
		munmap(host->scratch, host->page_bytes);
	if (host->pages)
		munmap(host->pages, host->page_bytes);
}

/* ---- one CPU, so that the caches stay the same ones ---- */

static void choose_cpus(struct cp_host *host, cpu_set_t *may)
{
	int own = sched_getcpu();
	cpu_set_t one;

	host->other_cpu = -1;
	if (own < 0 || sched_getaffinity(0, sizeof(*may), may) < 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE && host->other_cpu < 0; cpu++)
		if (cpu != own && CPU_ISSET(cpu, may))
			host->other_cpu = cpu;
	CPU_ZERO(&one);
	CPU_SET(own, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* ---- rounds ---- */

enum { MOST_SECONDS = 13 };

/* 0: the clock may not be read. */
static double now_seconds(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_MONOTONIC, &time) < 0)
		return 0;
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

bool cp_host_is_late(const struct cp_host *host)
{
	return now_seconds() > host->deadline;
}

/* Returns false if there was no time for all of it. */
static bool run_round(struct cp_host *host, struct cp_round *round)
{
	for (unsigned i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
		if (cp_host_is_late(host))
			break;
		measures[i](host, round);
		cp_look_at_clock(host);
	}
	cp_find_clock(host, round);
	return !cp_host_is_late(host);
}

static void run_rounds(
	struct cp_calibration *calibration, struct cp_host *host, double begin)
{
	double first = now_seconds();

	cp_round_clear(&calibration->half[0]);
	cp_round_clear(&calibration->half[1]);
	for (unsigned round = 0; round < CP_CALIBRATE_ROUNDS; round++) {
		struct cp_round *found = &calibration->round[round];

		/* The host may be a slow one, or a busy one. */
		if (round && now_seconds() - begin + (now_seconds() - first) / round >
				     MOST_SECONDS)
			break;
		cp_round_clear(found);
		host->round = round;
		host->half = &calibration->half[round % 2];
		if (!run_round(host, found) && round)
			break; /* those before have more */
		calibration->rounds++;
	}
	calibration->seconds = now_seconds() - begin;
}

int cp_calibrate(struct cp_calibration *calibration, char *error, size_t error_size)
{
	struct cp_host host = {.machine = &calibration->machine};
	cpu_set_t may;
	double begin = now_seconds();
	int result;

	memset(calibration, 0, sizeof(*calibration));
	if (!(begin > 0)) {
		snprintf(error, error_size, "no clock to calibrate by: %s",
			strerror(errno));
		return -errno;
	}
	CPU_ZERO(&may);
	calibration->sized = cp_machine_sizes(&calibration->machine);
	host.deadline = begin + MOST_SECONDS;
	choose_cpus(&host, &may);
	result = set_up(&host, error, error_size);
	if (result == 0) {
		calibration->huge = host.huge;
		calibration->bytes = host.bytes;
		run_rounds(calibration, &host, begin);
		cp_calibration_conclude(calibration);
	}
	if (result == 0 && isnan(calibration->value[CP_FIGURE_CLOCK])) {
		/* Its memory alone took all of the time. */
		snprintf(error, error_size,
			"nothing could be measured in %d seconds: calibrate again when "
			"the machine is quieter",
			MOST_SECONDS);
		result = -EAGAIN;
	}
	tear_down(&host);
	if (CPU_COUNT(&may))
		sched_setaffinity(0, sizeof(may), &may);
	return result;
}
