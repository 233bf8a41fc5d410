/* SPDX-License-Identifier: MIT
 *
 * Writers and sinks: escaping, 80 columns, formats, names of files.
 */
#include <sys/stat.h>

#include "output/json.h"
#include "output/report/report_parts.h"
#include "output/sink.h"
#include "base/text/table.h"
#include "base/text/utf8.h"
#include "tests/tap/tap.h"
#include "tests/unit/output_records.h"

static struct make make;
static struct cp_arena arena = {.give_up = tap_no_memory};
static struct cp_escape out_of_memory;
static char directory[] = "/tmp/output_writers_XXXXXX";

static char *read_whole(const char *path)
{
	static char text[1 << 18];
	int fd = open(path, O_RDONLY);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length < 0 ? NULL : text;
}

static const char *json_of(const char *bytes, size_t length)
{
	char path[100];
	struct cp_out out;
	int fd;

	snprintf(path, sizeof(path), "%s/string", directory);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	cp_out_open(&out, fd);
	cp_json_string(&out, bytes, length);
	cp_out_flush(&out);
	close(fd);
	return read_whole(path);
}

/* However long it is. */
static void test_whole(void)
{
	static const int lengths[] = {510, 511, 512, 513, 4095, 4096, 4097, 100000};
	struct cp_report report = {.arena = &arena};
	char path[100];
	struct cp_out out;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		int length = lengths[i], fd;

		is_int((int)strlen(cp_text_format(&arena, "%*d", length, 7)), length,
			"a text of %d is whole", length);
		cp_report_warn(&report, "%*d", length, 7);
		is_int((int)strlen(report.warnings[i]), length, "a warning");
		snprintf(path, sizeof(path), "%s/whole", directory);
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		cp_out_open(&out, fd);
		cp_out_format(&out, "%*d\n", length, 7);
		cp_out_format(&out, ".");
		is_int(cp_out_flush(&out), 0, "and what is written");
		close(fd);
		is_int((int)strlen(read_whole(path)), length + 2, "is as long");
	}
}

static void test_json_strings(void)
{
	is_string(json_of("plain", 5), "\"plain\"", "JSON: plain");
	is_string(
		json_of("a\"b\\c", 5), "\"a\\\"b\\\\c\"", "JSON: quotes and backslashes");
	is_string(json_of("\n\t\x01\x1b\x7f", 5), "\"\\n\\t\\u0001\\u001b\\u007f\"",
		"JSON: controls");
	is_string(json_of("a\0b", 3), "\"a\\u0000b\"", "JSON: NUL");
	is_string(json_of("gr\xc3\xbc\xc3\x9f", 6), "\"gr\xc3\xbc\xc3\x9f\"",
		"JSON: UTF-8 as it is");
	is_string(json_of("\xfcx\xc3", 3), "\"\\u00fcx\\u00c3\"",
		"JSON: bytes that are not UTF-8");
	is_string(json_of("\xed\xa0\x80", 3), "\"\\u00ed\\u00a0\\u0080\"",
		"JSON: no surrogates");
	is_string(json_of("\xc0\xaf", 2), "\"\\u00c0\\u00af\"", "JSON: nothing overlong");
	is_string(json_of("", 0), "\"\"", "JSON: empty");
}

