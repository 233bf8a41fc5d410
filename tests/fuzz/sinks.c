/* SPDX-License-Identifier: MIT
 *
 * CACHEPEEK_OUTPUT: looked at, and now and then written, to where nobody looks:
 * what the bytes name is never opened.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/files/new_file.h"
#include "output/report/report.h"
#include "tests/fuzz/fuzz.h"

static unsigned turns;

/* Every fourth cannot be opened, or made. */
static const char *open_nothing(struct cp_new_file *file, const char *path)
{
	fuzz_read(path);
	file->fresh[0] = '\0';
	file->fd = ++turns % 4 ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
	return file->fd < 0 ? "every fourth" : NULL;
}

static int make_nothing(const char *path)
{
	fuzz_read(path);
	return ++turns % 4 ? 0 : -1;
}

#define cp_new_file_open(file, path, wait) ((void)(wait), open_nothing(file, path))
#define mkdir(path, mode) make_nothing(path)
#include "output/sink.c"
#undef cp_new_file_open
#undef mkdir

static void say(void *context, const char *line)
{
	(void)context;
	fuzz_read(line);
}

/* The report of a seed of records; NULL where that is not at hand. */
static const struct cp_report *any_report(void)
{
	static const char *const paths[] = {"tests/fuzz/seeds/record/perf"};
	static const struct cp_report *report;
	static struct cp_arena arena = {.give_up = abort};
	char error[200];

	if (!report)
		report = cp_report_build(&arena, paths, 1, error, sizeof(error));
	return report;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct cp_sink_context context = {.stderr_fd = size % 3 ? null : -1,
		.stdout_fd = null,
		.host = size % 2 ? "host/with/slashes" : NULL,
		.exe = "/usr/bin/exe",
		.pid = 12345,
		.rank = (int)(size % 7) - 1,
		.complain = say};
	struct cp_arena arena = {.give_up = abort};

	cp_sinks_check(text, &context);
	if (size % 64 == 0 && any_report())
		cp_sinks_write(&arena, any_report(), text, &context);
	cp_arena_free(&arena);
	close(null);
	free(text);
	return 0;
}
