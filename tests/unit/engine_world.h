/* SPDX-License-Identifier: MIT
 *
 * A kernel with a PMU that the perf engine is linked with instead of the real
 * one: it knows the truth, multiplexes as it likes, and fails when told to.  Its
 * descriptors are real, since the engine moves them about: ends of pipes, whose
 * other end tells when the last copy is closed.
 */
#ifndef CACHEPEEK_TESTS_UNIT_ENGINE_WORLD_H
#define CACHEPEEK_TESTS_UNIT_ENGINE_WORLD_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/engine/kernel.h"

#define WORLD_EVENTS 4096
#define WORLD_CONFIGS 16

struct world_event {
	ino_t inode; /* 0: gone */
	int other_end;
	unsigned config, leader; /* leader: index of its group's first */
	uint32_t type; /* which kind of core counts it; matters with world.core */
	bool cpu;      /* counts all that a CPU stands for: always */
	bool pinned;   /* comes before others; reads nothing if it cannot */
	bool started, on_pmu;
	uint64_t count, enabled, running; /* of a group: its leader's times */
	bool mapped;
	uint64_t pmc; /* the register, all bits */
	struct perf_event_mmap_page page;
};

static struct {
	struct world_event event[WORLD_EVENTS];
	unsigned nevents;
	unsigned capacity;   /* counters of the PMU; a larger group never runs */
	unsigned width;      /* bits of a register */
	uint32_t core;       /* kind of core in use: only its events count; 0: any */
	bool no_pinned;      /* something else holds the counters of those */
	bool user_access;    /* pages say that registers may be read */
	uint64_t now;        /* ns */
	int open_error;      /* the next opens fail so, after… */
	unsigned opens_left; /* … this many */
	int read_result;     /* one read in… */
	unsigned read_fails; /* … so many has this result; 0: none */
	int enable_error;
	int cpu_error; /* opening what counts a CPU fails so; 0: it does not */
	unsigned torn; /* one page read in so many is interrupted */
	unsigned reads, failed_reads, user_reads;
} world;

static unsigned world_random(unsigned below)
{
	return (unsigned)random() % below;
}

static uint64_t world_mask(void)
{
	return world.width == 64 ? UINT64_MAX : ((uint64_t)1 << world.width) - 1;
}

/* As perf_event_update_userpage does: offset and register make the count. */
static void world_update_page(struct world_event *event)
{
	struct perf_event_mmap_page *page = &event->page;
	const struct world_event *leader = &world.event[event->leader];
	uint64_t sign = (uint64_t)1 << (world.width - 1);
	uint64_t pmc = event->pmc & world_mask();

	page->lock += 2;
	page->cap_user_rdpmc = world.user_access;
	page->cap_user_time = world.user_access;
	page->index = event->on_pmu ? (uint32_t)(event - world.event) + 1 : 0;
	page->pmc_width = (uint16_t)world.width;
	page->offset = (int64_t)(event->count - ((pmc ^ sign) - sign));
	page->time_enabled = leader->enabled;
	page->time_running = leader->running;
	page->time_mult = 1;
	page->time_shift = 0;
	page->time_offset = -world.now;
}

/* Registers start near a wrap as often as not. */
static void world_switch(struct world_event *event, bool on)
{
	event->on_pmu = on;
	event->pmc = world_random(2) ? -(uint64_t)world_random(5000)
				     : (uint64_t)random() << 20;
	if (world_random(2))
		event->pmc = ((uint64_t)1 << (world.width - 1)) + world_random(1000);
	world_update_page(event);
}

/* Forgets the events that nobody has any more. */
static void world_collect(void)
{
	for (unsigned i = 0; i < world.nevents; i++) {
		struct world_event *event = &world.event[i];
		struct pollfd end = {.fd = event->other_end};

		if (!event->inode || event->mapped || poll(&end, 1, 0) < 1 ||
			!(end.revents & POLLHUP))
			continue;
		close(event->other_end);
		event->inode = 0;
	}
}

static unsigned world_group_size(unsigned leader)
{
	unsigned size = 0;

	for (unsigned i = 0; i < world.nevents; i++)
		size += world.event[i].inode && world.event[i].leader == leader;
	return size;
}

static bool world_is_eligible(const struct world_event *event)
{
	return !world.core || event->type == world.core;
}

/* Some groups that fit get counters, beginning anywhere: a rotation. */
static void world_schedule(void)
{
	unsigned room = world.capacity,
		 first = world.nevents ? world_random(world.nevents) : 0;
	bool on[WORLD_EVENTS] = {false};

	world_collect();
	for (unsigned i = 0; i < world.nevents; i++)
		on[i] = world.event[i].cpu;
	for (unsigned i = 0; i < world.nevents && !world.no_pinned; i++)
		on[i] |= world.event[i].inode && world.event[i].pinned &&
			 world.event[i].started && world_is_eligible(&world.event[i]);
	for (unsigned n = 0; n < world.nevents; n++) {
		unsigned i = (first + n) % world.nevents;
		const struct world_event *event = &world.event[i];

		if (!event->inode || event->leader != i || !event->started ||
			event->pinned || event->cpu || !world_is_eligible(event) ||
			world_group_size(i) > room)
			continue;
		room -= world_group_size(i);
		on[i] = true;
	}
	for (unsigned i = 0; i < world.nevents; i++)
		if (world.event[i].inode)
			world_switch(&world.event[i], on[world.event[i].leader]);
}

