/* SPDX-License-Identifier: MIT
 *
 * The record of a rank, as somebody else may have left it, alone and with that of another
 * rank, before it and behind it: the report of a job, in each format.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/out.h"
#include "output/json.h"
#include "output/report/job.h"
#include "output/text/text.h"
#include "tests/fuzz/words.h"

/* Beside the Makefile, where make fuzz runs. */
#define OTHERS "tests/fuzz/seeds/record"

static int file = -1, sink = -1;
static char path[64], others[16][300];
static size_t nothers;

static void remove_file(void)
{
	unlink(path);
}

static void open_once(void)
{
	DIR *directory;
	const struct dirent *entry;

	if (file >= 0)
		return;
	snprintf(path, sizeof(path), "/dev/shm/fuzz-merge-%d.rec", (int)getpid());
	file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
	directory = opendir(OTHERS);
	if (file < 0 || sink < 0 || !directory)
		abort();
	atexit(remove_file);
	while ((entry = readdir(directory)) && nothers < 16)
		if (entry->d_name[0] != '.')
			snprintf(others[nothers++], sizeof(others[0]), OTHERS "/%s",
				entry->d_name);
	closedir(directory);
}

static const struct cp_report *merge(
	struct cp_arena *arena, const char *first, const char *second)
{
	struct cp_job *job = cp_job_new(arena);
	char error[256];

	cp_job_add(job, &first, 1, error, sizeof(error));
	if (second)
		cp_job_add(job, &second, 1, error, sizeof(error));
	return cp_job_finish(job);
}

static void report(const char *first, const char *second)
{
	struct cp_text_options options = {.width = 80};
	struct cp_arena arena = {.give_up = abort};
	const struct cp_report *built = merge(&arena, first, second);
	struct cp_out out;

	if (built) {
		cp_out_open(&out, sink);
		cp_json_write(&out, built);
		cp_text_write(&out, &arena, built, &options);
		cp_out_flush(&out);
	}
	cp_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *other;

	open_once();
	if (ftruncate(file, 0) < 0 || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	other = nothers ? others[size % nothers] : NULL;
	report(path, NULL);
	report(path, path);
	if (other) {
		report(path, other);
		report(other, path);
	}
	return 0;
}
