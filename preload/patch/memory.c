/* SPDX-License-Identifier: MIT */
#include "preload/patch/memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "preload/patch/architecture.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define PAGE CP_CODE_PAGE
#define STEP CP_CODE_STEP

/* Older kernels take the address for a hint. */
static uintptr_t map_at(uintptr_t at, size_t size)
{
	long got = cp_syscall(SYS_mmap, at, size, PROT_READ | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (got < 0 && got > -4096)
		return 0;
	if ((uintptr_t)got == at)
		return at;
	cp_syscall(SYS_munmap, got, size);
	return 0;
}

/* Below it: above a program is its heap, which grows. */
uintptr_t cp_code_take(uintptr_t low, uintptr_t high, size_t size)
{
	size = (size + PAGE - 1) & ~(PAGE - 1);
	low &= ~(PAGE - 1);
	for (uintptr_t at = low - size;
		at < low && high - at < CP_CODE_REACH && at > PAGE;) {
		uintptr_t got = map_at(at, size);

		if (got)
			return got;
		at = at > STEP ? (at - (at > low - STEP ? PAGE * 16 : STEP)) : 0;
	}
	return 0;
}

/* The kernel writes to pages that are not writable, into a copy of the process's own. */
static int write_by_file(uintptr_t to, const void *bytes, size_t size)
{
	long fd = cp_syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC),
	     result;

	if (fd < 0)
		return (int)fd;
	result = cp_syscall(SYS_pwrite64, fd, bytes, size, to);
	cp_syscall(SYS_close, fd);
	return result < 0 ? (int)result : (size_t)result == size ? 0 : -EIO;
}

/* Executable all the time: other code of the page may be running. */
static int write_in_place(uintptr_t to, const void *bytes, size_t size)
{
	uintptr_t first = to & ~(PAGE - 1), end = (to + size + PAGE - 1) & ~(PAGE - 1);
	long result = cp_syscall(
		SYS_mprotect, first, end - first, PROT_READ | PROT_WRITE | PROT_EXEC);

	if (result < 0)
		return (int)result;
	memcpy((void *)to, bytes, size);
	cp_syscall(SYS_mprotect, first, end - first, PROT_READ | PROT_EXEC);
	return 0;
}

int cp_code_write(uintptr_t to, const void *bytes, size_t size)
{
	int result = write_by_file(to, bytes, size);

	if (result < 0)
		result = write_in_place(to, bytes, size);
	if (result == 0)
		__builtin___clear_cache((char *)to, (char *)to + size);
	return result;
}
