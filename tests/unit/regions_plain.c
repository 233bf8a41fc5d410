/* SPDX-License-Identifier: MIT
 *
 * The short way of tree_plain.c beside the general one of tree_change.c: two trees go
 * through the same random begins, ends, pauses, rests and readings, and their records are
 * the same to the byte.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regions/rundir.h"
#include "regions/tree.h"
#include "regions/tree_parts.h"
#include "tests/tap/tap.h"

enum { NAMES = 4, STEPS = 20000, TAG = 7 };

static const struct cp_term terms[] = {{0, 1}, {1, 1}, {2, 1}, {0, -1}};
static struct cp_pair_cost cost = {.inside = {3, 0, 1},
	.whole = {5, 2, 0},
	.inside_ns = 40,
	.whole_ns = 90,
	.counts = true};
static struct cp_name *names[NAMES];

struct side {
	char directory[40];
	struct cp_recording record;
	struct cp_tree tree;
};

static void start(
	struct side *side, const struct cp_layout *layout, const struct cp_reading *first)
{
	strcpy(side->directory, "/tmp/regions-plain-XXXXXX");
	if (!mkdtemp(side->directory) ||
		cp_record_create(&side->record, side->directory, (int)getpid()) < 0)
		bail("no record in %s", side->directory);
	if (cp_tree_start(&side->tree, layout, &side->record, 0, first, 1) < 0)
		bail("no tree");
}

static void finish(struct side *side)
{
	cp_tree_drop(&side->tree);
	cp_record_close(&side->record);
	cp_run_remove(side->directory);
}

/* Counters and times go on; now and then a reading fails, or one runs backwards. */
static void advance(
	struct cp_reading *now, uint64_t *now_ns, const struct cp_layout *layout)
{
	for (uint32_t i = 0; i < layout->ncounters; i++)
		now->counter[i] += random() % 3 ? 17 : (uint64_t)random() % 1000;
	for (uint32_t g = 0; g < layout->ngroups; g++) {
		now->group[g].enabled += (uint64_t)random() % 100;
		now->group[g].running += (uint64_t)random() % 100;
	}
	now->failed = random() % 50 == 0;
	if (random() % 50 == 0)
		now->counter[0] -= now->counter[0] < 500 ? now->counter[0] : 500;
	*now_ns += (uint64_t)random() % 300;
}

static void begin(struct side *side, unsigned name, uint64_t tag,
	const struct cp_reading *now, uint64_t now_ns)
{
	struct cp_reading *start;

	names[name]->record_offset = 0; /* it is in the other side's record */
	start = cp_tree_begin_tagged(&side->tree, names[name], tag);
	if (!start)
		bail("no memory");
	*start = *now;
	cp_tree_begin_time(&side->tree, now_ns);
}

/* A count in between belongs to no region that rests. */
static void rest(struct cp_tree *tree, const struct cp_reading *now, uint64_t now_ns)
{
	struct cp_reading *start = cp_tree_rest(tree, TAG), later = *now;

	if (!start)
		return;
	*start = *now;
	cp_tree_rest_time(tree, now_ns);
	later.counter[0] += 9;
	later.group[0].enabled += 4;
	cp_tree_go_on(tree, &later, now_ns + 20);
}

static void step(
	struct side *side, long what, const struct cp_reading *now, uint64_t now_ns)
{
	unsigned name = (unsigned)(what >> 8) % NAMES;
	uint64_t tag = what >> 16 & 1 ? TAG : 0;

	switch (what % 16) {
	case 0:
		cp_tree_pause(&side->tree, now, now_ns);
		return;
	case 1:
		cp_tree_resume(&side->tree, now, now_ns);
		return;
	case 2:
		rest(&side->tree, now, now_ns);
		return;
	default:
		break;
	}
	if (what % 2 && side->tree.depth < 6)
		begin(side, name, tag, now, now_ns);
	else
		cp_tree_end_tagged(&side->tree, names[name], tag, now, now_ns);
}

static void end_top(struct side *side, const struct cp_reading *now, uint64_t now_ns)
{
	if (side->tree.top)
		cp_tree_end_tagged(&side->tree, side->tree.top->name, side->tree.top->tag,
			now, now_ns);
}

static const struct cp_item *item_at(const struct side *side, uint64_t offset)
{
	for (unsigned i = 0; i < side->record.nchunks; i++) {
		const struct cp_record_chunk *chunk = &side->record.chunks[i];

		if (offset >= chunk->offset && offset < chunk->offset + chunk->size)
			return (const void *)(chunk->base + offset - chunk->offset);
	}
	return NULL;
}

