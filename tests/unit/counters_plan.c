/* SPDX-License-Identifier: MIT
 *
 * A plan as the content of a file: what one image writes the next one reads, and what
 * is not that made, or damaged, is not taken.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/format.h"
#include "base/counters/plan.h"
#include "tests/tap/tap.h"

#define KEY 0x1234567890abcdefu

static struct cp_plan made, found;
static struct cp_arena arena;

static void make_plan(void)
{
	struct cp_event_set *set = &made.set;

	set->ncounters = 3;
	set->nquantities = 2;
	set->ngroups = 2;
	for (unsigned i = 0; i < set->ncounters; i++) {
		cp_format(set->counters[i].name, CP_NAME_SIZE, "counter %u", i);
		set->counters[i].group = i / 2;
		set->counters[i].mirror = CP_NO_MIRROR;
		set->counters[i].attr.config = 100 + i;
	}
	cp_format(set->quantities[0].name, CP_NAME_SIZE, "a sum");
	set->quantities[0].available = true;
	set->quantities[0].nterms = 2;
	set->quantities[0].terms[1].counter = 2;
	set->quantities[0].terms[1].sign = -1;
	cp_format(set->quantities[1].why.text, CP_WHY_SIZE, "there is none");
	made.nmachines = 2;
	cp_format(made.machine[1].name, sizeof(made.machine[1].name), "the second");
	cp_format(made.sweep.field, sizeof(made.sweep.field), "ways");
	made.window = 1000;
	made.weights.of[CP_OF_L2] = (struct cp_weight){CP_WEIGHT_USER, 13};
	for (int i = 0; i < 50; i++) {
		cp_plan_add_text(&made, &arena, CP_PLAN_SAID, "this cannot be");
		cp_plan_add_text(&made, &arena, CP_PLAN_GROUP, "a group's text\n");
	}
}

static int open_written(void)
{
	int fd = memfd_create("plan", 0);

	is_int(cp_plan_write(&made, KEY, fd), 0, "a plan is written");
	return fd;
}

static int read_plan(int fd, uint64_t key)
{
	memset(&found, 0xa5, sizeof(found));
	lseek(fd, 0, SEEK_SET);
	return cp_plan_read(&found, key, fd, &arena);
}

static unsigned count_texts(enum cp_plan_text kind, const char *wanted)
{
	unsigned same = 0;
	const char *text;

	for (size_t at = 0; (text = cp_plan_next_text(&found, kind, &at));)
		same += strcmp(text, wanted) == 0;
	return same;
}

static void test_round_trip(int fd)
{
	is_int(read_plan(fd, KEY), 0, "and read");
	ok(memcmp(&found.set, &made.set, offsetof(struct cp_event_set, counters)) == 0 &&
			memcmp(found.set.counters, made.set.counters,
				3 * sizeof(made.set.counters[0])) == 0 &&
			memcmp(found.set.quantities, made.set.quantities,
				2 * sizeof(made.set.quantities[0])) == 0,
		"with the same events");
	ok(found.nmachines == 2 && strcmp(found.machine[1].name, "the second") == 0 &&
			memcmp(&found.sweep, &made.sweep, sizeof(made.sweep)) == 0 &&
			found.window == 1000,
		"the same machines");
	ok(memcmp(&found.weights, &made.weights, sizeof(made.weights)) == 0,
		"the same weights");
	is_u64(count_texts(CP_PLAN_SAID, "this cannot be"), 50, "and texts");
	is_u64(count_texts(CP_PLAN_GROUP, "a group's text\n"), 50, "of each kind");
	is_u64(count_texts(CP_PLAN_NOTED, ""), 0, "and no others");
}

/* Cut off anywhere, the file is none. */
static void test_cut(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	unsigned taken = 0, cuts = 0;

	for (off_t cut = size - 1; cut >= 0; cut -= cut > 200 ? 37 : 1, cuts++) {
		if (ftruncate(fd, cut) < 0)
			bail("cannot truncate");
		taken += read_plan(fd, KEY) == 0;
	}
	ok(cuts > 200, "the file was cut off in many places");
	is_u64(taken, 0, "and never taken then");
}

/* Whatever the file says, indexes are in bounds. */
static void change(const char *what, unsigned *number, unsigned to)
{
	unsigned before = *number;
	int fd;

	*number = to;
	fd = memfd_create("plan", 0);
	cp_plan_write(&made, KEY, fd);
	*number = before;
	is_int(read_plan(fd, KEY), -EBADMSG, "%s: not taken", what);
	close(fd);
}

int main(void)
{
	int fd;

	plan_lazy();
	arena.give_up = tap_no_memory;
	make_plan();
	fd = open_written();
	test_round_trip(fd);
	is_int(read_plan(fd, KEY + 1), -EBADMSG, "of other settings: not taken");
	change("a term of no counter", &made.set.quantities[0].terms[1].counter, 3);
	change("too many terms", &made.set.quantities[0].nterms, CP_MAX_TERMS + 1);
	change("no such group", &made.set.counters[1].group, CP_MAX_PERF_GROUPS);
	change("no such counter of the simulator", &made.set.counters[1].mirror,
		CP_SIM_NALL);
	change("too many points", &made.sweep.npoints, CP_SIM_SWEEP_POINTS + 1);
	change("more groups in turn than there are", &made.set.nrotated, 3);
	test_cut(fd);
	return 0;
}
