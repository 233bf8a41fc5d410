/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Logs of references to sampled sets (model/sets.h) are the same taken whole as a word at
 * a time: nothing that is passed over as the newest of its sets makes a difference. Words
 * of lines that are left out stand for the next ones.
 */
#include <string.h>
#include "base/random.h"
#include "model/sets.h"
#include "model/sweep.h"
#include "tests/tap/tap.h"

enum { CORES = 2, MOST = 600, LOGS = 400 };

static uint64_t seed = 3;

static uint64_t random_below(uint64_t n)
{
	return cp_random(&seed) % n;
}

/* Two cores share a last level, so that one takes lines from the other. */
struct simulated {
	struct uncore uncore;
	struct core *core[CORES];
};

static void start(struct simulated *s, const struct machine *m,
	const struct sample_sets *sets, const struct sweep_plan *sweep)
{
	memset(s, 0, sizeof(*s));
	uncore_init(&s->uncore, m);
	for (int i = 0; i < CORES; i++) {
		s->core[i] = core_new(m, &s->uncore);
		if (sweep->npoints)
			sweep_begin(s->core[i], sweep, m);
		core_attach(s->core[i]);
		sample_sets_begin(s->core[i], sets);
	}
}

static void end(struct simulated *s)
{
	for (int i = 0; i < CORES; i++) {
		if (s->core[i]->sweep)
			sweep_free(s->core[i]->sweep);
		core_free(s->core[i]);
	}
	uncore_free(&s->uncore);
}

/* ---- logs ---- */

static const struct machine *machine;
static const struct sample_sets *sampled;

/* A line of a group that is sampled: few hot ones, many others, and some that are far, in
 * few enough areas for all of them to have numbers of their own. */
static uint64_t random_line(void)
{
	uint64_t line;

	do
		line = random_below(4) ? random_below(1 << 10)
		       : random_below(8)
			       ? random_below(1 << 20)
			       : random_below(200) << 33 | random_below(1 << 20);
	while (sample_leaves_out(sampled, ++line));
	return line;
}

static uint64_t random_word(uint64_t line)
{
	uint64_t a = line * machine->line + random_below(machine->line);

	switch (random_below(8)) {
	case 0:
		return line * machine->line | SAMPLE_CODE;
	case 1:
		return a | SAMPLE_BOTH;
	case 2:
	case 3:
		return ~a;
	default:
		return a;
	}
}

/* The same, or one of the line before if that is left out. */
static uint64_t moved_word(uint64_t word, uint64_t line)
{
	if (word >> 62 == 1 || !sample_leaves_out(sampled, line - 1) || random_below(2))
		return word;
	return word >> 63 ? word + machine->line : word - machine->line;
}

static uint32_t make_log(uint64_t *words, uint64_t *moved)
{
	uint32_t n = (uint32_t)random_below(MOST);
	uint64_t line[3] = {random_line(), random_line(), random_line()};

	for (uint32_t i = 0; i < n; i++) {
		if (random_below(3) == 0)
			line[random_below(3)] = random_line();
		uint64_t of = line[random_below(3)];

		words[i] = random_word(of);
		moved[i] = moved_word(words[i], of);
	}
	return n;
}

/* ---- both ways ---- */

static void take(struct core *core, const uint64_t *words, uint32_t n, uint32_t at_once)
{
	for (uint32_t i = 0; i < n; i += at_once)
		core->paths.log(
			core, words + i, words + (i + at_once < n ? i + at_once : n));
}

static int is_same(struct core *a, struct core *b)
{
	core_collect(a);
	core_collect(b);
	return memcmp(a->count, b->count, sizeof(a->count)) == 0 &&
	       memcmp(a->sets->count, b->sets->count, sizeof(a->sets->count)) == 0;
}

static int has_counted(const struct core *core)
{
	const uint64_t *count = core->sets->count[0] - CP_SIM_NBURST;

	return count[CP_SIM_SET_l2_load_lines] && count[CP_SIM_SET_l2_store_lines] &&
	       count[CP_SIM_SET_l2_writebacks] && count[CP_SIM_SET_l2_ifetch_misses];
}

static void compare(
	const char *name, const struct machine *m, const struct sweep_plan *sweep)
{
	struct sample_sets sets = {0};
	struct simulated whole, single;
	uint64_t words[MOST], moved[MOST];
	int same = 1, counted = 1;

	machine = m;
	sampled = &sets;
	sample_sets_choose(&sets, sample_groups(m), 4, seed);
	start(&whole, m, &sets, sweep);
	start(&single, m, &sets, sweep);
	for (int i = 0; i < LOGS; i++) {
		uint32_t n = make_log(words, moved), core = (uint32_t)random_below(CORES);

		take(whole.core[core], moved, n, MOST);
		take(single.core[core], words, n, 1);
	}
	for (int i = 0; i < CORES; i++) {
		same &= is_same(whole.core[i], single.core[i]);
		counted &= has_counted(whole.core[i]);
	}
	ok(same, "%s: a log is as its words by themselves", name);
	ok(counted, "%s: there were misses and write-backs", name);
	end(&whole);
	end(&single);
}

#define G(n, m)                                                                          \
	{                                                                                \
		.sets = (n), .ways = (m)                                                 \
	}
#define PLAIN                                                                            \
	.l1i = G(64, 8), .itlb = G(16, 4), .dtlb = G(16, 4), .stlb = G(128, 12),         \
	.page = 4096

int main(void)
{
	static const struct machine machines[] = {
		{PLAIN, .l1d = G(64, 8), .l2 = G(128, 8), .llc = G(512, 16), .line = 64},
		{PLAIN, .l1d = G(64, 12), .l2 = G(128, 8), .llc = G(512, 16), .line = 64},
		{PLAIN, .l1d = G(16, 4), .l2 = G(48, 4), .llc = G(80, 8), .line = 32},
	};
	static const char *const names[] = {"8 ways", "12 ways", "other sets and lines"};
	static const struct sweep_plan none, sweep = {SWEEP_L2, 2, {{64, 8}, {256, 4}}};

	plan_lazy();
	for (l1_oldest_host = 0; l1_oldest_host < 2; l1_oldest_host++) {
		for (int i = 0; i < 3; i++)
			compare(names[i], &machines[i], &none);
		compare("a sweep of L2", &machines[0], &sweep);
	}
	return 0;
}
