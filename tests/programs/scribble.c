/* SPDX-License-Identifier: MIT
 *	scribble WHAT
 * Spoils memory that is its own and that the library has seen, and goes on: touches
 * pages, forks, begins a thread, starts itself as "scribble leaf" in two ways, and
 * returns 3.  WHAT:
 *	nothing      to compare with
 *	shortened    the array of arguments ends early
 *	pointers     the arrays of arguments and variables point nowhere
 *	strings      what they pointed to is overwritten
 *	unmapped     and its pages are gone, as far as they hold nothing else
 *	variable     a variable lies in memory that is gone
 *	library      a library that has regions is closed, and opened elsewhere
 */
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fresh.h"
#include "cachepeek.h"

#define NOWHERE ((char *)8)

extern char **environ;

static char path[4096];
static char *leaf[] = {path, "leaf", NULL};

/* ---- what is spoilt ---- */

static int argc;
static char **argv, **given; /* as the kernel laid them out */

/* A program that changes what it was given has copies of what it needs. */
static void copy_environment(void)
{
	size_t count = 0;

	while (given[count])
		count++;
	environ = calloc(count + 1, sizeof(*environ));
	if (!environ)
		abort();
	for (size_t i = 0; i < count; i++)
		environ[i] = strdup(given[i]);
}

static void shorten(void)
{
	argv[1] = NULL;
}

/* As sendmail does, and others that take all from the first argument to the last
 * variable for one area. */
static char *last_byte(void)
{
	char *last = argv[argc - 1];

	for (size_t i = 0; given[i]; i++)
		last = given[i];
	return last + strlen(last);
}

static void lose_pointers(void)
{
	copy_environment();
	for (int i = 0; i < argc; i++)
		argv[i] = NOWHERE;
	for (size_t i = 0; given[i]; i++)
		given[i] = NOWHERE;
}

static void overwrite(void)
{
	char *first = argv[0], *last = last_byte();

	copy_environment();
	memset(first, 'x', (size_t)(last - first));
}

static void unmap(void)
{
	uintptr_t first = (uintptr_t)argv[0], last = (uintptr_t)last_byte();

	overwrite();
	first = (first + PAGE - 1) / PAGE * PAGE;
	last = last / PAGE * PAGE;
	if (last <= first || munmap((void *)first, last - first) < 0)
		abort();
}

static void lose_variable(void)
{
	char *page = (char *)(uintptr_t)fresh(PAGE);

	strcpy(page, "NO_COLOR=1");
	putenv(page);
	munmap(page, PAGE);
	for (size_t i = 0; environ[i]; i++) /* for the programs that are started */
		if (environ[i] == page)
			environ[i] = "NO_COLOR=1";
	given[0] = page;
}

/* Nothing is mapped where it was, or nothing that can be used. */
static void close_library(void *library, int (*step)(size_t))
{
	Dl_info info;

	if (!dladdr(*(void **)&step, &info))
		abort();
	dlclose(library);
	for (char *at = info.dli_fbase; at < (char *)info.dli_fbase + 16 * PAGE;
		at += PAGE)
		mmap(at, PAGE, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static void use_libraries(void)
{
	char library[sizeof(path) + 16];

	snprintf(library, sizeof(library), "%.*slibclosed.so",
		(int)(strrchr(path, '/') + 1 - path), path);
	for (int i = 0; i < 3; i++) {
		void *handle = dlopen(library, RTLD_NOW);
		int (*step)(size_t);

		*(void **)&step = handle ? dlsym(handle, "step") : NULL;
		if (!step)
			abort();
		printf("calls of its own tool: %s\n", step(50) > 0 ? "some" : "none");
		close_library(handle, step);
	}
	fflush(stdout);
}

static const struct {
	const char *name;
	void (*spoil)(void);
} kinds[] = {
	{"nothing", NULL},
	{"shortened", shorten},
	{"pointers", lose_pointers},
	{"strings", overwrite},
	{"unmapped", unmap},
	{"variable", lose_variable},
	{"library", use_libraries},
};

/* ---- what is done then ---- */

static void touch(size_t pages)
{
	volatile char *at;

	if (!pages)
		return;
	at = fresh(pages * PAGE);
	store_each(at, pages, PAGE);
	munmap((void *)(uintptr_t)at, pages * PAGE);
}

/* First with nothing in it: what a region needs is there from then on. */
static void count(const char *name, size_t pages)
{
	cachepeek_region region = cachepeek_region_register(name);

	for (size_t n = 0; n <= pages; n += pages) {
		cachepeek_begin(region);
		touch(n);
		cachepeek_end(region);
	}
}

static void *in_thread(void *unused)
{
	count("thread", 200);
	return unused;
}

static void wait_for(const char *what, pid_t pid)
{
	int status = -1;

	if (waitpid(pid, &status, 0) != pid)
		status = -1;
	printf("%s %x\n", what, (unsigned)status);
	fflush(stdout);
}

static int carry_on(void)
{
	pthread_t thread;
	pid_t pid;

	count("parent", 100);
	pid = fork();
	if (pid == 0) {
		touch(1); /* what that writes besides is the child's own then */
		count("child", 300);
		exit(7);
	}
	wait_for("fork", pid);
	if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
		pthread_join(thread, NULL);
	pid = fork();
	if (pid == 0) {
		execve(path, leaf, environ);
		_exit(99);
	}
	wait_for("exec", pid);
	if (posix_spawn(&pid, path, NULL, NULL, leaf, environ) == 0)
		wait_for("spawn", pid);
	return 3;
}

int main(int words_given, char **words, char **envp)
{
	const char *what = words_given > 1 ? words[1] : "leaf";
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	argc = words_given;
	argv = words;
	given = envp;
	touch(1); /* what it calls is resolved from then on */
	if (length <= 0)
		return 98;
	if (!strcmp(what, "leaf")) {
		count("leaf", 400);
		return 5;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(what, kinds[i].name))
			continue;
		if (kinds[i].spoil)
			kinds[i].spoil();
		return carry_on();
	}
	return 97;
}
