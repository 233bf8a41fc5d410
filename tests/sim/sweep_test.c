/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sweeps against separate simulations of one recorded trace: at each point exactly as
 * many misses as on a machine of that shape; and working sets whose knees are known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/every.h"
#include "flex/flex.h"
#include "machines/front.h"
#include "model/model.h"
#include "tests/sim/random.h"
#include "model/sweep.h"

/* ---- the trace ---- */

#define MOST_CORES 3

/* A batch as settle.c makes them, or a reference by itself (places 0xff). */
struct event {
	_Alignas(64) struct batch b;
	uint8_t places;
	uint64_t line, at[BATCH_PLACES];
	uint32_t size; /* of a reference by itself, at[0] */
	int core, store;
};

static struct event *trace;
static long length;
/* Hot lines that all cores share, columns, a walk, pages. */
static uint64_t pick_address(void)
{
	static uint64_t walk = 0x40000000;

	switch (random_below(6)) {
	case 0:
		return walk += 8;
	case 1:
		return 0x10000000 + random_below(256) * 4032;
	case 2:
		return 0x20000000 + random_below(1 << 18);
	case 3:
		return 0x7f0000000000 + random_below(64) * 4096 + random_below(4096);
	default:
		return 0x30000000 + random_below(40 << 10);
	}
}

static void make_item(struct event *e, uint32_t place, uint32_t *ticks)
{
	static const enum batch_kind kinds[] = {
		BATCH_READ, BATCH_READ, BATCH_WRITE, BATCH_MODIFY};
	struct batch_item *i = &e->b.item[e->b.items++];

	i->place = (uint8_t)place;
	i->kind = (uint8_t)kinds[random_below(4)];
	i->size = (uint8_t)(1u << random_below(4));
	i->tick = (uint8_t)(*ticks + (i->kind == BATCH_MODIFY ? 2 : 0));
	*ticks += i->kind == BATCH_MODIFY ? 4 : 2;
	e->b.loads += i->kind != BATCH_WRITE;
	e->b.stores += i->kind != BATCH_READ;
	e->b.place[place].last = (uint8_t)(i->size - 1);
	e->b.place[place].tick = i->tick;
	batch_order_place(&e->b, (uint32_t)place, (uint32_t)place);
	batch_place_writes(&e->b.place[place], i->kind != BATCH_READ);
	batch_place_first(&e->b.place[place], (enum batch_kind)i->kind, i->tick);
}

static void make_batch(struct event *e, uint64_t *pc)
{
	uint32_t ticks = 0;

	*pc = random_below(16) ? *pc + random_below(2) : random_below(3000);
	e->line = 4096 + *pc;
	e->places = (uint8_t)random_below(BATCH_PLACES + 1);
	e->b.item[e->b.items++].kind = BATCH_CODE;
	for (uint32_t i = 0; i < e->places; i++) {
		e->at[i] = pick_address();
		make_item(e, i, &ticks);
	}
	e->b.clock = ticks | 1ull << 32;
}

static void record(long steps, int ncores)
{
	uint64_t pc[MOST_CORES] = {0};
	int core = 0;

	random_again();
	length = steps;
	trace = aligned_alloc(64, (size_t)steps * sizeof(*trace));
	memset(trace, 0, (size_t)steps * sizeof(*trace));
	for (long i = 0; i < steps; i++) {
		if (random_below(50) == 0)
			core = (int)random_below((uint64_t)ncores);
		trace[i].core = core;
		if (random_below(40)) {
			make_batch(&trace[i], &pc[core]);
			continue;
		}
		trace[i].at[0] = pick_address();
		trace[i].size = random_below(2) ? 300 : 8;
		trace[i].store = random_below(2) != 0;
	}
}

/* ---- a machine that gets it ---- */

struct system {
	struct uncore uncore;
	struct core *core[MOST_CORES];
	uint64_t count[CP_SIM_NALL];
	int ncores, has_front;
};

static void start(struct system *s, const struct machine *m, int ncores,
	const struct sweep_plan *plan)
{
	memset(s, 0, sizeof(*s));
	s->ncores = ncores;
	s->has_front = !machine_is_plain(m);
	uncore_init(&s->uncore, m);
	if (s->has_front) {
		front = host_alloc(sizeof(*front));
		front_init(front, m, 1);
	}
	for (int i = 0; i < ncores; i++) {
		s->core[i] = core_new(m, &s->uncore);
		if (plan)
			sweep_begin(s->core[i], plan, m);
		core_attach(s->core[i]);
	}
}

static void collect(struct system *s, int i)
{
	if (s->has_front)
		front_collect(front);
	core_collect(s->core[i]);
	for (int k = 0; k < CP_SIM_NALL; k++)
		s->count[k] += s->core[i]->count[k];
	memset(s->core[i]->count, 0, sizeof(s->core[i]->count));
}

