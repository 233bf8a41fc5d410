// SPDX-License-Identifier: MIT
// Misses whose places are known: each part makes LINES of them, in a line of its
// own, on memory that nobody has touched yet.
//	profiled [parts...]: load store thread library jit fork data kill
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES 4096
#define SIZE ((size_t)LINES * 64)

static volatile int sink;

static volatile char *fresh(void)
{
	void *memory = mmap(
		NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

static __attribute__((noinline)) void load_lines(const volatile char *at)
{
	for (size_t i = 0; i < SIZE; i += 64)
		sink += at[i]; /* the load */
}

static __attribute__((noinline)) void store_lines(volatile char *at)
{
	for (size_t i = 0; i < SIZE; i += 64)
		at[i] = 1; /* the store */
}

static inline __attribute__((always_inline)) int inner(const volatile char *at, size_t i)
{
	return at[i]; /* the inlined load */
}

static __attribute__((noinline)) void *in_thread(void *at)
{
	for (size_t i = 0; i < SIZE; i += 64)
		sink += inner(at, i); /* the call */
	return NULL;
}

static void thread(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, in_thread, (void *)(unsigned long)fresh()) == 0)
		pthread_join(other, NULL);
}

/* Twice, each time for half of the lines, wherever it is loaded. */
static void library(const char *self)
{
	char path[4096];
	const char *slash = strrchr(self, '/');
	volatile char *at = fresh();

	snprintf(path, sizeof(path), "%.*s/libprofiled.so", (int)(slash - self), self);
	for (int i = 0; i < 2; i++) {
		void *handle = dlopen(path, RTLD_NOW);
		int (*sum)(const volatile char *, size_t) = NULL;

		if (handle)
			*(void **)&sum = dlsym(handle, "sum_lines");
		if (!sum)
			exit(1);
		sink += sum(at + (size_t)i * (SIZE / 2), SIZE / 2);
		dlclose(handle);
	}
}

/* Code made at run time, and the map that names it. */
static void jit(void)
{
#ifdef __x86_64__
	static const unsigned char code[] = {
		0x0f, 0xbe, 0x07, 0xc3}; /* movsbl (%rdi),%eax; ret */
	volatile char *at = fresh();
	char path[64];
	int (*load)(const volatile char *);
	FILE *map;
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	memcpy(memory, code, sizeof(code));
	*(void **)&load = memory;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (map) {
		fprintf(map, "%lx %zx jitted load\n", (unsigned long)memory,
			sizeof(code));
		fclose(map);
	}
	for (size_t i = 0; i < SIZE; i += 64)
		sink += load(at + i);
#endif
}

static void fork_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		store_lines(fresh());
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static char global_table[SIZE];

static __attribute__((noinline)) void in_function(void)
{
	static char local_table[SIZE];

	store_lines(local_table);
}

/* Blocks, each by a call of its own; the second malloc has what the first gave
 * back. */
static __attribute__((noinline)) void heap(void)
{
	char *block = malloc(SIZE); /* the first malloc */
	void *aligned = NULL;

	store_lines(block);
	free(block);
	block = malloc(SIZE); /* the second malloc */
	store_lines(block);
	free(block);
	block = calloc(SIZE / 64, 64); /* the calloc */
	store_lines(block);
	block = realloc(block, 2 * SIZE); /* the realloc */
	store_lines(block + SIZE);
	free(block);
	if (posix_memalign(&aligned, 4096, SIZE) == 0) /* the aligned block */
		store_lines(aligned);
	free(aligned);
	for (int i = 0; i < LINES; i++) {
		volatile char *small = malloc(176); /* the small blocks */

		small[100] = 1; /* no line that malloc wrote to */
	}
}

static void *on_stack(void *unused)
{
	volatile char buffer[SIZE];

	store_lines(buffer);
	return unused;
}

static void stack(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, on_stack, NULL) == 0)
		pthread_join(other, NULL);
}

static void file(void)
{
	char path[] = "/tmp/profiled-XXXXXX";
	int fd = mkstemp(path);
	void *memory;

	if (fd < 0 || ftruncate(fd, SIZE) != 0)
		exit(1);
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		exit(1);
	store_lines(memory);
	unlink(path);
}

static void data(void)
{
	store_lines(global_table);
	in_function();
	heap();
	stack();
	file();
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "load") == 0)
			load_lines(fresh());
		else if (strcmp(argv[i], "store") == 0)
			store_lines(fresh());
		else if (strcmp(argv[i], "thread") == 0)
			thread();
		else if (strcmp(argv[i], "library") == 0)
			library(argv[0]);
		else if (strcmp(argv[i], "jit") == 0)
			jit();
		else if (strcmp(argv[i], "fork") == 0)
			fork_child();
		else if (strcmp(argv[i], "data") == 0)
			data();
		else if (strcmp(argv[i], "kill") == 0)
			raise(SIGKILL);
	}
	printf("%d\n", getpid());
	return 0;
}
