// SPDX-License-Identifier: MIT
// Page faults whose number is known, by what is in the page: prints, for each, its
// name and its pages.
//	faulted [THREADS]
#include <alloca.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES(n) ((size_t)(n)*PAGE)
#define ON_PAGES __attribute__((aligned(PAGE)))
#define MAX_THREADS 64
#define NOT_INLINED __attribute__((noinline, noclone))

ON_PAGES char a_global[PAGES(21)];
static ON_PAGES char a_static[PAGES(22)];
ON_PAGES char initialized[PAGES(23)] = {1};
static ON_PAGES __thread char of_thread[PAGES(24)];

static pthread_barrier_t barrier;

/* One store to each page of it that is not there yet. */
static NOT_INLINED void touch(volatile char *at, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		at[i] = 1; /* the fault */
}

/* The same for a share: of thread i, of n. */
static void touch_share(char *at, size_t size, size_t i, size_t n)
{
	for (; i < size / PAGE; i += n)
		touch(at + i * PAGE, PAGE);
}

static NOT_INLINED void in_function(size_t i, size_t n)
{
	static ON_PAGES char local_static[PAGES(25)];

	touch_share(local_static, sizeof(local_static), i, n);
}

/* An arena that is made for a block has room for it, and then its first page is the
 * arena's: glibc 2.43 makes none before a thread's first block. */
static NOT_INLINED void make_arena(void)
{
	void *volatile block = malloc(1);

	free(block);
}

/* malloc has mapped a block by itself, with its own words in front. */
static void check_mapped(const void *block)
{
	if ((uintptr_t)block % PAGE != 2 * sizeof(size_t))
		fprintf(stderr, "faulted: %p is in an arena\n", block);
}

/* The first page of each block is malloc's to touch. */
static NOT_INLINED void blocks(void)
{
	char *first = malloc(PAGES(64)), *second; /* the first block */
	void *aligned = NULL, *gone, *mapped;
	uintptr_t where;

	check_mapped(first);
	touch(first, PAGES(64));
	second = calloc(65, PAGE); /* the second block */
	touch(second, PAGES(65));
	free(first);
	first = malloc(PAGES(66)); /* the third block */
	touch(first, PAGES(66));
	if (posix_memalign(&aligned, PAGE, PAGES(67)) == 0) /* the aligned block */
		touch(aligned, PAGES(67));
	gone = malloc(PAGES(70)); /* the freed block */
	where = (uintptr_t)gone & ~(uintptr_t)(PAGE - 1);
	free(gone);
	/* Where it was, unless another thread is faster. */
	mapped = mmap((void *)where, PAGES(70), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapped != MAP_FAILED)
		touch(mapped, PAGES(70));
	second = realloc(second, PAGES(95)); /* the larger block */
	touch(second + PAGES(65), PAGES(30));
}

/* Pages below what has been in use. */
static NOT_INLINED void stack(void)
{
	char *at = alloca(PAGES(50));

	at = (char *)(((uintptr_t)at + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	touch(at, PAGES(40));
}

static void *work(void *number)
{
	static int count;
	size_t i = (size_t)(uintptr_t)number & 0xff, n = (size_t)(uintptr_t)number >> 8;

	make_arena();
	pthread_barrier_wait(&barrier);
	touch_share(a_global, sizeof(a_global), i, n);
	touch_share(a_static, sizeof(a_static), i, n);
	touch_share(initialized, sizeof(initialized), i, n);
	in_function(i, n);
	touch(of_thread, sizeof(of_thread));
	stack();
	blocks();
	__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
	pthread_barrier_wait(&barrier);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	size_t n = argc > 1 ? (size_t)atoi(argv[1]) : 4;

	if (sysconf(_SC_PAGESIZE) != PAGE || n > MAX_THREADS)
		return 77;
	/* A page for each fault; and each block has memory of its own, always. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	mallopt(M_MMAP_THRESHOLD, (int)PAGES(32));
	mallopt(M_TRIM_THRESHOLD, 0);
	pthread_barrier_init(&barrier, NULL, (unsigned)n);
	for (size_t i = 0; i < n; i++)
		if (pthread_create(
			    &threads[i], NULL, work, (void *)(uintptr_t)(n << 8 | i)))
			return 1;
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