/* Time passes; events of each config happen. */
static void world_advance(uint64_t ns, const uint64_t happened[])
{
	for (unsigned i = 0; i < world.nevents; i++) {
		struct world_event *event = &world.event[i];
		const struct world_event *leader = &world.event[event->leader];

		if (!event->inode || !leader->started)
			continue;
		event->enabled += ns;
		event->running += leader->on_pmu ? ns : 0;
		if (leader->on_pmu && happened) {
			event->count += happened[event->config];
			event->pmc += happened[event->config];
		}
	}
	/* As in the kernel, pages stand still meanwhile: user space adds the
	 * register and the clock itself. */
	world.now += ns;
}

static struct world_event *world_find(int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return NULL;
	for (unsigned i = 0; i < world.nevents; i++)
		if (world.event[i].inode == status.st_ino)
			return &world.event[i];
	return NULL;
}

static void world_reset(void)
{
	world_collect();
	for (unsigned i = 0; i < world.nevents; i++)
		if (world.event[i].inode)
			abort(); /* never closed */
	memset(&world, 0, sizeof(world));
	world.capacity = 4;
	world.width = 48;
	world.now = 1000000;
}

/* ---- what the engine calls ---- */

static uint32_t world_type(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE ? (uint32_t)(attr->config >> 32)
						: attr->type;
}

int cp_kernel_open(const struct perf_event_attr *attr, pid_t tid, int group)
{
	struct world_event *leader = group >= 0 ? world_find(group) : NULL;
	struct world_event *event = &world.event[world.nevents];
	struct stat status;
	int ends[2];

	(void)tid;
	if (world.open_error && world.opens_left-- == 0) {
		world.opens_left = 0;
		return world.open_error;
	}
	if (world.nevents == WORLD_EVENTS)
		abort();
	if (leader && leader->type != world_type(attr))
		return -EINVAL; /* of another PMU */
	if (pipe2(ends, O_CLOEXEC) < 0 || fstat(ends[1], &status) < 0)
		abort();
	*event = (struct world_event){.inode = status.st_ino,
		.other_end = ends[0],
		.type = world_type(attr),
		.pinned = attr->pinned,
		.config = (unsigned)attr->config % WORLD_CONFIGS};
	event->leader = leader ? (unsigned)(leader - world.event) : world.nevents;
	world.nevents++;
	world_update_page(event);
	return ends[1];
}

/* Enabled from the start, and beside everything else. */
int cp_kernel_open_cpu(const struct perf_event_attr *attr, int cpu)
{
	struct world_event *event = &world.event[world.nevents];
	int fd = world.cpu_error ? world.cpu_error : cp_kernel_open(attr, -1, -1);

	(void)cpu;
	if (fd >= 0)
		event->cpu = event->started = event->on_pmu = true;
	return fd;
}

int cp_kernel_enable(int fd, bool enable)
{
	struct world_event *event = world_find(fd);

	if (enable && world.enable_error)
		return world.enable_error;
	if (!event)
		return -EBADF;
	event->started = enable;
	world_schedule();
	return 0;
}

long cp_kernel_read(int fd, void *to, size_t size)
{
	struct world_event *leader = world_find(fd);
	uint64_t *words = to, n = 0;

	world.reads++;
	if (world.read_fails && world_random(world.read_fails) == 0) {
		world.failed_reads += world.read_result != -EINTR;
		return world.read_result;
	}
	if (!leader)
		return -EBADF;
	if (leader->pinned && world.no_pinned)
		return 0;
	world_advance(100, NULL);
	words[1] = leader->enabled;
	words[2] = leader->running;
	for (unsigned i = 0; i < world.nevents && 4 + n <= size / 8; i++)
		if (world.event[i].inode && &world.event[world.event[i].leader] == leader)
			words[3 + n++] = world.event[i].count;
	words[0] = n;
	return (long)((3 + n) * 8);
}

void *cp_kernel_map(int fd)
{
	struct world_event *event = world_find(fd);

	if (!world.user_access || !event)
		return NULL;
	event->mapped = true;
	return &event->page;
}

void cp_kernel_unmapped(void *page)
{
	cp_map_zeros(page, (size_t)sysconf(_SC_PAGESIZE));
}

void cp_kernel_unmap(void *page)
{
	for (unsigned i = 0; i < world.nevents; i++)
		if (&world.event[i].page == page)
			world.event[i].mapped = false;
}

/* ---- the CPU: registers as user space reads them ---- */

#define CACHEPEEK_BASE_ENGINE_ARCH_ARCH_H
#define CP_ARCH_USER_READ 1
#define CP_ARCH_LISTS(config) ((void)(config), 0)
#define CP_ARCH_LISTED_EVENT 0

static uint64_t cp_arch_read_counter(uint32_t index)
{
	struct world_event *event = &world.event[index - 1];

	world.user_reads++;
	/* An interrupt between reading the page and the register. */
	if (world.torn && world_random(world.torn) == 0) {
		if (world_random(3))
			world_switch(event, true);
		else
			world_schedule();
	}
	return event->pmc & world_mask();
}

static uint64_t cp_arch_timestamp(void)
{
	world_advance(10, NULL);
	return world.now;
}

#include "base/engine/userread.c"

#endif
