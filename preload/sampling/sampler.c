/* SPDX-License-Identifier: MIT
 *
 * The samples of one thread.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/fd.h"
#include "base/counters/options.h"
#include "base/syscall.h"
#include "base/engine/kernel.h"
#include "preload/sampling/sampling_parts.h"

/* The size of a ring's data.  A smaller one loses samples while the thread that
 * empties it waits for a CPU; where locked memory is limited, the kernel grants less. */
#define RING_BYTES ((uint64_t)128 << 10)
/* Samples with a part of the stack are thirty times as long. */
#define RING_BYTES_OF_CHAINS ((uint64_t)1 << 20)

struct totals {
	uint64_t value, lost;
};

/* ---- opening ---- */

static void ask_for_chains(struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->sample_max_stack = CP_CHAIN_LENGTH;
	attr->exclude_callchain_kernel = 1;
	if (!CP_RING_NREGISTERS)
		return;
	attr->sample_type |= CP_RING_CHAINS;
	attr->sample_regs_user = CP_RING_REGISTERS;
	attr->sample_stack_user = CP_CHAIN_STACK;
}

static int open_event(const struct perf_event_attr *wanted, pid_t tid, int leader)
{
	struct perf_event_attr attr = *wanted;
	int fd;

	attr.size = sizeof(attr);
	attr.sample_type = CP_RING_SAMPLE_TYPE;
	if (cp_options.call_paths)
		ask_for_chains(&attr);
	attr.sample_id_all = 1;
	attr.read_format = PERF_FORMAT_LOST;
	attr.disabled = leader < 0;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	fd = cp_kernel_open(&attr, tid, leader);
	if (fd == -EINVAL) { /* before Linux 6.0 */
		attr.read_format = 0;
		fd = cp_kernel_open(&attr, tid, leader);
	}
	return fd;
}

static int keep_descriptor(int fd, int *slot)
{
	int result;

	*slot = fd;
	if (fd < 0) {
		*slot = -1;
		return fd;
	}
	result = cp_fd_keep(slot);
	if (result < 0) {
		cp_fd_close(fd);
		*slot = -1;
		return result;
	}
	return 0;
}

/* It owns the ring, and tells of mappings.  Of memory the period has to change now
 * and then. */
static int open_first(struct cp_sampler *sampler, pid_t tid,
	const struct cp_sampling_event *e, bool memory)
{
	struct perf_event_attr attr = e->attr;
	uint64_t bytes = cp_options.call_paths ? RING_BYTES_OF_CHAINS : RING_BYTES;
	unsigned pages = (unsigned)(bytes / (uint64_t)sysconf(_SC_PAGESIZE));
	int result;

	attr.mmap = attr.mmap2 = attr.mmap_data = 1;
	attr.watermark = 1;
	attr.wakeup_watermark =
		(uint32_t)(memory ? CP_PERIOD_SAMPLES * CP_RING_SAMPLE : bytes / 4);
	result = keep_descriptor(
		open_event(&attr, tid, -1), &sampler->fd[CP_SAMPLED_FAULTS]);
	if (result < 0)
		return result;
	result = cp_ring_map(
		&sampler->ring, sampler->fd[CP_SAMPLED_FAULTS], pages ? pages : 1);
	if (result < 0)
		cp_fd_drop(&sampler->fd[CP_SAMPLED_FAULTS]);
	/* The limit of locked memory; the event itself may be refused with EPERM,
	 * too. */
	return result == -EPERM ? -ENOMEM : result;
}

static int open_second(
	struct cp_sampler *sampler, pid_t tid, const struct cp_sampling_event *e)
{
	struct perf_event_attr attr = e->attr;
	int *fd = &sampler->fd[CP_SAMPLED_MEMORY], result = 0;

	attr.sample_period = cp_period_next(&sampler->period);
	if (e->first.size)
		result =
			keep_descriptor(open_event(&e->first, tid, -1), &sampler->leader);
	if (result == 0)
		result = keep_descriptor(open_event(&attr, tid, sampler->leader), fd);
	if (result == 0 && e->count.size)
		result = keep_descriptor(open_event(&e->count, tid, -1), &sampler->count);
	if (result == 0)
		result = (int)cp_syscall(SYS_ioctl, *fd, PERF_EVENT_IOC_SET_OUTPUT,
			sampler->fd[CP_SAMPLED_FAULTS]);
	if (result < 0) {
		cp_fd_drop(fd);
		cp_fd_drop(&sampler->leader);
		cp_fd_drop(&sampler->count);
	}
	return result;
}

static void find_id(struct cp_sampler *sampler, unsigned event)
{
	if (sampler->fd[event] >= 0)
		cp_syscall(SYS_ioctl, sampler->fd[event], PERF_EVENT_IOC_ID,
			&sampler->id[event]);
}

int cp_sampler_open(struct cp_sampler *sampler, pid_t tid,
	const struct cp_sampling_event events[CP_SAMPLED_EVENTS])
{
	int result, second = -ENOENT;

	sampler->ring.chains = cp_options.call_paths;
	sampler->fd[0] = sampler->fd[1] = sampler->leader = sampler->count = -1;
	result = open_first(sampler, tid, &events[CP_SAMPLED_FAULTS],
		events[CP_SAMPLED_MEMORY].name[0] != 0);
	if (result < 0)
		return result;
	if (events[CP_SAMPLED_MEMORY].name[0])
		second = open_second(sampler, tid, &events[CP_SAMPLED_MEMORY]);
	for (unsigned i = 0; i < CP_SAMPLED_EVENTS; i++) {
		find_id(sampler, i);
		if (sampler->out)
			sampler->out->events[i].pages = sampler->ring.pages;
	}
	if (sampler->out)
		sampler->out->events[CP_SAMPLED_MEMORY].error = second;
	return 0;
}

