/* SPDX-License-Identifier: MIT
 *
 * The samples of the process: its file, its threads' samplers, and the thread that
 * empties their rings.
 */
#include "preload/sampling/sampling.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/once.h"
#include "base/pool.h"
#include "base/syscall.h"
#include "base/counters/clock.h"
#include "base/engine/explain.h"
#include "preload/helper.h"
#include "preload/runtime.h"
#include "preload/sampling/sampling_parts.h"
#include "preload/run.h"
#include "preload/warn.h"
#include "base/counters/options.h"

/* A ring is saved so often even if it holds little. */
#define PATIENCE_MS 100
/* A region's end waits for its thread's ring only if that is worth it. */
#define WORTH 25 /* percent of the ring */

struct cp_recording cp_samples;
CP_LOCK_LISTED(cp_samples.lock);

static void ring_bell(void);

static struct {
	struct cp_sampling_event events[CP_SAMPLED_EVENTS];
	const char *measurement; /* NULL: nothing is sampled */

	/* Guards the list of samplers in use.  Taken before any sampler's lock. */
	struct cp_lock lock;
	struct cp_sampler *live;
	/* Closed ones stay what they are: the helper may be about to look at one. */
	struct cp_sampler *spare;

	uint32_t nthreads; /* atomic */
	uint32_t nchains;  /* in the file; atomic */
	int rings, bell;   /* epoll: of the samplers, and to wake the helper */
	struct cp_helper helper;
} sampling = {.rings = -1, .bell = -1, .helper.wake = ring_bell};
CP_LOCK_LISTED(sampling.lock);
CP_POOL(pool, struct cp_sampler);

uint32_t cp_sampling_new_chain(void)
{
	return __atomic_add_fetch(&sampling.nchains, 1, __ATOMIC_RELAXED);
}

CP_HELPER_LISTED(sampling.helper);

/* ---- what is sampled ---- */

void cp_sampling_choose(void)
{
	static const char *const names[] = {NULL, "dcache", "dtlb", "icache"};
	struct cp_sampling_event *faults = &sampling.events[CP_SAMPLED_FAULTS];

	if (cp_options.profile >= (int)(sizeof(names) / sizeof(names[0]))) {
		cp_warn("CACHEPEEK_PROFILE is ignored: "
			"this profile takes the simulated PMU (CACHEPEEK_ENGINE=sim)");
		return;
	}
	sampling.measurement = names[cp_options.profile];
	if (!sampling.measurement)
		return;
	faults->unit = CP_UNIT_MISSES;
	faults->attr = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1};
	/* For the others this only owns the ring. */
	if (cp_options.profile == CP_PROFILE_DTLB) {
		faults->attr.config = PERF_COUNT_SW_PAGE_FAULTS;
		cp_format(faults->name, sizeof(faults->name), "perf::PAGE-FAULTS");
	}
	cp_sampling_find_memory(
		&sampling.events[CP_SAMPLED_MEMORY], sampling.measurement);
	cp_sampling_watch_heap();
}

static void describe_kind(unsigned i)
{
	struct cp_samples_event *out = cp_record_reserve(&cp_samples, sizeof(*out));
	const struct cp_sampling_event *event = &sampling.events[i];

	if (!out)
		return;
	out->event = i;
	out->unit = event->unit;
	out->period = event->attr.sample_period;
	out->exact = event->attr.sample_period == 1;
	out->jitter = out->exact ? 0 : CP_PERIOD_JITTER;
	cp_format(out->name, sizeof(out->name), "%s", event->name);
	cp_format(out->vendor, sizeof(out->vendor), "%s", event->vendor);
	cp_format(out->why, sizeof(out->why), "%s", event->why.text);
	cp_item_publish(out, CP_SAMPLES_EVENT);
}

/* Whoever reads this looks for files that were replaced later. */
static void note_time(struct cp_record_header *header)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	header->realtime_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	header->start_ns = cp_clock_of_kernel();
}

void cp_sampling_prepare(void)
{
	char line[CP_RUNDIR_SIZE + 96];
	int result;

	if (!sampling.measurement)
		return;
	result = cp_record_create_as(&cp_samples, cp_run.directory, cp_runtime.pid,
		"samples", CP_SAMPLES_MAGIC, CP_SAMPLES_VERSION);
	if (result < 0) {
		cp_format(line, sizeof(line),
			"CACHEPEEK_PROFILE: no file for samples in %s (%s): "
			"process %d has none",
			cp_run.directory, cp_error_text(-result), (int)cp_runtime.pid);
		cp_warn(line);
		return;
	}
	sampling.nthreads = 0;
	sampling.nchains = 0;
	note_time(cp_samples.header);
	for (unsigned i = 0; i < CP_SAMPLED_EVENTS; i++)
		describe_kind(i);
	cp_sampling_note_maps();
	cp_sampling_note_blocks();
	if (!cp_sampling_blocks_nameless())
		return;
	cp_format(line, sizeof(line),
		"CACHEPEEK_PROFILE: blocks of the heap have no names: %s",
		cp_sampling_blocks_nameless());
	cp_warn(line);
}

