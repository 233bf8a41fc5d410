/* SPDX-License-Identifier: MIT
 *
 * Each execution of a region is numbered where it begins, whatever thread it is in.  One
 * in so many, by chance, is executed in a shadow as well, which is forked there; the rate
 * is what the budget leaves, and the same for all regions.  A region of few instructions
 * has the caches warmed first: the shadow goes through so many executions and counts the
 * next.
 *
 * The shadow ends where the execution does.  Hooks of markers are called in it, too, and
 * tell it; where it is among the regions is kept here, as its tree is not kept.
 */
#include "preload/shadow/sites.h"

#include "base/syscall.h"
#include "preload/shadow/controller.h"
#include "preload/shadow/ticks.h"
#include "preload/threads/threads.h"

#define NO_SITE UINT32_MAX
#define WARM 1000000   /* instructions that a shadow goes through before it counts */
#define MOST_WARM 200  /* executions */
#define FEW 3          /* windows that say how many instructions an execution has */
#define MOST_IN_ROW 20 /* windows that were cut: then there are no more */
#define FIRST 3        /* the first window is in one of the first executions */

/* ---- which region it is ---- */

static bool is_same(const struct cp_site *site, const struct cp_open_region open[])
{
	for (unsigned i = 0; i < site->depth; i++)
		if (site->path[i] != open[i].name)
			return false;
	return true;
}

static uint32_t find_site(
	struct cp_shadows *s, const struct cp_open_region open[], unsigned depth)
{
	uint32_t i = 1;

	while (i < CP_SITES && s->site[i].depth &&
		!(s->site[i].depth == depth && is_same(&s->site[i], open)))
		i++;
	if (i == CP_SITES)
		return NO_SITE;
	if (s->site[i].depth)
		return i;
	for (unsigned d = 0; d < depth; d++)
		s->site[i].path[d] = open[d].name;
	s->site[i].next = 1 + cp_ticks_around(s, FIRST) % FIRST;
	s->site[i].depth = depth;
	return i;
}

/* A holder is in our code, as whoever waits is: it goes on, and asks nobody. */
static uint32_t site_of(struct cp_shadows *s, const struct cp_tree *tree)
{
	struct cp_open_region open[CP_SITE_DEPTH];
	uint32_t *word = cp_tree_word(tree), site;
	unsigned depth;

	if (!word)
		return NO_SITE;
	site = *word;
	if (site)
		return site;
	depth = cp_tree_open_regions(tree, open, CP_SITE_DEPTH);
	cp_lock(&s->finding);
	site = depth ? find_site(s, open, depth) : NO_SITE;
	cp_unlock(&s->finding);
	*word = site;
	return site;
}

/* ---- when it has a window ---- */

static bool is_given_up(const struct cp_site *site)
{
	return site->row >= MOST_IN_ROW || site->paused;
}

static unsigned sites_at_work(const struct cp_shadows *s)
{
	unsigned n = 0;

	for (uint32_t i = 1; i < CP_SITES && s->site[i].depth; i++)
		n += !is_given_up(&s->site[i]);
	return n ? n : 1;
}

/* So many executions take about that much CPU time of the process. */
static uint64_t executions_in(
	const struct cp_shadows *s, const struct cp_site *site, uint64_t ns)
{
	uint64_t spent = cp_controller_elapsed(s),
		 executions = __atomic_load_n(&site->executions, __ATOMIC_RELAXED);
	double n = spent ? (double)ns / (double)spent * (double)executions : 1;

	return n < 1e15 ? (uint64_t)n : (uint64_t)1e15;
}

static unsigned executions_before(const struct cp_site *site)
{
	uint64_t mean;

	if (site->counted < FEW || site->early >= FEW + site->counted)
		return 0;
	mean = site->instructions / site->counted;
	if (mean * MOST_WARM <= WARM)
		return MOST_WARM;
	return mean >= WARM ? 0 : (unsigned)(WARM / mean);
}

static void enter_walk(
	struct cp_shadows *s, const struct cp_site *site, const struct cp_tree *tree)
{
	struct cp_walk *walk = &s->walk;

	walk->depth = cp_tree_open_regions(tree, walk->open, CP_WALK_DEPTH);
	walk->before = executions_before(site);
	walk->inside = true;
	walk->site = site;
}

