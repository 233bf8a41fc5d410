/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <errno.h>
#include <sys/mman.h>

#define PAGES 0xfffful /* huge pages of any size are not wanted: 64 KiB apart */

static uintptr_t next; /* atomic; 0: the kernel chooses */
static int stopped;    /* atomic */

/* 0: wherever the kernel likes. */
static uintptr_t wished_place(size_t size)
{
	if (!__atomic_load_n(&next, __ATOMIC_RELAXED))
		return 0;
	return __atomic_fetch_add(&next, (size + PAGES) & ~PAGES, __ATOMIC_RELAXED);
}

static void *map(size_t size, int protection, int flags, int fd, off_t offset)
{
	void *memory;

	if (__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
		errno = ENOMEM;
		return NULL;
	}
	memory = mmap((void *)wished_place(size), size, protection, flags, fd, offset);
	return memory == MAP_FAILED ? NULL : memory;
}

void *cp_map(size_t size, int fd, off_t offset)
{
	return map(size, PROT_READ | PROT_WRITE,
		fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, offset);
}

const void *cp_map_file(size_t size, int fd)
{
	return map(size, PROT_READ, MAP_PRIVATE, fd, 0);
}

/* Kernels before 4.17 take the flag for none, and the address for a wish. */
void cp_map_zeros(void *at, size_t size)
{
	void *memory = mmap(at, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (memory != MAP_FAILED && memory != at)
		munmap(memory, size);
}

void cp_map_stop(void)
{
	__atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
}

void cp_map_from(uintptr_t address)
{
	__atomic_store_n(&next, address, __ATOMIC_RELAXED);
}
