/* SPDX-License-Identifier: MIT
 *
 * The kernel's counters: one set of perf groups per thread, read with one
 * read(2) per group, or in user space where the mmap page allows it.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/format.h"
#include "preload/engine/engine.h"
#include "preload/engine/explain.h"
#include "preload/engine/kernel.h"
#include "preload/engine/proof.h"
#include "preload/engine/userread.h"

#define READ_FORMAT                                                                      \
	(PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |                            \
		PERF_FORMAT_TOTAL_TIME_RUNNING)

/* What read(2) gives for a group with READ_FORMAT. */
struct group_values {
	uint64_t nr, enabled, running;
	uint64_t value[CP_MAX_COUNTERS];
};

static const struct cp_event_set *the_set;

/* ---- opening ---- */

static int open_event(const struct perf_event_attr *wanted, pid_t tid, int leader)
{
	struct perf_event_attr attr = *wanted;
	int fd;

	attr.size = sizeof(attr);
	attr.read_format = READ_FORMAT;
	attr.disabled = leader < 0;
#ifdef __aarch64__
	if (attr.type == PERF_TYPE_RAW || attr.type == PERF_TYPE_HARDWARE)
		attr.config1 |= 2; /* ask for reads from user space */
#endif
	fd = cp_kernel_open(&attr, tid, leader);
#ifdef __aarch64__
	if (fd == -EINVAL && attr.config1 != wanted->config1) {
		attr.config1 = wanted->config1;
		fd = cp_kernel_open(&attr, tid, leader);
	}
#endif
	return fd;
}

static int probed[CP_MAX_COUNTERS];
static unsigned nprobed;

int cp_perf_probe(
	const struct perf_event_attr *attr, enum cp_proof *proof, struct cp_why *why)
{
	int fd = open_event(attr, 0, -1);

	if (fd < 0) {
		cp_perf_explain(-fd, attr, why);
		return fd;
	}
	if (proof)
		*proof = cp_prove(fd, attr, why);
	if (proof && *proof == CP_PROOF_MISSING) {
		cp_fd_close(fd);
		return -ENOENT;
	}
	if (nprobed < CP_MAX_COUNTERS)
		probed[nprobed++] = fd;
	else
		cp_fd_close(fd);
	return 0;
}

void cp_perf_probe_done(void)
{
	while (nprobed > 0)
		cp_fd_close(probed[--nprobed]);
}

/* ---- groups ---- */

bool cp_perf_needs_pmu(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_BREAKPOINT;
}

static bool needs_no_pmu(const struct cp_counter *counter)
{
	return !cp_perf_needs_pmu(&counter->attr);
}

static void renumber(struct cp_quantity *quantity, const unsigned place[])
{
	for (unsigned i = 0; i < quantity->nterms; i++)
		quantity->terms[i].counter = place[quantity->terms[i].counter];
}

/* The order of the counters: those of threads, of no PMU, of sockets. */
static unsigned place_of(const struct cp_counter *counter)
{
	if (counter->socket)
		return 2;
	return needs_no_pmu(counter);
}

/*
 * Counters that need no PMU go to the end, into groups of their own: beside
 * hardware events they would count only while those have their turn.  Those of
 * sockets are no thread's.
 */
static void hardware_first(struct cp_event_set *set)
{
	static struct cp_counter sorted[CP_MAX_COUNTERS];
	unsigned place[CP_MAX_COUNTERS], n = 0;

	for (unsigned pass = 0; pass < 3; pass++)
		for (unsigned i = 0; i < set->ncounters; i++)
			if (place_of(&set->counters[i]) == pass) {
				sorted[n] = set->counters[i];
				place[i] = n++;
			}
	memcpy(set->counters, sorted, n * sizeof(sorted[0]));
	for (unsigned i = 0; i < set->nquantities; i++)
		renumber(&set->quantities[i], place);
	for (unsigned i = 0; i < set->nparts; i++)
		set->parts[i].counter = place[set->parts[i].counter];
}

