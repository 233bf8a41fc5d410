/* SPDX-License-Identifier: MIT
 *
 * A run record, as somebody else may have left it: read, made into a report,
 * written in each format.  The report reads a file by its name; a copy of the
 * bytes, of exactly their size, is parsed as well, where the sanitizer sees
 * each byte too many.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/out.h"
#include "output/json.h"
#include "output/report/report.h"
#include "output/text/text.h"
#include "regions/record_read.h"
#include "tests/fuzz/words.h"

static int file = -1, sink = -1;
static char path[64];

static void remove_file(void)
{
	unlink(path);
}

static void open_once(void)
{
	if (file >= 0)
		return;
	snprintf(path, sizeof(path), "/dev/shm/fuzz-%d.rec", (int)getpid());
	file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (file < 0 || sink < 0)
		abort();
	atexit(remove_file);
}

static void parse(const uint8_t *data, size_t size)
{
	void *bytes = fuzz_text(data, size);
	struct cp_arena arena = {.give_up = abort};
	struct cp_record record;
	char error[256];

	if (cp_record_parse(&arena, bytes, size, &record, error, sizeof(error)) == 0) {
		fuzz_read(cp_record_meta(&record, "command", NULL));
		for (size_t i = 0; i < record.nregions; i++)
			cp_record_region(&record, record.regions[i]->parent);
	}
	cp_arena_free(&arena);
	free(bytes);
}

static void report(void)
{
	const char *paths[] = {path};
	struct cp_text_options options = {.width = 80};
	struct cp_arena arena = {.give_up = abort};
	const struct cp_report *built;
	struct cp_out out;
	char error[256];

	built = cp_report_build(&arena, paths, 1, error, sizeof(error));
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
	open_once();
	parse(data, size);
	if (ftruncate(file, 0) < 0 || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	report();
	return 0;
}
