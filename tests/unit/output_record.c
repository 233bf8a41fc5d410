/* SPDX-License-Identifier: MIT
 *
 * Reading records that are sound, cut off, foreign or hostile.  The fuzz loop
 * is meant to run under the address sanitizer.
 */
#include <errno.h>

#include "output/json.h"
#include "output/report/report.h"
#include "output/text/text.h"
#include "regions/record_read.h"
#include "tests/tap/tap.h"
#include "tests/unit/output_records.h"

#define MUTATIONS 20000
#define REPORT_EVERY 10 /* mutants that are made into reports, too */

static struct make make, mutant;

static void make_sample(void)
{
	struct cp_thread_item *thread, *lost;
	struct cp_region_item *root, *outer, *inner;

	make_begin(&make, CP_ENGINE_PERF, 4711);
	make_text(&make, "exe", "/bin/sample");
	make_meta(&make, "command", "sample\0-x\0", 10);
	make_text(&make, "line", "64");
	make_text(&make, "group",
		"@group g\n@need instructions\n@want l1d_misses\n"
		"m [ratio] = l1d_misses / instructions\n@columns m \"M\"\n@mark m\n");
	make_counter(&make, "a", 0, ~0u);
	make_counter(&make, "b", 1, ~0u);
	make_quantity(&make, "instructions", NULL, (int[]){1, 0});
	make_quantity(&make, "l1d_misses", NULL, (int[]){2, -1, 0});
	make_quantity(&make, "cycles", "no such event here", NULL);
	thread = make_thread(&make, 4711, CP_THREAD_ENDED, "main");
	lost = make_thread(&make, 4712, CP_THREAD_LOST, "worker");
	lost->reason = make_string(&make, "too many files", 14);
	root = make_region(&make, thread, NULL, NULL, 1);
	outer = make_region(&make, thread, root, "outer", 3);
	inner = make_region(&make, thread, outer, "inner", 30);
	for (uint32_t i = 0; i < 2; i++) {
		make_sum(root, i)->inclusive = 1000 * (i + 1);
		make_sum(root, i)->children = make_sum(outer, i)->inclusive =
			600 * (i + 1);
		make_sum(outer, i)->children = make_sum(inner, i)->inclusive =
			300 * (i + 1);
		*make_times(&make, root, i) = (struct cp_times){1000, 1000};
		*make_times(&make, outer, i) = (struct cp_times){500, 500};
		*make_times(&make, inner, i) = (struct cp_times){300, 300};
	}
}

static int parse(struct cp_arena *arena, const struct make *from, size_t size,
	struct cp_record *record, char *error)
{
	return cp_record_parse(arena, from->bytes, size, record, error, 200);
}

static void test_sound(void)
{
	struct cp_arena arena = {.give_up = tap_no_memory};
	struct cp_record record;
	char error[200] = "";
	size_t length;

	is_int(parse(&arena, &make, sizeof(make), &record, error), 0,
		"a sound record: %s", error);
	ok(!record.damaged, "is not damaged");
	is_int((long long)record.nthreads, 2, "threads");
	is_int((long long)record.nregions, 3, "regions");
	is_string(record.counters[1]->name, "b", "counters by index");
	is_string(record.quantities[2]->text, "cycles", "quantities by index");
	is_string(cp_record_meta(&record, "exe", NULL), "/bin/sample", "meta");
	cp_record_meta(&record, "command", &length);
	is_int((long long)length, 10, "meta with NULs has its length");
	ok(!cp_record_meta(&record, "absent", NULL), "absent meta");
	ok(cp_record_region(&record, record.threads[0]->root) == record.regions[0],
		"look-up by offset");
	ok(!cp_record_region(&record, record.threads[0]->root + 8),
		"only where an item begins");
	ok(!cp_record_thread(&record, record.threads[0]->root), "only of that type");
	is_string(cp_record_string(&record, record.threads[1]->reason)->text,
		"too many files", "strings");
	ok(!cp_record_string(&record, UINT64_MAX - 3), "wild offsets");
	cp_arena_free(&arena);
}

static void refuse(size_t size, const char *why, const char *expected)
{
	struct cp_arena arena = {.give_up = tap_no_memory};
	struct cp_record record;
	char error[200] = "";

	is_int(parse(&arena, &mutant, size, &record, error), -EPROTO, "%s: %s", why,
		error);
	ok(strstr(error, expected) != NULL, "and says so");
	cp_arena_free(&arena);
}

static void test_refused(void)
{
	struct cp_record_header *header = make_header(&mutant);

	mutant = make;
	refuse(0, "an empty file", "not a run record");
	refuse(100, "a cut header", "cut off");
	refuse(CP_RECORD_HEADER_SIZE, "a header alone", "ends before");
	header->version++;
	refuse(sizeof(mutant), "another version", "another version");
	mutant = make;
	header->magic[0] = 'C';
	refuse(sizeof(mutant), "another magic", "not a run record");
	mutant = make;
	header->ncounters = 1u << 30;
	refuse(sizeof(mutant), "a thousand million counters", "damaged");
	mutant = make;
	header->nquantities++;
	refuse(sizeof(mutant), "a quantity too few", "ends before");
}