static uint64_t calls_in(const struct cp_item *item)
{
	return item->type == CP_ITEM_REGION
		       ? ((const struct cp_region_item *)(const void *)item)->calls
		       : 0;
}

/* All but the journal, whose ranges come in another order. */
static void compare(
	const struct side *plain, const struct side *general, const char *what)
{
	uint64_t at = CP_RECORD_HEADER_SIZE, differ = 0, calls = 0;

	is_u64(plain->record.header->tail, general->record.header->tail,
		"%s: records of one size", what);
	while (at < plain->record.header->tail) {
		const struct cp_item *one = item_at(plain, at),
				     *other = item_at(general, at);

		differ += one->size != other->size ||
			  (one->type != CP_ITEM_JOURNAL && memcmp(one, other, one->size));
		calls += calls_in(one);
		at += one->size;
	}
	is_u64(differ, 0, "%s: the same in all items", what);
	ok(calls > STEPS / 8, "%s: of %lu executions", what, (unsigned long)calls);
}

static void run(const struct cp_layout *layout, const char *what)
{
	static struct side plain, general;
	struct cp_reading now = {.counter = {1000, 1000, 1000}};
	uint64_t now_ns = 1;

	memset(&plain, 0, sizeof(plain));
	memset(&general, 0, sizeof(general));
	start(&plain, layout, &now);
	start(&general, layout, &now);
	ok(plain.tree.plain, "%s: ends plainly", what);
	general.tree.plain = false;
	cp_tree_prepare_rest(&plain.tree);
	cp_tree_prepare_rest(&general.tree);
	for (unsigned i = 0; i < STEPS; i++) {
		long chance = random();

		advance(&now, &now_ns, layout);
		if (chance % 3 == 0) {
			end_top(&plain, &now, now_ns);
			end_top(&general, &now, now_ns);
			continue;
		}
		step(&plain, chance / 3, &now, now_ns);
		step(&general, chance / 3, &now, now_ns);
	}
	cp_tree_finish(&plain.tree, &now, now_ns, true);
	cp_tree_finish(&general.tree, &now, now_ns, true);
	compare(&plain, &general, what);
	finish(&plain);
	finish(&general);
}

/* A count that was too much is taken back later: the sums of all are right. */
static void corrected(void)
{
	struct cp_layout layout = {1, 1, 1, &(struct cp_quantity_terms){1, terms}, NULL,
		false, 0, NULL, true};
	struct cp_reading now = {.counter = {100}};

	for (int falls = 1; falls >= 0; falls--) {
		struct cp_reading from = {.counter = {100}}, to = {.counter = {60}};

		layout.corrected = falls;
		ok(cp_tree_is_countable(&layout, &from, &to) == falls,
			"less than before: %s", falls ? "a count" : "none");
	}
	ok(cp_tree_is_countable(&layout, &now, &now), "as much: a count");
}

int main(void)
{
	static const struct cp_quantity_terms one[] = {{1, &terms[0]}},
					      none[] = {{0, NULL}},
					      three[] = {{1, &terms[2]}, {0, NULL},
						      {1, &terms[0]}},
					      less[] = {{1, &terms[3]}},
					      sum[] = {{2, terms}};
	const char letters[] = "abcd";

	plan_lazy();
	srandom(5);
	for (unsigned i = 0; i < NAMES; i++)
		names[i] = cp_name_intern(letters + i, 1);
	run(&(struct cp_layout){1, 1, 1, one, NULL, false, 0, NULL, false},
		"one counter");
	run(&(struct cp_layout){1, 1, 1, one, &cost, false, 0, NULL, false},
		"one with its cost");
	run(&(struct cp_layout){1, 1, 1, none, NULL, false, 0, NULL, false},
		"nothing to spread");
	run(&(struct cp_layout){3, 3, 2, three, &cost, false, 0, NULL, false},
		"three counters");
	ok(!cp_layout_is_plain(
		   &(struct cp_layout){1, 1, 1, less, NULL, false, 0, NULL, false}),
		"a difference does not end plainly");
	ok(!cp_layout_is_plain(
		   &(struct cp_layout){2, 1, 1, sum, NULL, false, 0, NULL, false}),
		"nor does a sum");
	ok(!cp_layout_is_plain(
		   &(struct cp_layout){1, 1, 1, one, NULL, true, 0, NULL, false}),
		"nor what counts some executions");
	ok(!cp_layout_is_plain(
		   &(struct cp_layout){1, 1, 1, one, NULL, false, 1, NULL, false}),
		"nor what takes turns");
	ok(!cp_layout_is_plain(
		   &(struct cp_layout){1, 1, 1, one, NULL, false, 0, NULL, true}),
		"nor where counters correct what they expected");
	corrected();
	return 0;
}
