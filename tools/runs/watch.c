/* SPDX-License-Identifier: MIT */
#include "tools/runs/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/files/directory.h"
#include "base/text.h"
#include "base/files/trusted.h"
#include "base/counters/options.h"
#include "regions/record.h"
#include "tools/shared/cmd.h"
#include "tools/sim/request.h"

#define PATIENCE_MS 2000 /* shorter runs need no progress */
#define PROGRESS_MS 1000
#define LONGEST_MS 120000

/* An estimate of the instructions per second that the program alone would execute. */
#define ALONE_PER_SECOND 2e9

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- OpenMetrics ---- */

static bool ends_in_prom(const char *name, size_t length)
{
	return length > 5 && memcmp(name + length - 5, ".prom", 5) == 0;
}

static char *metrics_files(const char *outputs)
{
	char *found = NULL, *longer;
	const char *piece;
	size_t length;

	while (outputs && (piece = cp_next_piece(&outputs, ',', &length))) {
		if (!ends_in_prom(piece, length) ||
			asprintf(&longer, "%s%s%.*s", found ? found : "",
				found ? "," : "", (int)length, piece) < 0)
			continue;
		free(found);
		found = longer;
	}
	return found;
}

/* ---- progress ---- */

struct progress {
	double instructions;         /* of all that is simulated */
	double running, cpu_seconds; /* of what still runs */
};

static double cpu_seconds(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
		return 0;
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static void add_header(struct progress *progress, int fd)
{
	struct cp_record_header header;
	double instructions, seconds;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
		memcmp(header.magic, CP_RECORD_MAGIC, sizeof(header.magic)) != 0 ||
		header.engine != CP_ENGINE_SIM)
		return;
	instructions = (double)header.process[CP_SIM_instructions];
	progress->instructions += instructions;
	seconds = header.how == CP_HOW_RUNNING ? cpu_seconds(header.pid) : 0;
	if (seconds <= 0)
		return;
	progress->running += instructions;
	progress->cpu_seconds += seconds;
}

static bool add_record(void *progress, int dir, const char *name)
{
	char why[160];
	int fd = cp_trusted_open(dir, name, CP_FOUND, UINT64_MAX, why, sizeof(why));

	if (fd >= 0) {
		add_header(progress, fd);
		close(fd);
	}
	return false;
}

static struct progress progress_of(const char *directory)
{
	struct progress progress = {0, 0, 0};

	cp_directory_each(directory, ".rec", add_record, &progress);
	return progress;
}

/* Neither from the background, nor into the screen of an editor. */
static bool may_write(int fd)
{
	struct termios mode;

	return tcgetattr(fd, &mode) == 0 && (mode.c_lflag & ICANON) &&
	       tcgetpgrp(fd) == getpgrp();
}

static void show_progress(struct cp_watch *watch, int64_t now)
{
	struct progress progress = progress_of(watch->directory);
	double alone = progress.running / ALONE_PER_SECOND;
	char slower[64] = "";

	if (progress.instructions <= 0 || !may_write(watch->fd))
		return;
	if (alone > 0.001)
		snprintf(slower, sizeof(slower), ", about %.0f times slower",
			progress.cpu_seconds / alone);
	dprintf(watch->fd,
		"%scachepeek: %s%.0f s, %.4g million instructions simulated%s%s",
		watch->in_place ? "\r\033[K" : "", watch->what,
		(double)(now - watch->start_ms) / 1000, progress.instructions / 1e6,
		slower, watch->in_place ? "" : "\n");
	watch->shown = true;
}

/* Where the program writes to the same terminal nothing is taken back, so that
 * nothing of the program's is: a line now and then. */
static int64_t next_progress(const struct cp_watch *watch, int64_t now)
{
	int64_t so_far = now - watch->start_ms;

	if (watch->in_place)
		return now + PROGRESS_MS;
	return now + (so_far < LONGEST_MS ? so_far : LONGEST_MS);
}

/* ---- the loop ---- */

static void ignore_line(void *context, const char *line)
{
	(void)context;
	(void)line; /* the library has said it */
}

void cp_watch_show_on(struct cp_watch *watch, int fd)
{
	watch->fd = fd;
	watch->terminal = isatty(fd);
}

void cp_watch_start(struct cp_watch *watch, const char *directory, const char *what)
{
	extern char **environ;
	struct cp_options options;

	memset(watch, 0, sizeof(*watch));
	cp_options_read(&options, environ, ignore_line, NULL);
	watch->directory = directory;
	watch->what = what;
	watch->start_ms = now_ms();
	watch->interval_ms = options.interval;
	if (options.interval)
		watch->metrics = metrics_files(options.output);
	cp_watch_show_on(watch, STDERR_FILENO);
	watch->in_place = !isatty(STDOUT_FILENO);
	watch->next_metrics_ms = watch->start_ms + options.interval;
	watch->next_progress_ms = watch->start_ms + PATIENCE_MS;
}

static int64_t next_of(const struct cp_watch *watch)
{
	int64_t next = INT64_MAX;

	if (watch->metrics)
		next = watch->next_metrics_ms;
	if (watch->terminal && watch->next_progress_ms < next)
		next = watch->next_progress_ms;
	return next;
}

static void do_what_is_due(struct cp_watch *watch, pid_t pid)
{
	int64_t now = now_ms();

	if (watch->metrics && now >= watch->next_metrics_ms) {
		cp_report_now(watch->directory, pid, watch->metrics);
		watch->next_metrics_ms = now + watch->interval_ms;
	}
	if (watch->terminal && now >= watch->next_progress_ms) {
		show_progress(watch, now);
		watch->next_progress_ms = next_progress(watch, now);
	}
}

void cp_watch_process(struct cp_watch *watch, pid_t pid)
{
	struct pollfd end = {.events = POLLIN};

	if (next_of(watch) == INT64_MAX)
		return;
	end.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	while (end.fd >= 0) {
		int64_t left = next_of(watch) - now_ms();

		if (poll(&end, 1, left > 0 ? (int)left : 0) > 0)
			break;
		do_what_is_due(watch, pid);
	}
	if (end.fd >= 0)
		close(end.fd);
}

void cp_watch_end(struct cp_watch *watch)
{
	if (watch->shown && watch->in_place && may_write(watch->fd))
		dprintf(watch->fd, "\r\033[K");
	free(watch->metrics);
	watch->metrics = NULL;
}