static void play_event(
	const struct system *s, const struct event *e, const struct sweep_plan *plan)
{
	uint32_t shift = s->core[0]->line_shift;
	batch_function *run;

	if (e->size) {
		if (s->has_front)
			front_direct(e->at[0], e->size, e->store ? STORE : LOAD);
		else
			batch_direct(e->at[0], e->size, e->store ? STORE : LOAD);
		if (plan && every.count)
			every_direct(e->at[0], e->size, e->store ? STORE : LOAD);
		return;
	}
	run = s->has_front ? front_function_for(shift, e->places, 1)
			   : batch_function_for(shift, e->places, 1);
	if (plan && every.count)
		run = every_function_for(run, e->places, 1);
	run(&e->b, e->line, e->at[0], e->at[1], e->at[2], e->at[3]);
}

static void play(struct system *s, const struct sweep_plan *plan)
{
	int core = -1;

	for (long i = 0; i < length; i++) {
		if (trace[i].core != core) {
			if (core >= 0)
				collect(s, core);
			core = trace[i].core;
			running = sweep_core = s->core[core];
			if (s->has_front)
				front_use(front, &running, 1);
		}
		play_event(s, &trace[i], plan);
	}
	collect(s, core);
}

static void end(struct system *s)
{
	struct sweep *shared = s->core[0]->sweep;

	for (int i = 0; i < s->ncores; i++) {
		if (i && s->core[i]->sweep != shared)
			sweep_free(s->core[i]->sweep);
		core_free(s->core[i]);
	}
	sweep_free(shared);
	uncore_free(&s->uncore);
	if (s->has_front)
		host_free(front, sizeof(*front));
}

/* ---- one against the other ---- */

#define G(s, w, ...)                                                                     \
	{                                                                                \
		.sets = (s), .ways = (w), __VA_ARGS__                                    \
	}
#define PLAIN                                                                            \
	.l1i = G(64, 4), .l1d = G(64, 8), .l2 = G(128, 8), .llc = G(256, 16),            \
	.itlb = G(8, 4), .dtlb = G(16, 4), .stlb = G(32, 4), .line = 64, .page = 4096
#define PLRU .policy = POLICY_PLRU

static const struct {
	const char *name;
	struct machine m;
	int any; /* level: its first levels only */
} machines[] = {
	{"plain", {PLAIN}, 1},
	{"sets that are no powers of two",
		{.l1i = G(48, 3),
			.l1d = G(37, 5),
			.l2 = G(99, 7),
			.llc = G(211, 11),
			.itlb = G(9, 3),
			.dtlb = G(13, 5),
			.stlb = G(33, 7),
			.line = 64,
			.page = 4096},
		1},
	{"few ways",
		{.l1i = G(64, 1),
			.l1d = G(64, 2),
			.l2 = G(256, 1),
			.llc = G(512, 2),
			.itlb = G(8, 1),
			.dtlb = G(8, 2),
			.line = 64,
			.page = 4096},
		1},
	{"no L2",
		{.l1i = G(64, 4),
			.l1d = G(64, 4),
			.llc = G(256, 8),
			.itlb = G(8, 4),
			.dtlb = G(8, 4),
			.line = 64,
			.page = 4096},
		1},
	{"others are PLRU, L2 has larger lines",
		{.l1i = G(64, 4),
			.l1d = G(64, 8),
			.l2 = G(128, 8, .line = 128, PLRU),
			.llc = G(256, 16, .line = 128, .inclusion = EXCLUSIVE),
			.itlb = G(8, 4),
			.dtlb = G(16, 4),
			.stlb = G(32, 4, PLRU),
			.line = 64,
			.page = 4096},
		0},
	{"write-through L1D, shared L2",
		{.l1i = G(64, 4),
			.l1d = G(64, 8, .write_through = 1),
			.l2 = G(128, 8, .shared = 2),
			.itlb = G(8, 4),
			.dtlb = G(16, 4),
			.line = 64,
			.page = 4096},
		0},
};
#define NMACHINES ((int)(sizeof(machines) / sizeof(machines[0])))

static struct geometry *geometry_of(struct machine *m, enum sweep_level level)
{
	struct geometry *g[] = {
		0, &m->l1i, &m->l1d, &m->l2, &m->llc, &m->itlb, &m->dtlb, &m->stlb};

	return g[level];
}

static uint64_t misses_of(const struct system *s, enum sweep_level level)
{
	const uint64_t *n = s->count;

	switch (level) {
	case SWEEP_L1I:
		return n[CP_SIM_l1i_misses];
	case SWEEP_L1D:
		return n[CP_SIM_l1d_load_misses] + n[CP_SIM_l1d_store_misses];
	case SWEEP_L2:
		return n[CP_SIM_l2_ifetch_misses] + n[CP_SIM_l2_load_lines] +
		       n[CP_SIM_l2_store_lines];
	case SWEEP_LLC:
		return n[CP_SIM_llc_ifetch_misses] + n[CP_SIM_llc_load_lines] +
		       n[CP_SIM_llc_store_lines];
	case SWEEP_ITLB:
		return n[CP_SIM_itlb_misses];
	case SWEEP_DTLB:
		return n[CP_SIM_dtlb_load_misses] + n[CP_SIM_dtlb_store_misses];
	default:
		return n[CP_SIM_itlb_walks] + n[CP_SIM_dtlb_load_walks] +
		       n[CP_SIM_dtlb_store_walks];
	}
}

