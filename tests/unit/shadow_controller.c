/* SPDX-License-Identifier: MIT
 * What a page costs that is copied after a fork: others may disturb the thread while it
 * is measured, and that is no cost of pages.  Which faults are copies, and what is left
 * of the time without them.  And whether there is memory for a shadow.
 */
#include <fcntl.h>
#include <string.h>

#include <sys/resource.h>

#include "base/format.h"
#include "base/syscall.h"

static long fake_syscall(long number, const long arg[6]);
#define cp_syscall6 fake_syscall
#include "base/files/memory_left.c"
#include "preload/shadow/controller.c"
#include "tests/tap/tap.h"

struct cp_options cp_options; /* the library has it */

static struct timespec now;
static long passes; /* ns between two looks at the clock */
static long faulted;

static struct file {
	const char *path, *text;
} files[8]; /* what there is; descriptors are indices */

static long open_fake(const char *path)
{
	for (long i = 0; i < 8; i++)
		if (files[i].path && strcmp(files[i].path, path) == 0)
			return i;
	return -ENOENT;
}

static long read_fake(long fd, char *to, size_t size)
{
	size_t length = strlen(files[fd].text);

	if (length > size)
		length = size;
	memcpy(to, files[fd].text, length);
	return (long)length;
}

static long fake_syscall(long number, const long arg[6])
{
	if (number == SYS_openat)
		return open_fake((const char *)arg[1]);
	if (number == SYS_read)
		return read_fake(arg[0], (char *)arg[1], (size_t)arg[2]);
	if (number == SYS_getrusage)
		((struct rusage *)arg[1])->ru_minflt = faulted;
	if (number != SYS_clock_gettime)
		return 0;
	now.tv_nsec += passes;
	*(struct timespec *)arg[1] = now;
	return 0;
}

/* So much for a page of ours: those of the program take 15 % more. */
static void fork_with_cost(struct cp_shadows *s, long page_ns)
{
	passes = page_ns * CP_PROBES;
	cp_controller_forked(s);
}

static void reap_with_cost(struct cp_shadows *s, long page_ns)
{
	passes = page_ns * CP_PROBES;
	cp_controller_reaped(s);
}

/* 100 MiB are resident. */
static bool is_short_with(const char *available, const char *limit, const char *used)
{
	static struct cp_shadows s;

	memset(&s, 0, sizeof(s));
	now.tv_nsec = 1;
	files[0] = (struct file){"/proc/meminfo", available};
	files[1] = (struct file){"/proc/self/statm", "50000 25600 100 1 0 1 0\n"};
	files[2] = (struct file){"/proc/self/cgroup", "0::/a/b\n"};
	files[3] = (struct file){"/sys/fs/cgroup/a/memory.max", limit};
	files[4] = (struct file){"/sys/fs/cgroup/a/memory.current", used};
	files[5] = (struct file){
		"/sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 1048576\n"};
	return is_memory_short(&s, 1000);
}

static void check_memory(void)
{
	const char *enough = "MemTotal: 9 kB\nMemAvailable:    167936 kB\n",
		   *little = "MemTotal: 9 kB\nMemAvailable:    167935 kB\n";

	ok(!is_short_with(enough, "max\n", "5\n"),
		"what is resident, and 64 MiB, are left");
	ok(is_short_with(little, "max\n", "5\n"), "1 KiB less is too little");
	ok(!is_short_with(enough, "171966464\n", "1048576\n"),
		"a cgroup above may leave as much, and has files to give back");
	ok(is_short_with(enough, "171966463\n", "1048576\n"), "or one byte less");
	memset(files, 0, sizeof(files));
}

/* ---- faults that follow a fork ---- */

static void have(struct cp_shadows *s, long faults, unsigned pages)
{
	static char statm[64];

	cp_format(statm, sizeof(statm), "90000 %u 100 1 0 1 0\n", pages);
	files[0] = (struct file){"/proc/self/statm", statm};
	faulted = faults;
	settle_copies(s);
}

static void check_faults(void)
{
	static struct cp_shadows s;

	now.tv_nsec = 1;
	passes = 0;
	have(&s, 1000, 900);
	is_u64(s.cost.ns, 0, "faults before there was a fork are the program's own");
	cp_controller_forks(&s);
	fork_with_cost(&s, 1000);
	have(&s, 1000 + 300, 900 + 200);
	is_u64(s.cost.ns, 115000, "those that make nothing resident are the fork's");
	reap_with_cost(&s, 200);
	have(&s, 1300 + 500, 1100);
	is_u64(s.cost.ns, 230000, "also when the shadow is gone, which is cheaper");
	have(&s, 1800 + 5000, 1100 - 1000);
	is_u64(s.cost.ns, 299000, "but no more than were resident then");
	cp_controller_forks(&s);
	is_u64(s.cost.window_ns, 299000, "all of them are of that window");
	is_u64(expected(&s), 299000, "and are expected of the next");
	have(&s, 6800 + 7000, 7100);
	is_u64(s.cost.ns, 299000, "a program that grows has them of its own");
	cp_controller_add(&s, 1000000);
	is_u64(expected(&s), 1000000, "a window that costs more is expected again");
	memset(files, 0, sizeof(files));
}

