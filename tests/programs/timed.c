/* SPDX-License-Identifier: MIT
 *	timed N
 * Loops whose cycles on the simulated ixp45x are known, N times in the region "once"
 * and 2 N times in the region "twice", after all else that they need has been there:
 * what the second costs more is N times the loop.  N: at most 60.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cachepeek.h"

enum { PAGE = 4096, LINE = 32, RING = 64 * 1024 };

#ifdef __x86_64__
#define LOOP(body, ...)                                                                  \
	__asm__ volatile(".p2align 5\n1:" body "dec %[n]\njnz 1b\n" __VA_ARGS__)
#define FOLLOW "mov (%[p]), %[p]\n"
#define LOAD "mov (%[p]), %[v]\nadd %[step], %[p]\n"
#define STORE "mov %[v], (%[p])\nadd %[step], %[p]\n"
#define LOAD_TWO                                                                         \
	"mov (%[p]), %[v]\nmov 4096(%[p]), %[w]\nadd %[v], %[w]\nadd %[step], %[p]\n"
#else
#define LOOP(body, ...)                                                                  \
	__asm__ volatile(                                                                \
		".p2align 5\n1:" body "subs %[n], %[n], #1\nb.ne 1b\n" __VA_ARGS__)
#define FOLLOW "ldr %[p], [%[p]]\n"
#define LOAD "ldr %[v], [%[p]]\nadd %[p], %[p], %[step]\n"
#define STORE "str %[v], [%[p]]\nadd %[p], %[p], %[step]\n"
#define LOAD_TWO                                                                         \
	"ldr %[v], [%[p]]\nldr %[w], [%[p], #4096]\nadd %[w], %[w], %[v]\n"              \
	"add %[p], %[p], %[step]\n"
#endif

static char *ring, *area;
static uint64_t v, w;

/* Three instructions; the next one needs what this one loads. */
static void __attribute__((noinline)) chase(char *p, long n)
{
	LOOP(FOLLOW, : [p] "+r"(p), [n] "+r"(n) : : "memory", "cc");
	ring = p;
}

/* Four instructions and a line that nobody waits for. */
static void __attribute__((noinline)) store(char *p, long n)
{
	LOOP(STORE,
		: [p] "+r"(p), [n] "+r"(n)
		: [v] "r"(v), [step] "r"((uint64_t)LINE)
		: "memory", "cc");
}

/* Four instructions, and a page and a line that are waited for in the next turn. */
static void __attribute__((noinline)) walk(char *p, long n)
{
	LOOP(LOAD,
		: [p] "+r"(p), [n] "+r"(n), [v] "+r"(v)
		: [step] "r"((uint64_t)PAGE)
		: "memory", "cc");
}

/* Six instructions; two lines come together. */
static void __attribute__((noinline)) pairs(char *p, long n)
{
	LOOP(LOAD_TWO,
		: [p] "+r"(p), [n] "+r"(n), [v] "+r"(v), [w] "+r"(w)
		: [step] "r"((uint64_t)LINE)
		: "memory", "cc");
}

/* Two instructions that hit. */
static void __attribute__((noinline)) spin(char *p, long n)
{
	(void)p;
	LOOP("", : [n] "+r"(n) : : "cc");
}

/* Each line leads to the next, round and round: more than L1D holds. */
static void make_ring(void)
{
	ring = aligned_alloc(PAGE, RING);
	for (long i = 0; i < RING; i += LINE) {
		char *next = ring + (i + LINE) % RING;

		memcpy(ring + i, &next, sizeof(next));
	}
}

/* The lines in L1D are clean, and none of them are the loops'; the pages of the stack, of
 * these variables, and of the area's first two pages are in the TLB. */
static char *prepare(long pages)
{
	char *at = area;

	area += pages * PAGE;
	memset(at, 0, (size_t)pages * PAGE);
	chase(ring, 2 * RING / LINE);
	*(volatile char *)(at + PAGE - LINE);
	*(volatile char *)(at + 2 * PAGE - LINE);
	return at;
}

static void follow(char *p, long n)
{
	(void)p;
	chase(ring, n);
}

/* Always the same code and stack. */
static void __attribute__((noinline))
measure(const char *name, void (*run)(char *p, long n), long pages, long n)
{
	char *at = prepare(pages);
	cachepeek_region region = cachepeek_region_register(name);

	cachepeek_begin(region);
	run(at, n);
	cachepeek_end(region);
}

#define CASE(name, run, pages)                                                           \
	do {                                                                             \
		measure("warm", run, pages, 1);                                          \
		measure(name "-once", run, pages, n);                                    \
		measure(name "-twice", run, pages, 2 * n);                               \
	} while (0)

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 60;

	make_ring();
	area = aligned_alloc(PAGE, 1024 * PAGE);
	CASE("spin", spin, 2);
	CASE("chase", follow, 2);
	CASE("store", store, 2);
	CASE("pairs", pairs, 2);
	CASE("walk", walk, 2 * n + 2);
	printf("%lu\n", (unsigned long)(v + w));
	return 0;
}