static void test_cut_off(void)
{
	struct cp_arena arena = {.give_up = tap_no_memory};
	struct cp_record record;
	char error[200] = "";
	size_t size = make_header(&make)->tail - 8;

	is_int(parse(&arena, &make, size, &record, error), 0,
		"a record cut in its last region");
	is_int((long long)record.nregions, 2, "has the others");
	ok(record.damaged, "and is known to be damaged");
	mutant = make;
	((struct cp_thread_item *)(uintptr_t)(mutant.bytes +
					      ((char *)cp_record_thread(&record,
						       record.regions[0]->thread) -
						      make.bytes)))
		->root = 12345;
	is_int(parse(&arena, &mutant, sizeof(mutant), &record, error), 0,
		"a wild root offset");
	ok(!cp_record_region(&record, record.threads[0]->root), "leads nowhere");
	cp_arena_free(&arena);
}

static void test_file(void)
{
	struct cp_arena arena = {.give_up = tap_no_memory};
	struct cp_escape out_of_memory;
	struct cp_record record;
	char directory[] = "/tmp/output_record_XXXXXX", path[100], error[200] = "";

	if (CP_ESCAPE_SET(out_of_memory) || !mkdtemp(directory))
		bail("no memory or no /tmp");
	arena.out_of_memory = &out_of_memory;
	make_write(&make, directory, "4711-0.rec");
	snprintf(path, sizeof(path), "%s/4711-0.rec", directory);
	is_int(cp_record_read(&arena, AT_FDCWD, path, &record, error, sizeof(error)), 0,
		"a record in a file");
	is_int(record.header->pid, 4711, "is that record");
	unlink(path);
	is_int(cp_record_read(&arena, AT_FDCWD, path, &record, error, sizeof(error)),
		-ENOENT, "%s", "a file that is not there");
	ok(strstr(error, path) && strstr(error, "no such file"), "%s", error);
	is_int(cp_record_read(&arena, AT_FDCWD, directory, &record, error, sizeof(error)),
		-EISDIR, "a directory is no record");
	rmdir(directory);
	cp_arena_free(&arena);
}

static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* A few bytes, words or cuts, in the header's fields and the items alike. */
static size_t mutate(void)
{
	static const uint32_t nasty[] = {
		0, 1, 7, 8, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff8};
	uint64_t tail = make_header(&make)->tail;

	mutant = make;
	for (uint64_t changes = 1 + next_random() % 4; changes > 0; changes--) {
		uint64_t at =
			next_random() % 4
				? CP_RECORD_HEADER_SIZE +
					  next_random() % (tail - CP_RECORD_HEADER_SIZE)
				: 8 + next_random() % 120;

		if (next_random() % 2)
			mutant.bytes[at] = (char)next_random();
		else
			memcpy(mutant.bytes + at / 4 * 4, &nasty[next_random() % 8], 4);
	}
	return next_random() % 8 ? tail : next_random() % tail;
}

/* Touches everything that the reader hands out. */
static void read_all(struct cp_arena *arena, size_t size)
{
	struct cp_record record;
	char error[200];
	char *bytes = malloc(size ? size : 1); /* exactly, for the sanitizer */

	memcpy(bytes, mutant.bytes, size);
	if (cp_record_parse(arena, bytes, size, &record, error, sizeof(error)) == 0) {
		volatile uint64_t sum = 0;

		for (size_t i = 0; i < record.nregions; i++) {
			const struct cp_region_item *region = record.regions[i];
			const struct cp_string_item *name =
				cp_record_string(&record, region->name);

			for (uint32_t c = 0; c < record.header->ncounters; c++)
				sum += cp_region_sums(region)[c].inclusive;
			sum += name ? strlen(name->text) + name->length : 0;
		}
		for (size_t i = 0; i < record.nmetas; i++)
			sum += strlen(cp_meta_value(record.metas[i]));
		for (uint32_t i = 0; i < record.header->nquantities; i++)
			sum += strlen(record.quantities[i]->text);
		(void)sum;
	}
	free(bytes);
}

static void report_all(struct cp_arena *arena, const char *directory)
{
	char error[400];
	const struct cp_report *report;
	struct cp_escape out_of_memory;
	struct cp_out out;

	make_write(&mutant, directory, "1-0.rec");
	report = cp_report_build(arena, &directory, 1, error, sizeof(error));
	if (!report || CP_ESCAPE_SET(out_of_memory))
		return;
	arena->out_of_memory = &out_of_memory;
	cp_out_open(&out, open("/dev/null", O_WRONLY));
	cp_json_write(&out, report);
	cp_text_write(&out, arena, report, &(struct cp_text_options){0});
	cp_out_flush(&out);
	close(out.fd);
	arena->out_of_memory = NULL;
}

static void test_fuzz(void)
{
	struct cp_arena arena = {.give_up = tap_no_memory};
	char directory[] = "/tmp/output_record_XXXXXX", path[100];

	if (!mkdtemp(directory))
		bail("no /tmp");
	for (int i = 0; i < (int)tap_repeats(MUTATIONS); i++) {
		size_t size = mutate();

		read_all(&arena, size);
		/* make_write() believes the tail. */
		if (i % REPORT_EVERY == 0 && make_header(&mutant)->tail <= sizeof(mutant))
			report_all(&arena, directory);
		cp_arena_free(&arena);
	}
	snprintf(path, sizeof(path), "%s/1-0.rec", directory);
	unlink(path);
	rmdir(directory);
	ok(true, "%u damaged records did no harm", tap_repeats(MUTATIONS));
}

int main(void)
{
	plan_lazy();
	make_sample();
	test_sound();
	test_refused();
	test_cut_off();
	test_file();
	test_fuzz();
	return 0;
}