/*
 * Opens the counters from first on, as many as the kernel takes into one
 * group; how many that are, at least 1.  A failure shows again in thread_open,
 * which explains it.
 */
static unsigned fill_group(const struct cp_event_set *set, unsigned first, int fds[])
{
	unsigned n = 1;

	fds[first] = open_event(&set->counters[first].attr, 0, -1);
	if (set->counters[first].attr.pinned)
		return n;
	for (; fds[first] >= 0 && first + n < set->ncounters; n++) {
		if (set->counters[first + n].attr.pinned ||
			place_of(&set->counters[first + n]) !=
				place_of(&set->counters[first]))
			break;
		fds[first + n] =
			open_event(&set->counters[first + n].attr, 0, fds[first]);
		if (fds[first + n] < 0)
			break;
	}
	return n;
}

/* Is the group put on the PMU when it is enabled?  The kernel takes groups
 * that never are: while its leader is disabled it does not count that. */
static bool gets_counters(int leader)
{
	struct group_values values = {0};

	cp_kernel_enable(leader, true);
	for (unsigned i = 0; i < 1000 && values.enabled == 0; i++)
		if (cp_kernel_read(leader, &values, sizeof(values)) <= 0)
			break;
	cp_kernel_enable(leader, false);
	return values.running > 0;
}

/* Gives members back, from the end, until the rest has counters.  How many those
 * are; 0: not even one has. */
static unsigned shrink_group(const int fds[], unsigned n)
{
	while (n > 0 && !gets_counters(fds[0]))
		cp_fd_close(fds[--n]);
	return n;
}

static void close_group(const int fds[], unsigned n)
{
	while (n-- > 0)
		if (fds[n] >= 0)
			cp_fd_close(fds[n]);
}

bool cp_perf_fits(const struct perf_event_attr *const attrs[], unsigned n)
{
	int fds[CP_MAX_COUNTERS];
	unsigned opened = 0;
	bool fits;

	while (opened < n) {
		fds[opened] = open_event(attrs[opened], 0, opened ? fds[0] : -1);
		if (fds[opened] < 0)
			break;
		opened++;
	}
	fits = n == 0 || (opened == n && gets_counters(fds[0]));
	close_group(fds, opened);
	return fits;
}

/* Software events: any number of them fits. */
static unsigned software_group(const struct cp_event_set *set, unsigned first)
{
	unsigned n = 0;

	while (first + n < set->ncounters &&
		set->counters[first + n].attr.type == PERF_TYPE_SOFTWARE)
		n++;
	return n;
}

/* On another kind of core than the one we are on nothing runs: what was opened
 * together is believed to run together. */
static unsigned hardware_group(struct cp_event_set *set, unsigned first, int fds[])
{
	unsigned opened, running;

	if (set->counters[first].socket)
		return 1;
	opened = fill_group(set, first, fds);
	if (fds[first] < 0)
		return 1;
	running = shrink_group(fds + first, opened);
	close_group(fds + first, running);
	if (running > 0)
		return running;
	set->starved |= !set->counters[first].core;
	return set->counters[first].core ? opened : 1;
}

/* Greedy, in the order of the request, so that the events of one formula stay
 * together. */
void cp_perf_arrange(struct cp_event_set *set)
{
	int fds[CP_MAX_COUNTERS];
	unsigned first = 0, n;

	hardware_first(set);
	for (set->ngroups = 0; first < set->ncounters; set->ngroups++) {
		n = software_group(set, first);
		if (n == 0)
			n = hardware_group(set, first, fds);
		for (; n > 0; n--)
			set->counters[first++].group = set->ngroups;
	}
}

void cp_perf_rotate(struct cp_event_set *set)
{
	unsigned n = 0;

	for (unsigned i = 0; i < set->ncounters; i++)
		if (place_of(&set->counters[i]) == 0)
			n = set->counters[i].group + 1;
	set->nrotated = n > 1 && !set->reference[0] ? n : 0;
}

