/* SPDX-License-Identifier: MIT
 *
 * What shadows estimate, of processes and of their regions, says the same when the
 * records of processes have been folded.
 */
#include <dirent.h>
#include <stdio.h>

#include "output/report/report.h"
#include "output_records.h"
#include "regions/fold/fold_records.h"
#include "tests/tap/tap.h"

enum { FIRST = 1000, MIDDLE = 1250, END = 1500, RARE = 50, CALLS = 3 };

static struct make make;
static char directory[] = "/tmp/folded-XXXXXX";

static struct cp_shadowed estimate(double n, double value)
{
	return (struct cp_shadowed){.with = 1,
		.with_ns = n,
		.seen_ns = n / 2,
		.value = value,
		.square = value,
		.low = value - 1,
		.high = value + 1};
}

static void make_shadowed_region(
	const char *const path[], uint64_t depth, struct cp_shadowed of)
{
	struct cp_shadowed_region_item *item;
	uint64_t name[2];

	for (uint64_t d = 0; d < depth; d++)
		name[d] = make_string(&make, path[d], strlen(path[d]));
	item = make_item(&make, CP_ITEM_SHADOWED_REGION, sizeof(*item) + 2 * sizeof(of));
	item->depth = depth;
	memcpy(item->name, name, depth * sizeof(name[0]));
	item->of[1] = of;
}

static void make_begins(int pid)
{
	make_begin(&make, CP_ENGINE_PERF, pid);
	make_header(&make)->root_pid = FIRST;
	make_header(&make)->flags = CP_RECORD_HELD | (pid == FIRST ? CP_RECORD_ROOT : 0);
	make_text(&make, "exe", "/bin/app");
	make_text(&make, "host", "here");
	make_counter(&make, "x", 0, 0);
	make_quantity(&make, "page_faults", NULL, (int[]){1, 0});
	make_quantity(&make, "l1d_misses", NULL, NULL)->available = CP_QUANTITY_SHADOWED;
}

/* A process with "outer", and "inner" in it, of which each has executions; of a few the
 * record has no estimate. */
static void make_process(int pid)
{
	static const char *const path[] = {"outer", "inner"};
	struct cp_shadowed_item *item;
	struct cp_thread_item *thread;
	struct cp_region_item *root, *outer;

	make_begins(pid);
	if (pid % RARE) {
		item = make_item(
			&make, CP_ITEM_SHADOWED, sizeof(*item) + 2 * sizeof(item->of[0]));
		item->of[1] = estimate(1e9, 10 * pid);
		make_shadowed_region(path, 1, estimate(CALLS, pid));
		make_shadowed_region(path, 2, estimate(2 * CALLS, 2 * pid));
	}
	thread = make_thread(&make, pid, CP_THREAD_ENDED, "app");
	root = make_region(&make, thread, NULL, NULL, 1);
	*make_times(&make, root, 0) = (struct cp_times){1000, 1000};
	outer = make_region(&make, thread, root, "outer", CALLS);
	make_region(&make, thread, outer, "inner", 2 * CALLS);
}

static void write_processes(int first, int end)
{
	char name[40];

	for (int pid = first; pid < end; pid++) {
		make_process(pid);
		snprintf(name, sizeof(name), "%d-0.rec", pid);
		make_write(&make, directory, name);
	}
}

static unsigned files(bool remove_them)
{
	DIR *dir = opendir(directory);
	unsigned n = 0;

	for (struct dirent *at; (at = readdir(dir));) {
		n += strstr(at->d_name, ".rec") != NULL;
		if (remove_them && at->d_name[0] != '.')
			unlinkat(dirfd(dir), at->d_name, 0);
	}
	closedir(dir);
	return n;
}

/* ---- what a report says ---- */

struct said {
	struct cp_arena arena;
	struct cp_count whole, outer, inner;
};

static struct cp_count count_of(
	const struct cp_report *report, const struct cp_region *region)
{
	return region->counts[cp_report_quantity(report, "l1d_misses")];
}

static void ask(struct said *said)
{
	const char *path = directory;
	const struct cp_report *report;
	char error[200] = "";

	said->arena.give_up = tap_no_memory;
	report = cp_report_build(&said->arena, &path, 1, error, sizeof(error));
	if (!report || !report->total->child || !report->total->child->child)
		bail("no report: %s", error);
	said->whole = count_of(report, report->total);
	said->outer = count_of(report, report->total->child);
	said->inner = count_of(report, report->total->child->child);
}

static void check_same(const struct said *before, const struct said *after)
{
	const struct cp_count *one[] = {&before->outer, &before->inner},
			      *sum[] = {&after->outer, &after->inner};
	static const char *const what[] = {"outer", "inner"};

	is_int(before->whole.status, CP_UNAVAILABLE, "the time of some is not known");
	is_string(after->whole.reason, before->whole.reason, "of as many when folded");
	for (int i = 0; i < 2; i++) {
		is_int(one[i]->status, CP_ESTIMATED, "%s: is estimated", what[i]);
		is_int(sum[i]->status, CP_ESTIMATED, "%s: folded, as well", what[i]);
		is_u64(sum[i]->value, one[i]->value, "%s: the same value", what[i]);
		is_double_near(sum[i]->error, one[i]->error, 1e-6 * one[i]->error,
			"%s: the same interval", what[i]);
		is_string(
			sum[i]->reason, one[i]->reason, "%s: the same is said", what[i]);
	}
}

int main(void)
{
	static struct said before, after;

	plan_lazy();
	if (!mkdtemp(directory))
		bail("no directory");
	write_processes(FIRST, END);
	ask(&before);
	files(true);
	for (int half = 0; half < 2; half++) {
		write_processes(half ? MIDDLE : FIRST, half ? END : MIDDLE);
		ok(cp_records_fold(directory) > 0, "they are folded");
		is_u64(files(false), 2, "into one, beside the first process's");
	}
	ask(&after);
	check_same(&before, &after);
	files(true);
	rmdir(directory);
	return 0;
}
