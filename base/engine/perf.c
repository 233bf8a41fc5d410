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
#include "base/syscall.h"
#include "base/engine/explain.h"
#include "base/engine/kernel.h"
#include "base/engine/perf_parts.h"
#include "base/engine/rusage.h"
#include "base/engine/userread.h"

static const struct cp_event_set *the_set;

/* One past the last counter of those that are read together, from first on: a group, or
 * all groups of software events, which always count. */
static unsigned group_end_of[CP_MAX_COUNTERS];

static unsigned leader_of[CP_MAX_PERF_GROUPS]; /* by group */

static bool is_software(const struct cp_counter *counter)
{
	return counter->attr.type == PERF_TYPE_SOFTWARE && !counter->rusage &&
	       !counter->socket;
}

static bool leads_group(unsigned counter)
{
	const struct cp_counter *it = &the_set->counters[counter];

	if (counter == 0)
		return true;
	return it->group != it[-1].group && !(is_software(it) && is_software(it - 1));
}

/* Counters from there on are not opened for each thread: they are read from the
 * kernel's accounts, or are those of sockets. */
static unsigned of_threads;

static int part_fd[CP_MAX_PARTS];

/* How many counters one read(2) has, where that is all there is to read; 0: there is
 * more to it. */
static unsigned of_one_read;

static void find_one_read(const struct cp_event_set *set)
{
	bool one = set->ncounters && group_end_of[0] == set->ncounters &&
		   of_threads == set->ncounters && !set->nparts && !set->nrotated &&
		   !set->reference[0];

	of_one_read = one ? set->ncounters : 0;
}

static int configure_perf(const struct cp_event_set *set)
{
	unsigned first = 0;

	for (unsigned i = 0; i < CP_MAX_PARTS; i++)
		part_fd[i] = -1;
	of_threads = 0;
	while (of_threads < set->ncounters && !set->counters[of_threads].socket &&
		!set->counters[of_threads].rusage)
		of_threads++;

	the_set = set;
	for (unsigned i = 0; i < set->ncounters; i++) {
		if (leads_group(i))
			first = leader_of[set->counters[i].group] = i;
		group_end_of[first] = i + 1;
	}
	find_one_read(set);
	return 0;
}

static void close_group(struct cp_thread_counters *counters, unsigned first)
{
	for (unsigned i = first; i < group_end_of[first]; i++) {
		cp_kernel_unmap(counters->page[i]);
		counters->page[i] = NULL;
		cp_fd_drop(&counters->fd[i]);
	}
}

static void close_sockets(struct cp_thread_counters *counters);

static void thread_close(struct cp_thread_counters *counters)
{
	if (!counters->open)
		return;
	counters->open = false;
	counters->one_read = 0;
	for (unsigned i = 0; i < of_threads; i = group_end_of[i])
		close_group(counters, i);
	close_sockets(counters);
}

/* A group is read through its leader; its members live as long as they have a
 * descriptor or a page, and pages are limited less than descriptors are. */
static bool kept_by_page(struct cp_thread_counters *counters, unsigned i, int fd)
{
	if (leads_group(i) || !cp_fd_scarce())
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
	int fd = cp_perf_open(
		    &the_set->counters[i].attr, tid, leads_group(i) ? -1 : leader),
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

static bool is_refusal(int result)
{
	return result == -EACCES || result == -EPERM;
}

/* A counter that is read with others, of a group that is refused by itself. */
static bool refuse_one(struct cp_thread_counters *counters, unsigned first, unsigned i)
{
	if (the_set->counters[i].group == the_set->counters[first].group)
		return false;
	counters->refused[i] = counters->any_refused = true;
	return true;
}

static int open_group(struct cp_thread_counters *counters, unsigned first, pid_t tid,
	struct cp_why *why)
{
	for (unsigned i = first; i < group_end_of[first]; i++) {
		int result = open_one(counters, i, tid, counters->fd[first]);

		if (result < 0 &&
			!(is_refusal(result) && refuse_one(counters, first, i))) {
			cp_perf_explain(-result, &the_set->counters[i].attr, why);
			return result;
		}
	}
	return 0;
}

static void refuse_group(struct cp_thread_counters *counters, unsigned first)
{
	close_group(counters, first);
	for (unsigned i = first; i < group_end_of[first]; i++)
		counters->refused[i] = counters->any_refused = true;
}

/* A group that was granted when the process began may be refused to a thread of it, or
 * to a child, that has another user by then: it is left out, and the others count.
 * Where a leader is refused so are those behind it: they need its rights, too. */
static int open_all(struct cp_thread_counters *counters, pid_t tid, struct cp_why *why)
{
	unsigned opened = 0;
	int result = 0;

	memset(counters->refused, 0, sizeof(counters->refused));
	counters->any_refused = false;
	for (unsigned i = 0; i < of_threads; i = group_end_of[i]) {
		result = open_group(counters, i, tid, why);
		if (result == 0)
			opened++;
		else if (is_refusal(result))
			refuse_group(counters, i);
		else
			return result;
	}
	return opened || !of_threads ? 0 : result;
}

/* ---- sockets ---- */

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
		int fd = cp_perf_open_part(&the_set->parts[i]);

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
		if (!counters->refused[i] &&
			cp_perf_needs_pmu(&the_set->counters[i].attr))
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
		if (!counters->refused[i] &&
			!waits_for_its_turn(counters, the_set->counters[i].group))
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
	counters->tid = tid ? tid : (pid_t)cp_syscall(SYS_gettid);
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
	cp_rusage_open(the_set, counters, tid == 0);
	if (!counters->any_refused && !counters->sockets && !counters->user_read[0])
		counters->one_read = of_one_read;
	return 0;
}

