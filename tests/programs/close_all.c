/* SPDX-License-Identifier: MIT
 *	close_all HOW PAGES [COUNT]
 * Takes every descriptor but stdout away from whoever has it, opens files in
 * their place, and touches PAGES fresh pages in the region "touch" of each of
 * two threads that were there before.  Prints what a program can see of that.
 *
 * loop, closefrom, range, unshare, walk: closes them.
 * dup2, dup3: puts a file on every number that is open.
 * busy: the same while the other thread is in one region after the other;
 * first-region: while it is in its first.
 * take: on the first COUNT numbers from 3 on.
 * vfork: closes them in a vfork child; vfork-dup2: occupies them there;
 * vfork-range: closes them there at once, and counts those that it still has.
 * vain: nothing, on every number that is open.
 * raw: by system calls of its own.  first: nothing; prints where a file comes first.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachepeek.h"
#include "fresh.h"

enum { MOST = 100000 };

static pthread_barrier_t barrier;
static size_t pages;
static int given;
static volatile bool warm, busy;

static void touch(void)
{
	volatile char *memory = fresh(pages * PAGE);

	CACHEPEEK_BEGIN("warm");
	store_each(memory, 0, PAGE);
	CACHEPEEK_END("warm");
	CACHEPEEK_BEGIN("touch");
	store_each(memory, pages, PAGE);
	CACHEPEEK_END("touch");
}

static void one_region(void)
{
	CACHEPEEK_BEGIN("busy");
	CACHEPEEK_END("busy");
}

static void *worker(void *unused)
{
	if (warm)
		one_region();
	pthread_barrier_wait(&barrier);
	while (busy)
		one_region();
	pthread_barrier_wait(&barrier);
	touch();
	return unused;
}

/* The open numbers above stdout, as /proc has them. */
static int list(int numbers[])
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int count = 0;

	while (dir && (entry = readdir(dir)))
		if (atoi(entry->d_name) > 1 && atoi(entry->d_name) != dirfd(dir))
			numbers[count++] = atoi(entry->d_name);
	closedir(dir);
	return count;
}

/* How many were open, in thousands, and how many closes succeeded. */
static int close_up_to(long last)
{
	int closed = 0;

	for (int fd = 2; fd <= last; fd++) {
		closed += fcntl(fd, F_GETFD) >= 0 ? 1000 : 0;
		closed += close(fd) == 0;
	}
	return closed;
}

static int walk(void)
{
	static int numbers[MOST];
	int count = list(numbers), closed = 0;

	for (int i = 0; i < count; i++) {
		closed += dup2(numbers[i], numbers[i]) >= 0 ? 1000 : 0;
		closed += fcntl(numbers[i], F_GETFD) >= 0 && close(numbers[i]) == 0;
	}
	return closed;
}

static void put(int file, int to, bool dup3_)
{
	int result = dup3_ ? dup3(file, to, O_CLOEXEC) : dup2(file, to);

	if (result != to)
		printf("%d instead of %d: %s\n", result, to, strerror(errno));
}

/* Puts a file on what list() finds, or on count numbers. */
static int occupy(bool dup3_, int count)
{
	static int numbers[MOST];
	int file = open("/proc/self/comm", O_RDONLY);
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 0; i < count; i++)
		numbers[i] = 3 + i;
	if (!count)
		count = list(numbers);
	for (int i = 0; i < count; i++)
		if (numbers[i] != file && (rlim_t)numbers[i] < limit.rlim_cur)
			put(file, numbers[i], dup3_);
	return file;
}

static int left_by_range(void)
{
	static int numbers[MOST];

	close_range(2, ~0U, 0);
	return list(numbers);
}

static int in_vfork_child(const char *how)
{
	pid_t pid = vfork();
	int status = -1;

	if (pid == 0) {
		if (strcmp(how, "-range") == 0)
			_exit(left_by_range());
		if (strcmp(how, "-dup2") == 0)
			occupy(false, 0);
		else
			walk();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* While there is no other number. */
static int take_in_vain(void)
{
	static int numbers[MOST], files[MOST];
	int count = list(numbers), opened = 0, taken = 0;

	while ((files[opened] = open("/proc/self/comm", O_RDONLY)) >= 0)
		opened++;
	for (int i = 0; i < count; i++)
		taken += dup2(-1, numbers[i]) >= 0;
	while (opened > 0)
		close(files[--opened]);
	return taken;
}

static int raw(void)
{
	return (int)syscall(SYS_close_range, 2, ~0U, 0);
}

static int take_away(const char *how)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (strcmp(how, "loop") == 0)
		return close_up_to((long)limit.rlim_cur + 1000);
	if (strcmp(how, "closefrom") == 0)
		closefrom(2);
	if (strcmp(how, "range") == 0)
		return close_range(2, ~0U, 0);
	if (strcmp(how, "unshare") == 0)
		return close_range(2, ~0U, CLOSE_RANGE_UNSHARE);
	if (strcmp(how, "walk") == 0)
		return walk();
	if (strncmp(how, "vfork", 5) == 0)
		return in_vfork_child(how + 5);
	if (strcmp(how, "vain") == 0)
		return take_in_vain();
	if (strcmp(how, "raw") == 0)
		return raw();
	if (busy || strcmp(how, "take") == 0 || strncmp(how, "dup", 3) == 0)
		return occupy(strcmp(how, "dup3") == 0, given);
	return 0;
}

/* Files of the program's own: their numbers, and that nobody reads from them. */
static void open_files(int files[], int count)
{
	for (int i = 0; i < count; i++) {
		files[i] = open("/proc/self/comm", O_RDONLY);
		printf("%d ", files[i]);
	}
	printf("opened\n");
}

static int moved(const int files[], int count, int taken)
{
	int wrong = taken > 2 && lseek(taken, 0, SEEK_CUR) != 0;

	for (int i = 0; i < count; i++)
		wrong += lseek(files[i], 0, SEEK_CUR) != 0;
	return wrong;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int files[40], taken;

	if (argc > 1 && strcmp(argv[1], "first") == 0) {
		printf("%d\n", open("/proc/self/comm", O_RDONLY));
		return 0;
	}
	pages = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
	given = argc > 3 ? atoi(argv[3]) : 0;
	warm = argc > 1 && strcmp(argv[1], "busy") == 0;
	busy = warm || (argc > 1 && strcmp(argv[1], "first-region") == 0);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_barrier_wait(&barrier);
	taken = take_away(argc > 1 ? argv[1] : "");
	printf("%d\n", taken);
	busy = false;
	open_files(files, 40);
	pthread_barrier_wait(&barrier);
	touch();
	pthread_join(thread, NULL);
	printf("%d files were read by somebody else\n", moved(files, 40, taken));
	return 0;
}