/* What the process and its thread that ticks have faulted since the last tick. */
static uint64_t copies(struct cp_shadows *s, long all, uint64_t own, unsigned pages)
{
	static char statm[64];

	cp_format(statm, sizeof(statm), "90000 %u 100 1 0 1 0\n", pages);
	files[0] = (struct file){"/proc/self/statm", statm};
	faulted += all;
	return cp_controller_copies(s, own);
}

/* 900 pages are resident at a fork, and a copy takes 1150 ns. */
static void check_slices(void)
{
	static struct cp_shadows s;

	now.tv_nsec = 1;
	passes = 0;
	faulted = 0;
	have(&s, 0, 900);
	cp_controller_forks(&s);
	fork_with_cost(&s, 1000);
	passes = 0;
	is_u64(copies(&s, 300, 300, 1100), 115000,
		"of a slice: its faults, but those that make more resident");
	is_u64(copies(&s, 300, 200, 1100), 230000, "or are of other threads");
	is_u64(s.cost.ns, 460000, "which cost the process as much");
	is_u64(copies(&s, 100, 100, 1300), 0, "a thread that grows copies nothing");
	is_u64(copies(&s, 3000, 3000, 1300), 575000, "no more than are left");
	is_u64(copies(&s, 700, 700, 1300), 0, "of which there are none in the end");
	now.tv_nsec += 5000000;
	is_u64(cp_controller_total(&s), (uint64_t)now.tv_nsec - 1035000,
		"the whole run is without them, and with faults of its own");
	cp_controller_add(&s, 100000000);
	is_u64(cp_controller_total(&s), 0, "never less than nothing");
	memset(files, 0, sizeof(files));
}

static void check_probes(void)
{
	static struct cp_shadows s;

	is_u64(ns_of(&s, 100), 0, "before there was a shadow pages cost nothing");
	fork_with_cost(&s, 1100);
	is_u64(ns_of(&s, 100), 126500, "as measured, and somewhat more");
	fork_with_cost(&s, 1000);
	fork_with_cost(&s, 30000);
	is_u64(ns_of(&s, 100), 126500, "the median: others disturb some");
	fork_with_cost(&s, 1200);
	fork_with_cost(&s, 1200);
	is_u64(ns_of(&s, 100), 138000, "of all");
	for (int i = 0; i < CP_PROBE_ROUNDS; i++)
		fork_with_cost(&s, 2000 + i);
	is_u64(ns_of(&s, 100), 231725, "that are new enough");
	reap_with_cost(&s, 200);
	is_u64(ns_of(&s, 100), 23000, "without a shadow nothing is copied");
}

static uint64_t milliseconds(uint64_t ns)
{
	return (ns + 500000) / 1000000;
}

/* Windows of a program that is always in the kernel soon. */
static void check_in_vain(void)
{
	static struct cp_shadows s;

	now.tv_sec = 0;
	now.tv_nsec = 250000000;
	for (int i = 0; i < 15; i++)
		cp_controller_ended(&s, CP_SHADOW_SYSCALL);
	cp_controller_ended(&s, CP_SHADOW_KILLED);
	is_u64(cp_controller_in_vain(&s), 0,
		"15 windows that meet a system call may be chance");
	cp_controller_ended(&s, CP_SHADOW_SYSCALL);
	is_u64(milliseconds(cp_controller_in_vain(&s)), 750,
		"after 16 the next one waits");
	now.tv_sec = 1;
	is_u64(cp_controller_in_vain(&s), 0, "for a second of CPU time");
	now.tv_sec = 0;
	cp_controller_ended(&s, CP_SHADOW_SYSCALL);
	is_u64(milliseconds(cp_controller_in_vain(&s)), 750, "as each that follows");
	cp_controller_ended(&s, CP_SHADOW_MATCHED);
	is_u64(cp_controller_in_vain(&s), 0, "until one is counted");
}

int main(void)
{
	plan(31);
	check_memory();
	check_faults();
	check_slices();
	check_probes();
	check_in_vain();
	return 0;
}