/* A group that does not start shows by its times. */
static void turn_to_group(struct cp_thread_counters *counters, unsigned group)
{
	if (!counters->open || group == counters->turn)
		return;
	cp_kernel_enable(counters->fd[leader_of[counters->turn]], false);
	cp_kernel_enable(counters->fd[leader_of[group]], true);
	counters->turn = group;
}

/* ---- reading ---- */

/* In the order in which they were opened; those that were refused are not there. */
static inline __attribute__((always_inline)) int take_values(
	const struct cp_thread_counters *counters, unsigned first,
	const struct cp_group_values *values, struct cp_reading *reading)
{
	unsigned n = 0;

	for (unsigned i = first; i < group_end_of[first]; i++) {
		if (counters->refused[i])
			continue;
		if (n == values->nr)
			return -ENODATA;
		reading->counter[i] = values->value[n++];
		reading->group[the_set->counters[i].group] =
			(struct cp_times){values->enabled, values->running};
	}
	return 0;
}

/* After a system call each return to a function that was called before it is
 * mispredicted, where the kernel guards against attacks on that prediction. */
static inline __attribute__((always_inline)) int read_group(
	const struct cp_thread_counters *counters, unsigned first,
	struct cp_reading *reading)
{
	unsigned group = the_set->counters[first].group;
	struct cp_group_values values;
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
	if ((size_t)size < offsetof(struct cp_group_values, value) ||
		(size_t)size != offsetof(struct cp_group_values, value[values.nr]))
		return -ENODATA;
	return take_values(counters, first, &values, reading);
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
		if (!the_set->counters[i].socket)
			continue;
		reading->counter[i] = 0;
		reading->group[the_set->counters[i].group] = (struct cp_times){0, 0};
	}
	for (unsigned i = 0; i < the_set->nparts; i++) {
		unsigned counter = the_set->parts[i].counter;
		struct cp_times *times =
			&reading->group[the_set->counters[counter].group];
		struct cp_group_values values;

		if (cp_kernel_read(part_fd[i], &values, sizeof(values)) <
			(long)offsetof(struct cp_group_values, value[1]))
			return -ENODATA;
		reading->counter[counter] += values.value[0];
		times->enabled += values.enabled;
		times->running += values.running;
	}
	return 0;
}

static inline struct cp_times times_of(const struct cp_group_values *values)
{
	return (struct cp_times){values->enabled, values->running};
}

/* The commonest reading, one_read, without the checks of the general one; false: that one
 * is needed. */
static inline __attribute__((always_inline)) bool read_once(
	const struct cp_thread_counters *counters, struct cp_reading *reading)
{
	struct cp_group_values values;
	unsigned n = counters->one_read;
	long size = (long)offsetof(struct cp_group_values, value[n]);

	if (cp_kernel_read(counters->fd[0], &values, (size_t)size) != size ||
		values.nr != n)
		return false;
	for (unsigned i = 0; i < n; i++) {
		uint64_t value = values.value[i];

		__asm__("" : "+r"(value)); /* else the loop becomes a memcpy */
		reading->counter[i] = value;
	}
	reading->group[0] = times_of(&values);
	for (unsigned g = 1; g < n && g < the_set->ngroups; g++)
		reading->group[g] = times_of(&values);
	reading->failed = false;
	return true;
}

static __attribute__((noinline)) int read_all(
	const struct cp_thread_counters *counters, bool own, struct cp_reading *reading)
{
	int error = counters->open ? 0 : -EBADF;

	for (unsigned i = 0; i < of_threads && !error; i = group_end_of[i])
		if (!counters->refused[i] &&
			(!own || !read_group_in_user_space(counters, i, reading)))
			error = read_group(counters, i, reading);
	if (counters->sockets && !error)
		error = read_sockets(reading);
	if ((of_threads < the_set->ncounters || counters->any_refused) && !error)
		cp_rusage_read(the_set, counters, own, reading);
	reading->failed = error != 0;
	return error;
}

static int read_counters(
	const struct cp_thread_counters *counters, bool own, struct cp_reading *reading)
{
	if (!counters->one_read)
		return read_all(counters, own, reading);
	/* Its owner has no better way to read it either. */
	return read_once(counters, reading) ? 0 : read_all(counters, false, reading);
}

/* The child's copies of the descriptors still count the parent; the pages are
 * not mapped in a child. */
static void after_fork(struct cp_thread_counters *counters)
{
	memset(counters->page, 0, sizeof(counters->page));
	thread_close(counters);
}

/* A page of zeros says that there is no register to read. */
static void forked_inside(const struct cp_thread_counters *counters)
{
	for (unsigned i = 0; i < of_threads && counters->open; i++)
		cp_kernel_unmapped(counters->page[i]);
}

const struct cp_engine cp_engine_perf = {
	.name = "perf",
	.opens_any_thread = true,
	.counts_readings = true,
	.has_time = true,
	.configure = configure_perf,
	.thread_open = thread_open,
	.read = read_counters,
	.turn = turn_to_group,
	.thread_close = thread_close,
	.after_fork = after_fork,
	.forked_inside = forked_inside,
};