/* ---- the thread that empties rings ---- */

static void drain_ring(struct cp_sampler *sampler)
{
	cp_lock(&sampler->made.lock);
	cp_sampler_drain(sampler, true);
	cp_unlock(&sampler->made.lock);
}

static void drain_all(void)
{
	cp_lock(&sampling.lock);
	for (struct cp_sampler *sampler = sampling.live; sampler; sampler = sampler->next)
		drain_ring(sampler);
	cp_unlock(&sampling.lock);
}

/* A thread that nobody saw end: what it had is in its ring. */
static void leave_out(struct cp_sampler *sampler)
{
	cp_lock(&sampler->made.lock);
	if (sampler->fd[0] >= 0)
		cp_syscall(SYS_epoll_ctl, sampling.rings, EPOLL_CTL_DEL, sampler->fd[0],
			NULL);
	cp_unlock(&sampler->made.lock);
}

static int run_helper(void *unused)
{
	static struct epoll_event ready[16];

	(void)unused;
	while (cp_counting() && !cp_helper_told(&sampling.helper)) {
		long n = cp_syscall(
			SYS_epoll_pwait, sampling.rings, ready, 16, PATIENCE_MS, NULL, 8);

		if (n == -EBADF) /* the program took the number */
			break;
		if (n == 0)
			drain_all();
		for (long i = 0; i < n; i++) {
			if (!ready[i].data.ptr)
				continue;
			drain_ring(ready[i].data.ptr);
			if (ready[i].events & EPOLLHUP)
				leave_out(ready[i].data.ptr);
		}
	}
	cp_syscall(SYS_exit, 0);
	return 0;
}

static void watch_ring(int fd, struct cp_sampler *sampler)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = sampler};

	if (sampling.rings >= 0)
		cp_syscall(SYS_epoll_ctl, sampling.rings, EPOLL_CTL_ADD, fd, &event);
}

