/* SPDX-License-Identifier: MIT */
#include "tools/runs/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/syscall.h"
#include "base/text.h"
#include "base/files/trusted.h"
#include "regions/record.h"
#include "regions/rundir.h"
#include "tools/shared/cmd.h"
#include "tools/runs/watch.h"

/* ---- totals of the whole tree ---- */

static const struct {
	const char *name;
	uint64_t config;
} events[] = {
	{"perf::PAGE-FAULTS", PERF_COUNT_SW_PAGE_FAULTS},
	{"perf::MINOR-FAULTS", PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"perf::MAJOR-FAULTS", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"perf::CONTEXT-SWITCHES", PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"perf::CPU-MIGRATIONS", PERF_COUNT_SW_CPU_MIGRATIONS},
	{"perf::TASK-CLOCK", PERF_COUNT_SW_TASK_CLOCK},
};
#define NEVENTS (sizeof(events) / sizeof(events[0]))

/* Kernel mode included, as wait4 has it: where that is not allowed there are
 * no totals, rather than others under the same name.  Inherited events cannot
 * be in the way of the library's: these need no counter of the PMU. */
static void open_events(pid_t pid, int fds[NEVENTS])
{
	for (size_t i = 0; i < NEVENTS; i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = sizeof(attr),
			.config = events[i].config,
			.disabled = 1,
			.inherit = 1,
			.enable_on_exec = 1,
			.exclude_hv = 1,
		};

		fds[i] = (int)cp_syscall(
			SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
}

static void add_total(struct cp_launch *launch, const char *name, uint64_t value)
{
	launch->totals[launch->ntotals].name = name;
	launch->totals[launch->ntotals++].value = value;
}

static void read_events(struct cp_launch *launch, int fds[NEVENTS])
{
	for (size_t i = 0; i < NEVENTS; i++) {
		uint64_t value;

		if (fds[i] < 0)
			continue;
		if (read(fds[i], &value, sizeof(value)) == sizeof(value))
			add_total(launch, events[i].name, value);
		close(fds[i]);
	}
}

/* ---- signals ---- */

static pid_t child; /* for the handler; 0: none runs */

static void pass_on(int number)
{
	int saved = errno;

	/* 0 and -1 would be whole groups of processes. */
	if (child > 0)
		kill(child, number);
	errno = saved;
}

/* The terminal sends its signals to the program as well; what is ignored stays
 * so. */
static void prepare_signals(void)
{
	static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
	struct sigaction action = {.sa_handler = SIG_IGN}, old;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGQUIT, &action, NULL);
	action.sa_handler = SIG_DFL; /* ignored, it would take the status away */
	sigaction(SIGCHLD, &action, NULL);
	action.sa_handler = pass_on;
	action.sa_flags = SA_RESTART;
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		if (sigaction(passed[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(passed[i], &action, NULL);
}

/* ---- the program ---- */

/* The state that parent and child share until the exec. */
struct start {
	int go[2];             /* closed when the events are open */
	int failed[2];         /* errno of the exec, or nothing */
	struct rusage *before; /* shared memory: the child's, at its exec */
};

static int prepare_start(struct start *start)
{
	start->before = mmap(NULL, sizeof(*start->before), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (start->before == MAP_FAILED)
		return -errno;
	if (pipe2(start->go, O_CLOEXEC) < 0)
		return -errno;
	return pipe2(start->failed, O_CLOEXEC) < 0 ? -errno : 0;
}

static void close_end(int *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

static void end_start(struct start *start)
{
	for (int i = 0; i < 2; i++) {
		close_end(&start->go[i]);
		close_end(&start->failed[i]);
	}
	if (start->before != MAP_FAILED)
		munmap(start->before, sizeof(*start->before));
}

static void run_child(const struct start *start, char *const argv[])
{
	char byte;
	int error;

	close(start->go[1]);
	while (read(start->go[0], &byte, 1) < 0 && errno == EINTR)
		;
	getrusage(RUSAGE_SELF, start->before);
	execvp(argv[0], argv);
	error = errno;
	if (write(start->failed[1], &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static int wait_for_exec(struct start *start)
{
	int error = 0;
	ssize_t n;

	close_end(&start->go[0]);
	close_end(&start->failed[1]);
	close_end(&start->go[1]);
	do
		n = read(start->failed[0], &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	return n == sizeof(error) ? -error : 0;
}

static void wait_for_end(struct cp_launch *launch, const struct rusage *before)
{
	struct rusage usage;

	while (wait4(launch->pid, &launch->status, 0, &usage) < 0)
		if (errno != EINTR)
			return;
	add_total(launch, "rusage::MINOR-FAULTS",
		(uint64_t)(usage.ru_minflt - before->ru_minflt));
	add_total(launch, "rusage::MAJOR-FAULTS",
		(uint64_t)(usage.ru_majflt - before->ru_majflt));
}

int cp_launch(struct cp_launch *launch, char *const argv[], struct cp_watch *watch)
{
	struct start start = {{-1, -1}, {-1, -1}, NULL};
	int fds[NEVENTS], result;

	memset(launch, 0, sizeof(*launch));
	result = prepare_start(&start);
	if (result != 0) {
		end_start(&start);
		return result;
	}
	fflush(NULL);
	launch->pid = fork();
	if (launch->pid == 0)
		run_child(&start, argv);
	if (launch->pid < 0) {
		result = -errno;
		end_start(&start);
		return result;
	}
	child = launch->pid;
	prepare_signals();
	open_events(child, fds);
	result = wait_for_exec(&start);
	if (watch && result == 0)
		cp_watch_process(watch, child);
	wait_for_end(launch, start.before);
	child = 0;
	end_start(&start);
	read_events(launch, fds);
	if (watch)
		cp_watch_end(watch);
	return result;
}

/* ---- what the record could not know ---- */

/* IMAGE of "PID-IMAGE.rec" or "PID-IMAGE.JOB.rec"; -1: the file is another process's. */
static long image_of(const char *name, pid_t pid)
{
	const char *end;
	uint64_t number, image;

	if (!cp_ends_with(name, ".rec") || cp_parse_u64_prefix(name, &end, &number) < 0 ||
		number != (uint64_t)pid || *end != '-' ||
		cp_parse_u64_prefix(end + 1, &end, &image) < 0 || *end != '.' ||
		image > INT32_MAX)
		return -1;
	return (long)image;
}

static int open_last_record(pid_t pid, const char *directory)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	char last[256] = "", why[160];
	long image = -1;
	int fd = -1;

	while (dir && (entry = readdir(dir)))
		if (image_of(entry->d_name, pid) > image) {
			image = image_of(entry->d_name, pid);
			snprintf(last, sizeof(last), "%s", entry->d_name);
		}
	if (image >= 0)
		fd = openat(
			dirfd(dir), last, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 &&
		cp_trusted_check_found(fd, dirfd(dir), last, why, sizeof(why)) < 0) {
		close(fd);
		fd = -1;
	}
	if (dir)
		closedir(dir);
	return fd;
}

/* An image that became a program which nobody counts has ended as it says. */
static void correct_end(struct cp_record_header *header, int status)
{
	bool signaled = WIFSIGNALED(status);
	int code = signaled ? WTERMSIG(status) : WEXITSTATUS(status);

	if (header->how == CP_HOW_EXEC)
		return;
	if (!signaled)
		header->how = CP_HOW_EXIT;
	else if (header->how != CP_HOW_SIGNAL)
		header->how = CP_HOW_KILLED;
	header->code = code;
}

static void append_meta(
	int fd, struct cp_record_header *header, const char *key, const char *value)
{
	uint64_t room[20] = {0};
	struct cp_meta_item *item = (void *)room;
	size_t length = strlen(key) + 1, size = sizeof(room) - sizeof(*item) - length;

	memcpy(item->text, key, length);
	item->key_length = (uint32_t)length - 1;
	item->length = (uint32_t)snprintf(item->text + length, size, "%s", value);
	item->item.type = CP_ITEM_META;
	item->item.size = sizeof(room);
	if (pwrite(fd, room, sizeof(room), (off_t)header->tail) == sizeof(room))
		header->tail += sizeof(room);
}

static void append_total(
	int fd, struct cp_record_header *header, const char *name, uint64_t value)
{
	char text[80];

	snprintf(text, sizeof(text), "%s %llu", name, (unsigned long long)value);
	append_meta(fd, header, "launcher_total", text);
}

static bool is_sound(const struct cp_record_header *header)
{
	return memcmp(header->magic, CP_RECORD_MAGIC, sizeof(header->magic)) == 0 &&
	       header->version == CP_RECORD_VERSION && header->tail % 8 == 0 &&
	       header->tail >= CP_RECORD_HEADER_SIZE;
}

void cp_launch_note(const struct cp_launch *launch, const char *directory)
{
	struct cp_record_header header;
	int fd = open_last_record(launch->pid, directory);

	if (fd < 0)
		return;
	if (pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
		is_sound(&header)) {
		/* In all that ends through libc the process itself says so. */
		if (header.how == CP_HOW_RUNNING && WIFEXITED(launch->status))
			append_meta(fd, &header, "unseen_exit", "1");
		correct_end(&header, launch->status);
		/* The simulated PMU's own faults are not the program's. */
		for (unsigned i = 0;
			header.engine == CP_ENGINE_PERF && i < launch->ntotals; i++)
			append_total(fd, &header, launch->totals[i].name,
				launch->totals[i].value);
		if (pwrite(fd, &header, sizeof(header), 0) < 0)
			perror("cachepeek: the run's record");
	}
	close(fd);
}

int cp_launch_make_run(const char *wanted, char *to, size_t size)
{
	int result = cp_run_make(cp_cmd_getenv, wanted, to, size);

	if (result == 0 && !wanted && cp_run_is_first_temporary(to))
		fprintf(stderr,
			"cachepeek: without a home directory records of runs stay in %s, "
			"and %u such directories at most (CACHEPEEK_DIR chooses one)\n",
			to, CP_KEPT_RUNS);
	return result;
}
