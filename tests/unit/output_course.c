/* SPDX-License-Identifier: MIT
 *
 * Executions that are longer than an interval, over those that they may have been in.
 */
#include "output/report/course.h"
#include "tests/tap/tap.h"

#define N 5

static struct cp_arena arena = {.give_up = tap_no_memory};
static struct cp_region root, inside = {.parent = &root};

enum { STORES, WINDOWS, QUANTITIES };

static const char *const names[] = {"l1d_stores", "windows"};
static const struct cp_report report = {
	.arena = &arena, .nquantities = QUANTITIES, .quantities = names};

/* Values of the whole process and of the region inside: a value for each interval from
 * the first one on; no quantity looks behind the last. */
struct made {
	size_t first[2];
	double stores[2][N], windows[2][N];
};

/* The error of each value of a sample is 1; of one thread. */
static struct cp_course_line *spread_of(struct made *made, bool sampled)
{
	struct cp_course *course = cp_arena_alloc(&arena, sizeof(*course));
	static double one[N];

	course->npoints = N;
	course->nlines = 2;
	course->lines = cp_arena_alloc(&arena, 2 * sizeof(*course->lines));
	for (unsigned i = 0; i < 2; i++) {
		struct cp_course_line *line = &course->lines[i];

		line->region = i ? &inside : &root;
		line->first = made->first[i];
		line->values = cp_arena_alloc(&arena, QUANTITIES * sizeof(*line->values));
		line->values[STORES] = made->stores[i];
		line->values[WINDOWS] = made->windows[i];
		line->status = cp_arena_alloc(&arena, QUANTITIES * sizeof(*line->status));
		line->status[STORES] = line->status[WINDOWS] = CP_SIMULATED;
		line->errors = cp_arena_alloc(&arena, QUANTITIES * sizeof(*line->errors));
		for (unsigned n = 0; sampled && n < N; n++)
			one[n] = 1;
		line->errors[STORES] = sampled ? one : NULL;
	}
	cp_course_spread(&report, course, true);
	return &course->lines[1];
}

static struct cp_course_line *spread(struct made *made)
{
	return spread_of(made, false);
}

static void is_line(const struct cp_course_line *line, unsigned quantity, size_t first,
	const double *values, const char *what)
{
	is_u64(line->first, first, "%s: the interval that it begins in", what);
	for (size_t i = 0; i < N - first; i++)
		is_double_near(line->values[quantity][i], values[i], 0,
			"%s: interval %zu", what, first + i);
}

static void test_long(void)
{
	struct made made = {{0, 3}, {{3, 10, 10, 10, 10}, {0, 33}}, {{0}}};
	const struct cp_course_line *line = spread(&made);

	is_line(line, STORES, 1, (double[]){3, 10, 10, 10}, "as much as the process had");
	is_int(line->status[STORES], CP_ESTIMATED, "... which is an estimate");
}

/* A process whose first intervals were not recorded: they had nothing. */
static void test_late(void)
{
	struct made made = {{2, 3}, {{10, 10, 10, 1000, 1000}, {0, 35}}, {{0}}};

	is_line(spread(&made), STORES, 0, (double[]){5, 0, 10, 10, 10},
		"a process that begins later");
}

static void test_unknown(void)
{
	struct made made = {{0, 3}, {{10, 10, 10, -1, 10}, {0, 33}}, {{0}}};

	is_line(spread(&made), STORES, 3, (double[]){23, 10}, "as far as it is known");
}

static void test_short(void)
{
	struct made made = {{0, 3}, {{3, 10, 10, 10, 10}, {4, 9}}, {{0}}};
	const struct cp_course_line *line = spread(&made);

	is_line(line, STORES, 3, (double[]){4, 9}, "no more than the process");
	is_int(line->status[STORES], CP_SIMULATED, "... is known");
}

/* They are means, which do not add up. */
static void test_windows(void)
{
	struct made made = {
		{0, 3}, {{3, 10, 10, 10, 10}, {0, 33}}, {{1, 1, 1, 1, 1}, {0, 11}}};
	const struct cp_course_line *line = spread(&made);

	is_line(line, WINDOWS, 1, (double[]){-1, -1, 0, 11},
		"windows stay where they are, and before nobody knows");
	is_int(line->status[WINDOWS], CP_SIMULATED, "... as they were counted");
}

/* The later one of two regions that follow each other goes back into the interval that
 * the earlier one ended in: what is left there is the earlier one's.  In a process of
 * several threads each of them may have had all of it. */
/* The same as test_long()'s, but sampled. */
static void test_sampled(void)
{
	struct made made = {{0, 3}, {{3, 10, 10, 10, 10}, {0, 33}}, {{0}}};
	const struct cp_course_line *line = spread_of(&made, true);

	is_u64(line->first, 3, "a sample begins where it did");
	is_double_near(line->values[STORES][1], 33, 0, "and has what it had");
}

static void beside(bool one_thread, const double *earlier)
{
	static struct cp_region second = {.parent = &root};
	struct cp_region *of[] = {&root, &inside, &second};
	double values[][N] = {{10, 10, 10, 10, 10}, {8, 0}, {14}};
	struct cp_course course = {.npoints = N, .nlines = 3};
	const char *what = one_thread ? "one thread" : "several threads";

	course.lines = cp_arena_alloc(&arena, sizeof(struct cp_course_line) * 3);
	for (unsigned i = 0; i < 3; i++) {
		struct cp_course_line *line = &course.lines[i];

		line->region = of[i];
		line->first = i ? i + 2 : 0;
		line->values = cp_arena_alloc(&arena, QUANTITIES * sizeof(*line->values));
		line->values[STORES] = values[i];
		line->status = cp_arena_alloc(&arena, QUANTITIES * sizeof(*line->status));
		line->errors = cp_arena_alloc(&arena, QUANTITIES * sizeof(*line->errors));
	}
	cp_course_spread(&report, &course, one_thread);
	is_line(&course.lines[1], STORES, one_thread ? 2 : 3, earlier, what);
	is_line(&course.lines[2], STORES, 3, (double[]){4, 10}, what);
}

int main(void)
{
	plan_lazy();
	test_long();
	test_sampled();
	beside(true, (double[]){2, 6, 0});
	beside(false, (double[]){8, 0});
	test_late();
	test_unknown();
	test_short();
	test_windows();
	return 0;
}