/* One past the last counter of the group that begins with first. */
static unsigned group_end_of[CP_MAX_COUNTERS];

static unsigned leader_of[CP_MAX_PERF_GROUPS]; /* by group */

static bool leads(unsigned counter)
{
	return counter == 0 ||
	       the_set->counters[counter].group != the_set->counters[counter - 1].group;
}

/* Counters from there on are sockets'. */
static unsigned of_threads;

static int part_fd[CP_MAX_PARTS];

static int configure(const struct cp_event_set *set)
{
	unsigned first = 0;

	for (unsigned i = 0; i < CP_MAX_PARTS; i++)
		part_fd[i] = -1;
	of_threads = 0;
	while (of_threads < set->ncounters && !set->counters[of_threads].socket)
		of_threads++;

	the_set = set;
	for (unsigned i = 0; i < set->ncounters; i++) {
		if (leads(i))
			first = leader_of[set->counters[i].group] = i;
		group_end_of[first] = i + 1;
	}
	return 0;
}

static void close_sockets(struct cp_thread_counters *counters);

static void thread_close(struct cp_thread_counters *counters)
{
	if (!counters->open)
		return;
	counters->open = false;
	for (unsigned i = 0; i < the_set->ncounters; i++) {
		cp_kernel_unmap(counters->page[i]);
		counters->page[i] = NULL;
		cp_fd_drop(&counters->fd[i]);
	}
	close_sockets(counters);
}

/* A group is read through its leader; its members live as long as they have a
 * descriptor or a page, and pages are limited less than descriptors are. */
static bool kept_by_page(struct cp_thread_counters *counters, unsigned i, int fd)
{
	if (leads(i) || !cp_fd_scarce())
		return false;
	counters->page[i] = cp_kernel_map(fd);
	if (!counters->page[i])
		return false;
	cp_fd_close(fd);
	return true;
}

static int open_one(
	struct cp_thread_counters *counters, unsigned i, pid_t tid, int leader)
{
	int fd = open_event(&the_set->counters[i].attr, tid, leads(i) ? -1 : leader),
	    result;

	if (fd < 0 || kept_by_page(counters, i, fd))
		return fd < 0 ? fd : 0;
	counters->fd[i] = fd;
	result = cp_fd_keep(&counters->fd[i]);
	if (result < 0) {
		counters->fd[i] = -1;
		cp_fd_close(fd);
	}
	return result;
}

static int open_all(struct cp_thread_counters *counters, pid_t tid, struct cp_why *why)
{
	int leader = -1, result;

	for (unsigned i = 0; i < of_threads; i++) {
		result = open_one(counters, i, tid, leader);
		if (result < 0) {
			cp_perf_explain(-result, &the_set->counters[i].attr, why);
			return result;
		}
		if (leads(i))
			leader = counters->fd[i];
	}
	return 0;
}

/* ---- sockets ---- */

static int open_part(const struct cp_part *part)
{
	struct perf_event_attr attr = part->attr;

	attr.size = sizeof(attr);
	attr.read_format = READ_FORMAT;
	return cp_kernel_open_cpu(&attr, part->cpu);
}

int cp_perf_probe_cpu(const struct perf_event_attr *attr, int cpu, struct cp_why *why)
{
	const struct cp_part part = {.cpu = cpu, .attr = *attr};
	int fd = open_part(&part);

	if (fd == -EACCES || fd == -EPERM)
		cp_format(why->text, sizeof(why->text),
			"it counts all of a socket: that takes CAP_PERFMON, or "
			"`sysctl -w kernel.perf_event_paranoid=0` as root");
	else if (fd < 0)
		cp_perf_explain(-fd, attr, why);
	if (fd < 0)
		return fd;
	cp_fd_close(fd);
	return 0;
}