static bool open_watch(void)
{
	sampling.rings = (int)cp_syscall(SYS_epoll_create1, EPOLL_CLOEXEC);
	sampling.bell = (int)cp_syscall(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (sampling.rings >= 0 && sampling.bell >= 0 &&
		cp_fd_keep(&sampling.rings) == 0 && cp_fd_keep(&sampling.bell) == 0) {
		watch_ring(sampling.bell, NULL);
		return true;
	}
	cp_fd_drop(&sampling.rings);
	cp_fd_drop(&sampling.bell);
	return false;
}

void cp_sampling_start(void)
{
	bool watched;

	if (!cp_samples.header)
		return;
	watched = open_watch();
	cp_lock(&sampling.lock);
	for (struct cp_sampler *sampler = sampling.live; watched && sampler;
		sampler = sampler->next)
		watch_ring(sampler->fd[0], sampler);
	cp_unlock(&sampling.lock);
	if (!watched || cp_helper_start(&sampling.helper, run_helper) < 0)
		cp_warn("CACHEPEEK_PROFILE: the system allows no other thread: "
			"samples are saved only where regions and threads end, "
			"and some may be lost");
}

static void ring_bell(void)
{
	const uint64_t one = 1;

	if (sampling.bell >= 0 && !cp_confined())
		cp_syscall(SYS_write, sampling.bell, &one, sizeof(one));
}

void cp_sampling_flush(void)
{
	if (cp_samples.header && !cp_confined())
		drain_all();
}

/* ---- threads ---- */

static struct cp_samples_thread *new_thread(pid_t tid)
{
	struct cp_samples_thread *out = cp_record_reserve(&cp_samples, sizeof(*out));

	if (!out)
		return NULL;
	out->id = __atomic_fetch_add(&sampling.nthreads, 1, __ATOMIC_RELAXED);
	out->tid = tid;
	cp_item_publish(out, CP_SAMPLES_THREAD);
	return out;
}

static void complain_once(int error)
{
	static struct cp_once said;
	struct cp_why why = {""};
	char line[sizeof(why.text) + 64];

	if (!cp_once(&said))
		return;
	if (error == -ENOMEM)
		cp_format(why.text, sizeof(why.text),
			"the limit of memory that stays in place is used up: "
			"raise kernel.perf_event_mlock_kb, or `ulimit -l`");
	else
		cp_perf_explain(-error, &sampling.events[0].attr, &why);
	cp_format(line, sizeof(line),
		"CACHEPEEK_PROFILE: a thread, or more, is not sampled: %s", why.text);
	cp_warn(line);
}

static struct cp_sampler *take_sampler(void)
{
	struct cp_sampler *sampler;

	cp_lock(&sampling.lock);
	sampler = sampling.spare;
	if (sampler)
		sampling.spare = sampler->next;
	cp_unlock(&sampling.lock);
	if (!sampler)
		sampler = cp_pool_take(&pool);
	if (sampler)
		cp_lock_made(&sampler->made);
	return sampler;
}

static void give_sampler(struct cp_sampler *sampler)
{
	cp_lock(&sampling.lock);
	sampler->next = sampling.spare;
	sampling.spare = sampler;
	cp_unlock(&sampling.lock);
}

static void list_add(struct cp_sampler *sampler)
{
	cp_lock(&sampling.lock);
	sampler->previous = NULL;
	sampler->next = sampling.live;
	if (sampling.live)
		sampling.live->previous = sampler;
	sampling.live = sampler;
	cp_unlock(&sampling.lock);
}

static void list_remove(struct cp_sampler *sampler)
{
	cp_lock(&sampling.lock);
	if (sampler->next)
		sampler->next->previous = sampler->previous;
	if (sampler->previous)
		sampler->previous->next = sampler->next;
	else
		sampling.live = sampler->next;
	cp_unlock(&sampling.lock);
}

static int open_sampler(struct cp_sampler *sampler, pid_t tid, bool own)
{
	int result = -ENOSPC;

	cp_lock(&sampler->made.lock);
	sampler->npending = 0;
	memset(sampler->chains, 0, sizeof(sampler->chains));
	sampler->period = (struct cp_period){
		.middle = sampling.events[CP_SAMPLED_MEMORY].attr.sample_period,
		.step = sampling.events[CP_SAMPLED_MEMORY].step,
		.random = cp_clock_of_kernel() ^ (uint64_t)tid};
	sampler->out = new_thread(tid);
	if (sampler->out) {
		result = cp_sampler_open(sampler, own ? 0 : tid, sampling.events);
		for (unsigned i = 0; i < CP_SAMPLED_EVENTS && result < 0; i++)
			sampler->out->events[i].error = result;
	}
	cp_unlock(&sampler->made.lock);
	return result;
}

struct cp_sampler *cp_sampling_thread_begin(pid_t tid, bool own)
{
	struct cp_sampler *sampler;
	int result;

	if (!cp_samples.header || cp_confined())
		return NULL;
	sampler = take_sampler();
	if (!sampler)
		return NULL;
	result = open_sampler(sampler, tid, own);
	if (result < 0) {
		complain_once(result);
		give_sampler(sampler);
		return NULL;
	}
	list_add(sampler);
	watch_ring(sampler->fd[0], sampler);
	if (own)
		cp_sampling_note_thread(sampler->out);
	cp_sampler_enable(sampler, true);
	return sampler;
}

void cp_sampling_thread_end(struct cp_sampler *sampler, bool own)
{
	if (!sampler)
		return;
	list_remove(sampler);
	cp_lock(&sampler->made.lock);
	if (!cp_confined()) {
		cp_sampler_enable(sampler, false);
		cp_sampler_drain(sampler, true);
		if (own)
			cp_sampling_note_end(sampler->out);
		sampler->out->end = cp_clock_of_kernel();
		cp_sampler_close(sampler);
	} else {
		cp_sampler_drain(sampler, false);
	}
	sampler->out = NULL;
	cp_unlock(&sampler->made.lock);
	give_sampler(sampler);
}

void cp_sampling_boundary(struct cp_sampler *sampler)
{
	if (!sampler || cp_ring_filled(&sampler->ring) < WORTH)
		return;
	cp_lock(&sampler->made.lock);
	cp_sampler_drain(sampler, false);
	cp_unlock(&sampler->made.lock);
}

/* ---- fork ---- */

/* The kernel has not copied rings. */
void cp_sampling_forget(struct cp_sampler *sampler)
{
	if (!sampler)
		return;
	sampler->ring.page = NULL;
	cp_sampler_close(sampler);
	sampler->next = sampling.spare;
	sampling.spare = sampler;
}

void cp_sampling_forked_inside(const struct cp_sampler *sampler)
{
	if (sampler)
		cp_ring_unmapped(&sampler->ring);
}

void cp_sampling_detach(void)
{
	if (cp_samples.header && cp_record_detach(&cp_samples) < 0)
		cp_samples.header = NULL;
}

void cp_sampling_after_fork(void)
{
	if (!sampling.measurement)
		return;
	cp_record_close(&cp_samples);
	sampling.live = NULL;
	cp_fd_drop(&sampling.rings);
	cp_fd_drop(&sampling.bell);
}