/* Of several threads at once one does. */
static void choose(struct cp_shadows *s, uint32_t number, uint64_t execution,
	const struct cp_tree *tree)
{
	struct cp_site *site = &s->site[number];
	uint64_t wait, next = __atomic_load_n(&site->next, __ATOMIC_RELAXED);

	if (execution < next ||
		!__atomic_compare_exchange_n(&site->next, &next, UINT64_MAX, false,
			__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	wait = cp_ticks_turn(s);
	if (!wait) {
		enter_walk(s, site, tree);
		cp_ticks_fork_here(s, number, execution);
		wait = cp_ticks_period(s) * sites_at_work(s) / 2;
	}
	if (cp_runtime.state == CP_SHADOW)
		return;
	next = execution + 1 + cp_ticks_around(s, executions_in(s, site, wait));
	__atomic_store_n(&site->next, next, __ATOMIC_RELEASE);
}

/* Regions of a record of its own are calibration's. */
static bool has_sites(const struct cp_tree *tree)
{
	return cp_ticks_are_on() && tree->record == &cp_runtime.record;
}

static void begins(struct cp_live_thread *thread)
{
	struct cp_shadows *s = cp_runtime.shadows;
	const struct cp_tree *tree = &thread->tree;
	uint32_t number = has_sites(tree) ? site_of(s, tree) : NO_SITE;
	struct cp_site *site;
	uint64_t execution;

	if (number == NO_SITE)
		return;
	site = &s->site[number];
	site->paused |= thread->tree.paused != NULL;
	execution = __atomic_add_fetch(&site->executions, 1, __ATOMIC_RELAXED);
	if (!is_given_up(site))
		choose(s, number, execution, &thread->tree);
}

static bool is_cut(const struct cp_shadow_window *w)
{
	return w->end != CP_SHADOW_REGION && w->end != CP_SHADOW_KILLED;
}

static void ended(struct cp_site *site, const struct cp_shadow_window *w)
{
	if (w->end == CP_SHADOW_REGION) {
		site->counted++;
		site->instructions += w->count[CP_SHADOW_instructions];
		site->row = 0;
	} else if (is_cut(w) && w->measured) {
		site->cut++;
		site->row++;
	} else if (is_cut(w)) {
		site->early++;
	}
}

/* ---- in the shadow ---- */

static void tell(enum cp_shadow_word word)
{
	cp_syscall(CP_SHADOW_CALL, word);
}

static void pause_count(void)
{
	tell(CP_SHADOW_PAUSES);
}

static void resume_count(void)
{
	tell(CP_SHADOW_RESUMES);
}

static void pass_begin(struct cp_walk *walk, const struct cp_name *name, uint64_t tag)
{
	if (walk->depth == CP_WALK_DEPTH)
		tell(CP_SHADOW_CUT);
	walk->open[walk->depth++] = (struct cp_open_region){name, tag};
	if (walk->inside || walk->depth != walk->site->depth ||
		!is_same(walk->site, walk->open))
		return;
	walk->inside = true;
	if (walk->before == 0)
		tell(CP_SHADOW_BEGINS);
}

/* The place behind it, from the innermost on; 0: it is not open. */
static unsigned find_open(
	const struct cp_walk *walk, const struct cp_name *name, uint64_t tag)
{
	unsigned at = walk->depth;

	while (at > 0 && !(walk->open[at - 1].tag == tag &&
				 (!name || walk->open[at - 1].name == name)))
		at--;
	return at;
}

/* Those inside it end, too, if they are of its kind; else they go on elsewhere, which is
 * not followed. */
static bool closes_cleanly(const struct cp_walk *walk, unsigned at, bool alone)
{
	for (unsigned i = at; i < walk->depth; i++)
		if (alone || walk->open[i].tag != walk->open[at - 1].tag)
			return false;
	return true;
}

static void pass_end(
	struct cp_walk *walk, const struct cp_name *name, uint64_t tag, bool alone)
{
	unsigned at = find_open(walk, name, tag);

	if (!at)
		return;
	if (!closes_cleanly(walk, at, alone))
		tell(CP_SHADOW_CUT);
	walk->depth = at - 1;
	if (!walk->inside || walk->depth >= walk->site->depth)
		return;
	walk->inside = false;
	if (walk->before-- == 0)
		tell(CP_SHADOW_ENDS);
}

/* Those without a tag are our own interface's, whose functions return nothing. */
static void passed(const struct cp_name *name, uint64_t tag, enum cp_passed boundary)
{
	struct cp_walk *walk = &cp_runtime.shadows->walk;

	if (!tag)
		tell(CP_SHADOW_SILENT);
	if (!walk->site || !cp_runtime.shadows->shared->is_region)
		return;
	if (boundary == CP_PASSED_PAUSE)
		tell(CP_SHADOW_CUT);
	else if (boundary == CP_PASSED_BEGIN)
		pass_begin(walk, name, tag);
	else
		pass_end(walk, name, tag, boundary == CP_PASSED_END_ALONE);
}

const struct cp_site_calls cp_site_calls = {
	begins, passed, ended, pause_count, resume_count};
