/* SPDX-License-Identifier: MIT
 *
 * Forks while another thread is in a walk through the loaded objects that a marker of
 * its began, and holds the dynamic linker's lock.  The child walks as well: prints
 * whether it came back.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int visitor(struct dl_phdr_info *, size_t, void *);

static __thread int marks;
static volatile int inside;

static int stay(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info;
	(void)size;
	(void)context;
	inside = 1;
	usleep(200000);
	return 1;
}

static int real(visitor *callback, void *context)
{
	int (*next)(visitor *, void *);

	*(void **)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	return next(callback, context);
}

/* The library's walks come here. */
int dl_iterate_phdr(visitor *callback, void *context)
{
	if (marks && !inside)
		real(stay, NULL);
	return real(callback, context);
}

static void *work(void *argument)
{
	void (*start)(const char *);

	*(void **)&start = dlsym(RTLD_DEFAULT, "ps_tool_start_string");
	marks = 1;
	if (start)
		start("walked");
	inside = 1; /* without the library, too */
	return argument;
}

static int count(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info;
	(void)size;
	++*(int *)context;
	return 0;
}

int main(void)
{
	int status, objects = 0;
	pthread_t thread;
	pid_t child;

	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	while (!inside)
		usleep(1000);
	child = fork();
	if (child == 0) {
		alarm(20);
		real(count, &objects);
		_exit(objects == 0);
	}
	waitpid(child, &status, 0);
	pthread_join(thread, NULL);
	printf("the child %s\n", status == 0 ? "walked" : "hung");
	return 0;
}