/* Ways at the machine's sets, then sizes at its ways. */
static struct sweep_plan plan_for(const struct machine *m, enum sweep_level level)
{
	struct machine copy = *m;
	const struct geometry *g = geometry_of(&copy, level);
	struct sweep_plan plan = {.level = level};

	for (uint32_t ways = 1; ways <= 16; ways++)
		plan.point[plan.npoints++] = (struct sweep_point){g->sets, ways};
	for (uint32_t i = 0; i < 6; i++)
		plan.point[plan.npoints++] = (struct sweep_point){4u << i, g->ways};
	return plan;
}

static int compare(const struct machine *m, enum sweep_level level, int ncores)
{
	struct sweep_plan plan = plan_for(m, level);
	static struct system swept, alone;
	int different = 0;

	every.count = 0;
	sweep_watch(&plan);
	start(&swept, m, ncores, &plan);
	play(&swept, &plan);
	end(&swept); /* its counts stay */
	for (uint32_t i = 0; i < plan.npoints; i++) {
		struct machine other = *m;
		struct geometry *g = geometry_of(&other, level);

		g->sets = plan.point[i].sets;
		g->ways = plan.point[i].ways;
		start(&alone, &other, ncores, NULL);
		play(&alone, NULL);
		if (swept.count[CP_SIM_SWEEP + i] != misses_of(&alone, level)) {
			printf("# %u sets, %u ways: %llu, alone %llu\n", g->sets, g->ways,
				(unsigned long long)swept.count[CP_SIM_SWEEP + i],
				(unsigned long long)misses_of(&alone, level));
			different++;
		}
		end(&alone);
	}
	return different;
}

static int test, failed;

static void result(int good, const char *name, const char *level, int ncores)
{
	printf("%sok %d - %s, %s, cores: %d\n", good ? "" : "not ", ++test, name, level,
		ncores);
	fflush(stdout);
	failed |= !good;
}

static const char *const level_names[] = {
	"", "L1I", "L1D", "L2", "LLC", "ITLB", "DTLB", "STLB"};

static int applies(int machine, enum sweep_level level)
{
	struct machine m = machines[machine].m;
	int first = level != SWEEP_L2 && level != SWEEP_LLC && level != SWEEP_STLB;

	return geometry_of(&m, level)->sets && (machines[machine].any || first);
}

static void compare_all(int ncores)
{
	for (int i = 0; i < NMACHINES; i++)
		for (enum sweep_level level = SWEEP_L1I; level <= SWEEP_STLB; level++)
			if (applies(i, level))
				result(!compare(&machines[i].m, level, ncores),
					machines[i].name, level_names[level], ncores);
}

/* ---- knees ---- */

/* Goes `rounds` times over `lines` lines, one after the other. */
static void record_walk(long lines, long rounds)
{
	free(trace);
	length = lines * rounds;
	trace = aligned_alloc(64, (size_t)length * sizeof(*trace));
	memset(trace, 0, (size_t)length * sizeof(*trace));
	for (long i = 0; i < length; i++) {
		trace[i].at[0] = 0x10000000 + (uint64_t)(i % lines) * 64;
		trace[i].size = 8;
	}
}

/* LRU holds all of a walk or, where it is larger by a line in each set, nothing. */
static void check_knee(uint32_t ways)
{
	static const struct machine m = {PLAIN};
	struct sweep_plan plan = plan_for(&m, SWEEP_L1D);
	static struct system s;
	long lines = 64 * (long)ways, good = 1;

	record_walk(lines, 10);
	every.count = 0;
	sweep_watch(&plan);
	start(&s, &m, 1, &plan);
	play(&s, &plan);
	for (uint32_t i = 0; i < 16; i++) {
		uint64_t expected =
			(uint64_t)(plan.point[i].ways >= ways ? lines : 10 * lines);

		good &= s.count[CP_SIM_SWEEP + i] == expected;
	}
	end(&s);
	result(good, "a walk that has its knee where it must", level_names[SWEEP_L1D],
		(int)ways);
}

static int count_tests(void)
{
	int count = 3;

	for (int i = 0; i < NMACHINES; i++)
		for (enum sweep_level level = SWEEP_L1I; level <= SWEEP_STLB; level++)
			count += 2 * applies(i, level);
	return count;
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 2000;

	printf("1..%d\n", count_tests());
	for (int ncores = 1; ncores <= MOST_CORES; ncores += MOST_CORES - 1) {
		record(steps, ncores);
		compare_all(ncores);
		free(trace);
		trace = NULL;
	}
	check_knee(1);
	check_knee(6);
	check_knee(16);
	free(trace);
	return failed;
}