static void test_numbers(void)
{
	is_string(cp_text_listed(&arena, "", "a"), "a", "a list of one");
	is_string(cp_text_listed(&arena, "a", "b"), "a, b", "and of two");
	is_string(cp_text_integer(&arena, 0), "0", "0");
	is_string(cp_text_integer(&arena, 999), "999", "999");
	is_string(cp_text_integer(&arena, 1234567), "1,234,567", "thousands");
	is_string(cp_text_integer(&arena, UINT64_MAX), "18,446,744,073,709,551,615",
		"largest");
	is_string(cp_text_seconds(&arena, 0), "0 s", "no time");
	is_string(cp_text_seconds(&arena, 12.345), "12.3 s", "seconds");
	is_string(cp_text_seconds(&arena, 0.9996), "1.00 s", "a second, about");
	is_string(cp_text_seconds(&arena, 0.0123), "12.3 ms", "milliseconds");
	is_string(cp_text_seconds(&arena, 0.000456), "456 µs", "microseconds");
	is_string(cp_text_seconds(&arena, 7.89e-9), "7.89 ns", "nanoseconds");
	is_string(cp_text_decimal(&arena, 0), "0.00", "nothing");
	is_string(cp_text_decimal(&arena, 0.001), "<0.01", "little is not nothing");
	is_string(cp_text_decimal(&arena, 1.239), "1.24", "two decimals");
	is_string(cp_text_decimal(&arena, 9.996), "10.0", "one decimal");
	is_string(cp_text_decimal(&arena, 999.96), "1,000", "none");
	is_string(cp_text_decimal(&arena, -2.5), "-2.50", "negative");
	is_string(cp_text_safe(&arena, cp_slice_of("a\x1b[31m\xff\n\xc2\x9b")),
		"a\\x1b[31m\\xff\\n\\xc2\\x9b", "names cannot drive the terminal");
	is_int((long long)cp_utf8_columns("gr\xc3\xbc\xe2\x80\xa6", 7), 4,
		"columns of UTF-8");
}

/* A table of one long name and three numbers, printed in `width` columns. */
static const char *table_of(size_t width)
{
	struct cp_table *table = cp_table_new(&arena, 4, 1);
	struct cp_out out;
	char path[100];

	cp_table_set(table, 0, 0, "a name of 21 letters!");
	for (size_t i = 1; i < 4; i++)
		cp_table_set(table, 0, i, "1,234");
	table->marks[0] = "<==";
	snprintf(path, sizeof(path), "%s/table", directory);
	cp_out_open(&out, open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
	cp_table_print(table, &out, width, false);
	cp_out_flush(&out);
	close(out.fd);
	return read_whole(path);
}

static void test_table(void)
{
	is_string(table_of(80), "a name of 21 letters!  1,234  1,234  1,234 <==\n",
		"a table with room");
	is_string(table_of(43), "a name of 21 letters! 1,234 1,234 1,234 <==\n",
		"without room the columns move together");
	is_string(table_of(36), "a name …tters! 1,234 1,234 1,234 <==\n",
		"then the name is cut");
}

static void make_run(void)
{
	static const char name[] =
		"evil \x1b[2J \xff \"region\" of a name that is very long indeed, "
		"much longer than a column of the table can be";
	struct cp_thread_item *thread;
	struct cp_region_item *root, *item;

	make_begin(&make, CP_ENGINE_PERF, 4711);
	make_text(&make, "exe", "/opt/bin/solver");
	make_text(&make, "host", "node7");
	make_text(&make, "tool", "1.2.3");
	make_meta(&make, "command", "./solver\0--big\0", 15);
	make_text(&make, "line", "64");
	make_text(&make, "why", "asked for");
	make_text(&make, "group",
		"@group g\n@title The title\n@need instructions l1d_misses\n"
		"mpki [1/kinstr] = 1000 * l1d_misses / instructions\n"
		"@columns instructions \"instr\" | mpki \"L1D miss\"\n@mark mpki\n");
	make_counter(&make, "a", 0, 0);
	make_counter(&make, "b", 1, 0);
	make_quantity(&make, "instructions", NULL, (int[]){1, 0});
	make_quantity(&make, "l1d_misses", NULL, (int[]){2, 0});
	make_quantity(&make, "perf::PAGE-FAULTS", NULL, (int[]){1, 0});
	thread = make_thread(&make, 4711, CP_THREAD_ENDED, "main");
	root = make_region(&make, thread, NULL, NULL, 1);
	item = make_region(&make, thread, root, name, 1234);
	for (uint32_t i = 0; i < 2; i++) {
		*make_times(&make, root, i) =
			(struct cp_times){4000000000, i ? 2000000000 : 4000000000};
		*make_times(&make, item, i) =
			(struct cp_times){4000000000, i ? 10000000 : 4000000000};
		make_sum(root, i)->inclusive = 5000000;
		make_sum(root, i)->children = make_sum(item, i)->inclusive = 4000000;
	}
	item = make_region(&make, thread, root, "plain", 1);
	for (uint32_t i = 0; i < 2; i++) {
		*make_times(&make, item, i) = (struct cp_times){1000, 1000};
		make_sum(item, i)->inclusive = 500000;
	}
	thread = make_thread(&make, 4712, CP_THREAD_ENDED, "other");
	root = make_region(&make, thread, NULL, NULL, 1);
	for (uint32_t i = 0; i < 2; i++) {
		*make_times(&make, root, i) = (struct cp_times){1000, 1000};
		make_sum(root, i)->inclusive = i ? 10 : 1000;
	}
	make_write(&make, directory, "4711-0.rec");
}

static char complaints[2000];

static void complain(void *context, const char *line)
{
	(void)context;
	strcat(complaints, line);
	strcat(complaints, "\n");
}

static const struct cp_sink_context context = {
	.stderr_fd = -1, .stdout_fd = -1, .pid = 4711, .rank = 3, .complain = complain};

static char *in_directory(const char *name)
{
	static char path[4][200];
	static int next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[next]), "%s/%s", directory, name);
	return path[next];
}

