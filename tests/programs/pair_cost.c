/* SPDX-License-Identifier: MIT
 *	pair_cost ROUNDS PAIRS
 * What a begin/end pair costs, beside two bare group read(2) calls of the same
 * four software events and PAPI's high-level pair, where libpapi is installed;
 * in turn, PAIRS of each per round.  Prints the medians in nanoseconds, and the
 * medians of the rounds' ratios: "pair N", "read N RATIO", "papi N RATIO", where
 * RATIO is what the library's pair costs in terms of that.  With the library
 * preloaded, and CACHEPEEK_EVENTS the same four.
 */
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cachepeek.h"

enum { MAX_ROUNDS = 1000, WAYS = 3 };

static const uint64_t events[] = {PERF_COUNT_SW_PAGE_FAULTS,
	PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS,
	PERF_COUNT_SW_TASK_CLOCK};

static cachepeek_region region;
static int group = -1;
static int (*papi_begin)(const char *), (*papi_end)(const char *);

static int open_group(void)
{
	for (unsigned i = 0; i < 4; i++) {
		struct perf_event_attr attr = {
			.size = sizeof(attr),
			.type = PERF_TYPE_SOFTWARE,
			.config = events[i],
			.disabled = i == 0,
			.exclude_kernel = 1,
			.read_format = PERF_FORMAT_GROUP |
				       PERF_FORMAT_TOTAL_TIME_ENABLED |
				       PERF_FORMAT_TOTAL_TIME_RUNNING,
		};
		int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, 0);

		if (fd < 0)
			return -1;
		group = i == 0 ? fd : group;
	}
	return ioctl(group, PERF_EVENT_IOC_ENABLE, 0);
}

static void open_papi(void)
{
	void *papi = dlopen("libpapi.so", RTLD_NOW);

	if (!papi)
		return;
	*(void **)&papi_begin = dlsym(papi, "PAPI_hl_region_begin");
	*(void **)&papi_end = dlsym(papi, "PAPI_hl_region_end");
	if (!papi_begin || !papi_end || papi_begin("pair") || papi_end("pair"))
		papi_begin = NULL;
}

static void run_pair(void)
{
	cachepeek_begin(region);
	cachepeek_end(region);
}

static void run_reads(void)
{
	uint64_t values[16];

	for (int i = 0; i < 2; i++)
		if (read(group, values, sizeof(values)) <= 0)
			abort();
}

static void run_papi(void)
{
	papi_begin("pair");
	papi_end("pair");
}

static double ns_of(void (*run)(void), unsigned pairs)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (unsigned i = 0; i < pairs; i++)
		run();
	clock_gettime(CLOCK_MONOTONIC, &to);
	return ((double)(to.tv_sec - from.tv_sec) * 1e9 +
		       (double)(to.tv_nsec - from.tv_nsec)) /
	       pairs;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values, unsigned count)
{
	static double sorted[MAX_ROUNDS];

	for (unsigned i = 0; i < count; i++)
		sorted[i] = values[i];
	qsort(sorted, count, sizeof(double), compare);
	return sorted[count / 2];
}

int main(int argc, char **argv)
{
	static double ns[WAYS][MAX_ROUNDS], ratio[WAYS][MAX_ROUNDS];
	static const char *const names[] = {"pair", "read", "papi"};
	static void (*const ways[])(void) = {run_pair, run_reads, run_papi};
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 51;
	unsigned pairs = argc > 2 ? (unsigned)atoi(argv[2]) : 2000, count = WAYS;

	region = cachepeek_region_register("pair");
	if (!region || rounds > MAX_ROUNDS || open_group() < 0)
		return 1;
	open_papi();
	count -= !papi_begin;
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned way = 0; way < count; way++) {
			ns[way][round] = ns_of(ways[way], pairs);
			ratio[way][round] = ns[0][round] / ns[way][round];
		}
	printf("pair %.0f\n", median(ns[0], rounds));
	for (unsigned way = 1; way < count; way++)
		printf("%s %.0f %.3f\n", names[way], median(ns[way], rounds),
			median(ratio[way], rounds));
	fflush(stdout);
	_exit(0); /* without PAPI's report */
}
