/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the instrumentation and the model ask of Valgrind's core, by the same names, and
 * memory.
 */
#include "tools/shadow/parts.h"

#include <sys/mman.h>

#include "model/model.h"

#define HEAP (256ul << 20)

/* In memory that is shared, hence kept from shadow to shadow. */
static struct shadow_heap *heap;

void *shadow_map(SizeT size, Int protection, Int flags)
{
	long p = cp_syscall(
		SYS_mmap, NULL, size, protection, flags | MAP_ANONYMOUS, -1, 0L);

	if (p < 0 && p > -4096)
		return NULL;
	cp_syscall(SYS_madvise, p, size, MADV_DONTDUMP);
	return (void *)p;
}

Bool shadow_map_again(void *at, SizeT size, Int protection)
{
	if (cp_syscall(SYS_mmap, at, size, protection,
		    MAP_SHARED | MAP_NORESERVE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0L) != (long)at)
		return False;
	cp_syscall(SYS_madvise, at, size, MADV_DONTDUMP);
	return True;
}

static void begin_heap(void)
{
	heap->at = (UChar *)heap;
	heap->size = HEAP;
	shadow_heap_empty();
}

Bool shadow_heap_start(void)
{
	heap = shadow_map(HEAP, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE);
	if (heap)
		begin_heap();
	return heap != NULL;
}

Bool shadow_heap_start_again(void)
{
	if (!shadow_map_again(heap, HEAP, PROT_READ | PROT_WRITE))
		return False;
	begin_heap();
	return True;
}

void shadow_heap_empty(void)
{
	heap->used = (sizeof(*heap) + 63) & ~63ul;
}

Bool shadow_heap_has(Addr a)
{
	return a >= (Addr)heap && a < (Addr)heap + heap->size;
}

void *VG_(malloc)(const HChar *cc, SizeT size)
{
	void *p = heap->at + heap->used;

	(void)cc;
	size = (size + 15) & ~15ul;
	if (size > heap->size - heap->used)
		shadow_finish(CP_SHADOW_BROKEN, 0, 0);
	heap->used += size;
	return p;
}

void *host_alloc(uint64_t size)
{
	return shadow_map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE);
}

void host_free(void *p, uint64_t size)
{
	cp_syscall(SYS_munmap, p, size);
}

void host_zero(void *p, uint64_t size)
{
	VG_(memset)(p, 0, size);
}

/* ---- what C has in its library ---- */

void *VG_(memset)(void *s, Int c, SizeT size)
{
	void *at = s;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(c) : "memory");
	return s;
}

void *VG_(memcpy)(void *to, const void *from, SizeT size)
{
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
	return to;
}

Int VG_(memcmp)(const void *s1, const void *s2, SizeT size)
{
	const UChar *a = s1, *b = s2;

	for (SizeT i = 0; i < size; i++)
		if (a[i] != b[i])
			return a[i] - b[i];
	return 0;
}

/* The compiler makes calls of these out of assignments. */
void *memset(void *s, int c, size_t size)
{
	return VG_(memset)(s, c, size);
}

void *memcpy(void *to, const void *from, size_t size)
{
	return VG_(memcpy)(to, from, size);
}

SizeT VG_(strlen)(const HChar *text)
{
	SizeT n = 0;

	while (text[n])
		n++;
	return n;
}

Int VG_(strncmp)(const HChar *a, const HChar *b, SizeT most)
{
	for (SizeT i = 0; i < most; i++)
		if (a[i] != b[i] || !a[i])
			return (UChar)a[i] - (UChar)b[i];
	return 0;
}

Int VG_(strcmp)(const HChar *a, const HChar *b)
{
	return VG_(strncmp)(a, b, ~0ul);
}

/* ---- of the core ---- */

void *VG_(fnptr_to_fnentry)(void *function)
{
	return function;
}

/* Own code is told of before anything is translated. */
void VG_(discard_translations_safely)(Addr start, SizeT range, const HChar *who)
{
	(void)start, (void)range, (void)who;
}