static void close_sockets(struct cp_thread_counters *counters)
{
	for (unsigned i = 0; i < the_set->nparts && counters->sockets; i++)
		cp_fd_drop(&part_fd[i]);
	counters->sockets = false;
}

/* All or none: what could be probed opens here as well, but for descriptors. */
static void open_sockets(struct cp_thread_counters *counters)
{
	for (unsigned i = 0; i < the_set->nparts && counters->sockets; i++) {
		int fd = open_part(&the_set->parts[i]);

		part_fd[i] = fd < 0 ? -1 : fd;
		if (fd >= 0 && cp_fd_keep(&part_fd[i]) == 0)
			continue;
		if (fd >= 0)
			cp_fd_close(fd);
		part_fd[i] = -1;
		close_sockets(counters);
	}
}

/* Pages cost a mapping each: kept only where user space may really read them,
 * for the whole group or not at all, or where nothing else keeps the counter. */
static void map_group(struct cp_thread_counters *counters, unsigned first, unsigned end)
{
	bool readable = true;

	for (unsigned i = first; i < end && readable; i++) {
		if (!counters->page[i])
			counters->page[i] = cp_kernel_map(counters->fd[i]);
		readable = cp_user_page_readable(counters->page[i]);
	}
	counters->user_read[first] = readable;
	for (unsigned i = first; i < end && !readable; i++) {
		if (counters->fd[i] < 0)
			continue;
		cp_kernel_unmap(counters->page[i]);
		counters->page[i] = NULL;
	}
}

static void map_pages(struct cp_thread_counters *counters)
{
	for (unsigned i = 0; i < of_threads; i = group_end_of[i])
		if (!needs_no_pmu(&the_set->counters[i]))
			map_group(counters, i, group_end_of[i]);
}

static bool waits_for_its_turn(const struct cp_thread_counters *counters, unsigned group)
{
	return group < the_set->nrotated && group != counters->turn;
}

static int enable_groups(const struct cp_thread_counters *counters, struct cp_why *why)
{
	int result = 0;

	for (unsigned i = 0; i < of_threads && result == 0; i = group_end_of[i])
		if (!waits_for_its_turn(counters, the_set->counters[i].group))
			result = cp_kernel_enable(counters->fd[i], true);
	if (result)
		cp_format(why->text, sizeof(why->text),
			"the kernel opened its counters but does not start them (%s)",
			cp_error_text(-result));
	return result;
}

static int thread_open(struct cp_thread_counters *counters, pid_t tid, struct cp_why *why)
{
	int error;

	for (unsigned i = 0; i < CP_MAX_COUNTERS; i++)
		counters->fd[i] = -1;
	counters->open = true;
	error = open_all(counters, tid, why);
	if (!error)
		error = enable_groups(counters, why);
	if (error) {
		thread_close(counters);
		return error;
	}
	if (tid == 0)
		map_pages(counters);
	if (counters->sockets)
		open_sockets(counters);
	return 0;
}

/* A group that does not start shows by its times. */
static void turn(struct cp_thread_counters *counters, unsigned group)
{
	if (!counters->open || group == counters->turn)
		return;
	cp_kernel_enable(counters->fd[leader_of[counters->turn]], false);
	cp_kernel_enable(counters->fd[leader_of[group]], true);
	counters->turn = group;
}

/* ---- reading ---- */

/* After a system call each return to a function that was called before it is
 * mispredicted, where the kernel guards against attacks on that prediction. */
static inline __attribute__((always_inline)) int read_group(
	const struct cp_thread_counters *counters, unsigned first,
	struct cp_reading *reading)
{
	unsigned group = the_set->counters[first].group;
	struct group_values values;
	long size;