static void test_text(const struct cp_report *report)
{
	char list[200], *text, *line;
	size_t longest = 0;

	snprintf(list, sizeof(list), "%s", in_directory("new/%h-%p-%r-%e-%%.txt"));
	is_int(cp_sinks_write(&arena, report, list, &context), 0, "a text report");
	text = read_whole(in_directory("new/node7-4711-3-solver-%.txt"));
	if (!ok(text != NULL, "in the file that was named, in a new directory"))
		return;
	ok(!strchr(text, '\x1b') && !strchr(text, '\xff'),
		"control characters are spelled");
	ok(strstr(text, "evil \\x1b[2J") != NULL, "as \\x1b");
	ok(strstr(text, "1,234") != NULL, "thousands have separators");
	ok(strstr(text, "counted") && strstr(text, "% time"), "coverage has a column");
	ok(strstr(text, "<==") != NULL, "a row is marked");
	ok(strstr(text, "The title") && strstr(text, "./solver --big") &&
			strstr(text, "1.2.3"),
		"the header and the group's title");
	ok(strstr(text, "mpki by thread (/kI)") && strstr(text, "10.0  tid 4712"),
		"the thread that has the least is named");
	ok(strstr(text, "Events\n") && strstr(text, "FAULTS"),
		"events outside of groups");
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t columns = cp_utf8_columns(line, strlen(line));

		longest = columns > longest ? columns : longest;
	}
	ok(longest <= 80, "80 columns are enough (%zu)", longest);
}

static void test_json(const struct cp_report *report)
{
	static const char *const keys[] = {"\"schema\": \"cachepeek-report/1\"",
		"\"cachepeek\"", "\"command\"", "\"engine\"", "\"machine\"", "\"events\"",
		"\"groups\"", "\"processes\"", "\n \"regions\"", "\n \"warnings\""};
	const char *at;

	is_int(cp_sinks_write(&arena, report, in_directory("r.json"), &context), 0,
		"a JSON report");
	at = read_whole(in_directory("r.json"));
	for (size_t i = 0; at && i < sizeof(keys) / sizeof(keys[0]); i++) {
		at = strstr(at, keys[i]);
		ok(at != NULL, "JSON: %s, in its place", strchr(keys[i], '"'));
	}
	at = read_whole(in_directory("r.json"));
	ok(strstr(at, "\"l1d_misses\":{\"value\":10000000,\"exclusive\":2000000,"
		      "\"status\":\"scaled\",\"coverage\":0.5") != NULL,
		"JSON: a scaled count");
	ok(strstr(at, "\"value\":null,\"exclusive\":null,\"status\":\"unavailable\","
		      "\"coverage\":null,\"error\":null,\"reason\":\"counted 0.25 % "
		      "of") != NULL,
		"JSON: no value, and why");
	ok(strstr(at, "\"path\":[\"evil \\u001b[2J \\u00ff \\\"region\\\" of") != NULL,
		"JSON: names are escaped");
}