void cp_sampler_enable(struct cp_sampler *sampler, bool enable)
{
	if (sampler->count >= 0)
		cp_kernel_enable(sampler->count, enable);
	for (unsigned i = 0; i < CP_SAMPLED_EVENTS; i++)
		if (sampler->fd[i] >= 0)
			cp_kernel_enable(i == CP_SAMPLED_MEMORY && sampler->leader >= 0
						 ? sampler->leader
						 : sampler->fd[i],
				enable);
}

void cp_sampler_close(struct cp_sampler *sampler)
{
	/* A thread that had its lock taken from it may read the ring still. */
	if (!cp_lock_last_resort)
		cp_ring_unmap(&sampler->ring);
	for (unsigned i = CP_SAMPLED_EVENTS; i-- > 0;)
		cp_fd_drop(&sampler->fd[i]);
	cp_fd_drop(&sampler->leader);
	cp_fd_drop(&sampler->count);
}

/* ---- draining ---- */

static void flush_pending(struct cp_sampler *sampler)
{
	unsigned n = sampler->npending;
	struct cp_samples_batch *batch;

	sampler->npending = 0;
	if (!n)
		return;
	batch = cp_record_reserve(
		&cp_samples, sizeof(*batch) + n * sizeof(batch->sample[0]));
	for (unsigned i = 0; i < n; i++) {
		struct cp_sampled_totals *totals =
			&sampler->out->events[sampler->pending[i].event];

		totals->samples += batch != NULL;
		totals->periods += batch ? sampler->pending[i].period : 0;
		totals->dropped += batch == NULL;
	}
	if (!batch)
		return;
	batch->thread = sampler->out->id;
	batch->n = n;
	memcpy(batch->sample, sampler->pending, n * sizeof(batch->sample[0]));
	cp_item_publish(batch, CP_SAMPLES_BATCH);
}

static void on_sample(void *context, uint64_t id, const struct cp_access_sample *sample,
	const struct cp_chain *chain)
{
	struct cp_sampler *sampler = context;
	unsigned event = CP_SAMPLED_FAULTS;

	if (sampler->fd[CP_SAMPLED_MEMORY] >= 0 && id == sampler->id[CP_SAMPLED_MEMORY])
		event = CP_SAMPLED_MEMORY;
	if (sampler->npending == CP_PENDING)
		flush_pending(sampler);
	sampler->pending[sampler->npending] = *sample;
	if (sampler->ring.chains)
		sampler->pending[sampler->npending].chain =
			cp_sampling_chain(sampler, chain);
	sampler->pending[sampler->npending++].event = event;
}

/* Kernels that count what they lose say so when they are asked; and this record
 * comes only with the next sample for which there is room. */
static void on_lost(void *context, uint64_t id, uint64_t n)
{
	struct cp_sampler *sampler = context;
	unsigned event = CP_SAMPLED_FAULTS;

	if (sampler->fd[CP_SAMPLED_MEMORY] >= 0 && id == sampler->id[CP_SAMPLED_MEMORY])
		event = CP_SAMPLED_MEMORY;
	sampler->out->events[event].lost += n;
}

static void on_mapping(void *context, const struct cp_samples_mapping *mapping,
	const char *path, uint32_t length)
{
	struct cp_samples_mapping *out =
		cp_record_reserve(&cp_samples, sizeof(*out) + length + 1);

	(void)context;
	if (!out)
		return;
	memcpy((char *)out + sizeof(out->item), (const char *)mapping + sizeof(out->item),
		sizeof(*out) - sizeof(out->item));
	out->length = length;
	memcpy(out->path, path, length);
	cp_item_publish(out, CP_SAMPLES_MAPPING);
}

static void read_totals(struct cp_sampler *sampler)
{
	struct totals now;

	for (unsigned i = 0; i < CP_SAMPLED_EVENTS; i++) {
		long size;

		now = (struct totals){0, 0};

		if (sampler->fd[i] < 0)
			continue;
		size = cp_kernel_read(sampler->fd[i], &now, sizeof(now));
		if (size >= (long)sizeof(now.value))
			sampler->out->events[i].total = now.value;
		if (size == (long)sizeof(now))
			sampler->out->events[i].lost = now.lost;
	}
	if (sampler->count >= 0 && cp_kernel_read(sampler->count, &now, sizeof(now)) >=
					   (long)sizeof(now.value))
		sampler->out->events[CP_SAMPLED_MEMORY].total = now.value;
}

/* Chooses the distance of the next samples anew, so that it does not stay in step with
 * the program's own rhythm. */
static void change_period(struct cp_sampler *sampler)
{
	uint64_t period;

	if (sampler->fd[CP_SAMPLED_MEMORY] < 0)
		return;
	period = cp_period_next(&sampler->period);
	cp_syscall(SYS_ioctl, sampler->fd[CP_SAMPLED_MEMORY], PERF_EVENT_IOC_PERIOD,
		&period);
}

void cp_sampler_drain(struct cp_sampler *sampler, bool totals)
{
	static const struct cp_ring_visitor visitor = {on_sample, on_lost, on_mapping};

	if (!sampler->ring.page || !sampler->out)
		return;
	cp_ring_drain(&sampler->ring, &visitor, sampler);
	flush_pending(sampler);
	if (!totals)
		return;
	read_totals(sampler);
	change_period(sampler);
}
