/* SPDX-License-Identifier: MIT
 *
 * Lines of many pages, one of each, which only the last level has, or only memory.
 *
 * A hypervisor may have made huge pages of small ones, so that those of a piece as large
 * as a last level are walked for; and of that level a machine that has it with others
 * gets less than it says, and the less the more of it they read.  A few lines are always
 * there: of one place in their pages, more than the L2 has room for at that place.
 */
#include "tools/calibrate/calibrate.h"

enum { LINES = CP_SMALL_PAGE / CP_LINE, LEAST_PAGES = 256 };
/* Pages whose lines are flushed take as long again. */
enum { TRIES = 24, TRIES_IN_LLC = 96 };

/* How many lines of one place in small pages the level has room for. */
static size_t room_of(const struct cp_host *host, enum cp_level level)
{
	return cp_host_level(host, level) / CP_SMALL_PAGE;
}

static void choose_pages(char *memory, size_t count, bool same, struct cp_pages *pages)
{
	pages->memory = memory;
	pages->count = count;
	pages->same = same;
	pages->place = 0;
	cp_shuffle(pages->order, count);
}

void cp_pages_behind_l2(const struct cp_host *host, char *memory, struct cp_pages *pages)
{
	size_t count = LEAST_PAGES;

	while (count < 2 * room_of(host, CP_L2))
		count *= 2;
	pages->count = 0;
	if (count > CP_FEW_PAGES || 2 * count > room_of(host, CP_LLC))
		return;
	choose_pages(memory, count, true, pages);
	pages->place = host->round * 7 % LINES;
}

void cp_pages_anywhere(char *memory, struct cp_pages *pages)
{
	choose_pages(memory, CP_FEW_PAGES, false, pages);
}

static inline __attribute__((always_inline)) void **line_of(
	const struct cp_pages *pages, size_t number, bool same)
{
	size_t page = pages->order[number],
	       line = same ? pages->place : page * 37 % LINES;

	return (void **)(void *)(pages->memory + page * CP_SMALL_PAGE + line * CP_LINE);
}

void **cp_pages_link(const struct cp_pages *pages)
{
	for (size_t i = 0; i < pages->count; i++)
		*line_of(pages, i, pages->same) =
			line_of(pages, (i + 1) % pages->count, pages->same);
	return line_of(pages, 0, pages->same);
}

/* This asks the TLBs for the pages, too. */
void cp_pages_flush(const struct cp_pages *pages)
{
	for (size_t i = 0; i < pages->count; i++)
		cp_flush_line(line_of(pages, i, pages->same));
	cp_flush_end();
}

struct task {
	const struct cp_pages *pages;
	void **at;
};

static void run_chain(void *context)
{
	struct task *task = context;
	void **at = task->at;

	for (size_t i = task->pages->count; i; i--)
		at = *(void *volatile *)at;
	task->at = at;
}

static void run_loads(void *context)
{
	const struct task *task = context;

	if (task->pages->same)
		for (size_t i = 0; i < task->pages->count; i++)
			(void)*(void *volatile *)line_of(task->pages, i, true);
	else
		for (size_t i = 0; i < task->pages->count; i++)
			(void)*(void *volatile *)line_of(task->pages, i, false);
}

static double least_of(
	const struct cp_host *host, struct task *task, bool flushed, cp_task *run)
{
	unsigned tries = flushed ? TRIES : TRIES_IN_LLC;
	double least = 0;

	for (unsigned i = 0; i <= tries; i++) {
		double one;

		if (flushed)
			cp_pages_flush(task->pages);
		one = cp_best(1, (double)task->pages->count, run, task) / host->ns;
		if (i) /* the first one brings what is read */
			cp_least(&least, one);
	}
	return least;
}

double cp_pages_chain(
	const struct cp_host *host, const struct cp_pages *pages, bool flushed)
{
	struct task task = {pages, cp_pages_link(pages)};

	return least_of(host, &task, flushed, run_chain);
}

double cp_pages_loads(
	const struct cp_host *host, const struct cp_pages *pages, bool flushed)
{
	struct task task = {pages, NULL};

	return least_of(host, &task, flushed, run_loads);
}