/* The second job's files have its number before their endings, whole ones. */
static void test_second_job(const struct cp_report *report)
{
	struct cp_sink_context second = context;
	char list[300];
	struct stat status;

	second.number = 2;
	snprintf(list, sizeof(list), "%s,%s", in_directory("j.json"),
		in_directory("j.trace.json"));
	is_int(cp_sinks_write(&arena, report, list, &second), 0, "a second job");
	ok(stat(in_directory("j.2.json"), &status) == 0, "j.2.json");
	ok(stat(in_directory("j.2.trace.json"), &status) == 0, "j.2.trace.json");
}

static void test_sinks(const struct cp_report *report)
{
	char list[500];
	struct stat status;

	*complaints = '\0';
	snprintf(list, sizeof(list), "%s,%s,%s,,%s", in_directory("a.pdf"),
		in_directory("b.txt"), in_directory("c"), in_directory("link.txt"));
	if (symlink("link.txt", in_directory("link.txt")) < 0)
		bail("no symlinks");
	is_int(cp_sinks_write(&arena, report, list, &context), 3,
		"three of four sinks fail");
	ok(strstr(complaints, "a.pdf: the ending picks the format"), "%s", complaints);
	ok(strstr(complaints, "c: the ending picks the format"), "an unknown ending");
	ok(strstr(complaints, "link.txt: is a symbolic link"), "a link to itself");
	ok(stat(in_directory("b.txt"), &status) == 0 && status.st_size > 500,
		"the other is written");
	ok(stat(in_directory("a.pdf"), &status) < 0, "and no wrong file");
	*complaints = '\0';
	ok(cp_sinks_have("-.json", CP_SINKS_STREAMS) &&
			!cp_sinks_have("-.json", CP_SINKS_FILES),
		"JSON on standard output is no file");
	is_int(cp_sinks_check("stderr,-,a.json,b.prom,c.html,d.csv,b.xls", &context), 1,
		"the check finds one");
	ok(strstr(complaints, "b.xls") != NULL, "and names it");
	is_int(cp_sinks_write(&arena, report, "stderr,-", &context), 0,
		"closed descriptors are no failure");
	is_int(cp_sinks_write(&arena, report, "/proc/absent/x.json", &context), 1,
		"nor a crash");
}

static void test_full_disk(const struct cp_report *report)
{
	struct cp_sink_context full = context;

	*complaints = '\0';
	full.stdout_fd = open("/dev/full", O_WRONLY);
	is_int(cp_sinks_write(&arena, report, "-", &full), 1, "a full disk is a failure");
	ok(strstr(complaints, "no space left") != NULL, "%s", complaints);
	close(full.stdout_fd);
}

int main(void)
{
	const char *paths[] = {directory};
	const struct cp_report *report;
	char error[400] = "", command[100];

	if (!mkdtemp(directory) || CP_ESCAPE_SET(out_of_memory))
		bail("no /tmp, or no memory");
	arena.out_of_memory = &out_of_memory;
	plan_lazy();
	test_whole();
	test_json_strings();
	test_numbers();
	test_table();
	make_run();
	report = cp_report_build(&arena, paths, 1, error, sizeof(error));
	if (!report)
		bail("%s", error);
	test_text(report);
	test_json(report);
	test_sinks(report);
	test_second_job(report);
	test_full_disk(report);
	cp_arena_free(&arena);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command) != 0;
}