	values.nr = 0; /* what is shorter has none */
	do /* libc's read is a cancellation point, and may be the program's own */
		size = cp_kernel_read(counters->fd[first], &values, sizeof(values));
	while (size == -EINTR);
	if (size < 0)
		return (int)size;
	/* One that only tells for how long it ran did not, then. */
	if (size == 0 && the_set->reference[group]) {
		reading->counter[first] = 0;
		reading->group[group] = (struct cp_times){0, 0};
		return 0;
	}
	/* 0: a pinned group that lost its place; another size: not a group. */
	if ((size_t)size < offsetof(struct group_values, value) ||
		(size_t)size != offsetof(struct group_values, value[values.nr]))
		return -ENODATA;
	if (values.nr < group_end_of[first] - first)
		return -ENODATA;
	for (unsigned n = group_end_of[first] - first; n-- > 0;)
		reading->counter[first + n] = values.value[n];
	reading->group[group] = (struct cp_times){values.enabled, values.running};
	return 0;
}

static bool read_group_in_user_space(const struct cp_thread_counters *counters,
	unsigned first, struct cp_reading *reading)
{
	struct cp_times times[2];

	if (!counters->user_read[first])
		return false;
	/* The times are the leader's, as in read(2). */
	for (unsigned i = first; i < group_end_of[first]; i++)
		if (!cp_user_page_read(
			    counters->page[i], &reading->counter[i], &times[i != first]))
			return false;
	reading->group[the_set->counters[first].group] = times[0];
	return true;
}

/* Added up as they are, also those that were multiplexed: so are their times. */
static int read_sockets(struct cp_reading *reading)
{
	for (unsigned i = of_threads; i < the_set->ncounters; i++) {
		reading->counter[i] = 0;
		reading->group[the_set->counters[i].group] = (struct cp_times){0, 0};
	}
	for (unsigned i = 0; i < the_set->nparts; i++) {
		unsigned counter = the_set->parts[i].counter;
		struct cp_times *times =
			&reading->group[the_set->counters[counter].group];
		struct group_values values;

		if (cp_kernel_read(part_fd[i], &values, sizeof(values)) <
			(long)offsetof(struct group_values, value[1]))
			return -ENODATA;
		reading->counter[counter] += values.value[0];
		times->enabled += values.enabled;
		times->running += values.running;
	}
	return 0;
}

static int read_counters(
	const struct cp_thread_counters *counters, bool own, struct cp_reading *reading)
{
	int error = counters->open ? 0 : -EBADF;

	for (unsigned i = 0; i < of_threads && !error; i = group_end_of[i])
		if (!own || !read_group_in_user_space(counters, i, reading))
			error = read_group(counters, i, reading);
	if (counters->sockets && !error)
		error = read_sockets(reading);
	reading->failed = error != 0;
	return error;
}

/* The child's copies of the descriptors still count the parent; the pages are
 * not mapped in a child. */
static void after_fork(struct cp_thread_counters *counters)
{
	memset(counters->page, 0, sizeof(counters->page));
	thread_close(counters);
}

const struct cp_engine cp_engine_perf = {
	.name = "perf",
	.configure = configure,
	.thread_open = thread_open,
	.read = read_counters,
	.turn = turn,
	.thread_close = thread_close,
	.after_fork = after_fork,
};

/* ---- is there hardware that counts? ---- */

static int counts(uint64_t config, struct cp_why *why)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = open_event(&attr, 0, -1);
	bool moved;

	if (fd < 0) {
		cp_perf_explain(-fd, &attr, why);
		return fd;
	}
	moved = cp_event_moves(fd);
	cp_fd_close(fd);
	if (moved)
		return 0;
	cp_format(why->text, sizeof(why->text),
		"the PMU accepts events but does not count (a hypervisor masks it?): "
		"pass the "
		"vPMU through, or run on bare metal");
	return -ENODATA;
}

bool cp_perf_hardware_works(struct cp_why *why)
{
	struct cp_why second;

	/* Some emulators count cycles only; the first answer is the better one
	 * to tell. */
	return counts(PERF_COUNT_HW_INSTRUCTIONS, why) == 0 ||
	       counts(PERF_COUNT_HW_CPU_CYCLES, &second) == 0;
}
