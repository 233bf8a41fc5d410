/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The model with its filters against the plain reference: every counter of
 * every core equal after a million random references, on many geometries.
 * What generated code does inline is written out in C here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "host.h"
#include "reference.h"

void *host_alloc(uint64_t size)
{
	void *p = aligned_alloc(4096, (size + 4095) & ~4095ull);

	return p ? memset(p, 0, size) : NULL;
}

void host_free(void *p, uint64_t size)
{
	(void)size;
	free(p);
}

void host_zero(void *p, uint64_t size)
{
	memset(p, 0, size);
}

static const struct {
	const char *name;
	struct machine m;
} cases[] = {
	/* l1i, l1d, l2, llc, itlb, dtlb, stlb, line, page */
	{"a desktop core", {{64, 8}, {64, 8}, {256, 8}, {1024, 16}, {16, 4}, {16, 4},
				   {64, 8}, 64, 4096}},
	{"12-way L1D, 20-way last level", {{64, 8}, {64, 12}, {512, 20}, {1024, 20},
						  {16, 6}, {16, 6}, {128, 12}, 64, 4096}},
	{"sets that are no powers of two", {{48, 3}, {37, 5}, {300, 7}, {1111, 11},
						   {9, 3}, {13, 5}, {99, 7}, 64, 4096}},
	{"one way", {{64, 1}, {64, 1}, {512, 1}, {2048, 1}, {16, 1}, {16, 1}, {64, 1}, 64,
			    4096}},
	{"fully associative", {{1, 64}, {1, 48}, {1, 100}, {1, 128}, {1, 32}, {1, 64},
				      {1, 128}, 64, 4096}},
	{"one way and one set",
		{{1, 1}, {1, 1}, {4, 2}, {16, 4}, {1, 1}, {1, 1}, {1, 2}, 64, 4096}},
	{"no L2", {{64, 8}, {64, 8}, {0, 0}, {1024, 16}, {16, 4}, {16, 4}, {64, 8}, 64,
			  4096}},
	{"no last level", {{64, 8}, {64, 8}, {512, 8}, {0, 0}, {16, 4}, {16, 4}, {64, 8},
				  64, 4096}},
	{"L1 only, no second TLB",
		{{32, 4}, {32, 4}, {0, 0}, {0, 0}, {1, 32}, {1, 32}, {0, 0}, 64, 4096}},
	{"32-byte lines, 16 KB pages", {{128, 4}, {128, 4}, {512, 8}, {1024, 8}, {1, 16},
					       {1, 16}, {32, 4}, 32, 16384}},
	{"16-byte lines, 2 MB pages", {{64, 4}, {64, 4}, {512, 8}, {1024, 8}, {1, 4},
					      {1, 4}, {2, 4}, 16, 2097152}},
	{"256-byte lines, 1 KB pages", {{16, 4}, {16, 4}, {64, 8}, {128, 8}, {4, 4},
					       {4, 4}, {16, 4}, 256, 1024}},
	{"128-byte lines, 64 KB pages", {{64, 4}, {64, 4}, {512, 8}, {1024, 16}, {1, 48},
						{1, 48}, {64, 4}, 128, 65536}},
};
#define NCASES ((int)(sizeof(cases) / sizeof(cases[0])))

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 11) % n;
}

struct duel {
	struct ref_system ref;
	struct uncore uncore;
	struct core *core[REF_CORES];
	uint64_t count[REF_CORES][CP_SIM_NCOUNTERS];
	int ncores, turn, any_sets;
	uint64_t walk, pc;
};

/* As generated code: test the filter, maybe call, stamp. */
static void fast_data(struct core *c, uint64_t addr, uint32_t size, enum access kind)
{
	uint64_t last = (addr + size - 1) >> c->line_shift;
	uint32_t index = (addr >> c->line_shift) & (DATA_FILTER - 1);
	uint32_t stamp = (uint32_t)c->clock;

	if ((kind == STORE ? c->data[index].write : c->data[index].read) != last)
		data_access(c, addr, size, kind, stamp);
	*c->data[index].stamp_at = stamp;
	c->clock += 2;
	c->refs += kind == STORE ? 1ull << 32 : 1;
}

static void fast_large(struct core *c, uint64_t addr, uint32_t size, enum access kind)
{
	uint32_t ticks = 2 + (size >> c->line_shift);

	data_access(c, addr, size, kind, (uint32_t)c->clock);
	c->clock += ticks;
	c->idle_ticks += ticks - 2;
	c->refs += kind == STORE ? 1ull << 32 : 1;
}

static void fast_code(struct core *c, uint64_t line)
{
	uint32_t index = line & (CODE_FILTER - 1);

	c->clock += c->last_line != line;
	if (c->code[index].line != line)
		c->paths.code(c, line, (uint32_t)c->clock);
	c->code[index].stamp = (uint32_t)c->clock;
	c->last_line = line;
	c->clock += 1ull << 32;
}

static void collect(struct duel *d, int i)
{
	core_collect(d->core[i]);
	for (int k = 0; k < CP_SIM_NCOUNTERS; k++)
		d->count[i][k] += d->core[i]->count[k];
	memset(d->core[i]->count, 0, sizeof(d->core[i]->count));
}

static void data(struct duel *d, uint64_t addr, uint32_t size, enum access kind)
{
	ref_data(&d->ref, d->turn, addr, size, kind);
	if (size > d->ref.m.line)
		fast_large(d->core[d->turn], addr, size, kind);
	else
		fast_data(d->core[d->turn], addr, size, kind);
}

/* Lines whose numbers differ in high bits only; near addresses if the sets are
 * not powers of two, where a far line has no set that we could name. */
static uint64_t pick_far(struct duel *d)
{
	uint64_t near = 0x50000000 + random_below(8) * 0x10000 + random_below(64);

	return d->any_sets ? near : near + (random_below(16) << 43);
}

/* A mixture: a small hot area, a walk, columns, anywhere, far away. */
static uint64_t pick_address(struct duel *d)
{
	uint64_t line = d->ref.m.line;

	switch (random_below(9)) {
	case 5:
		return pick_far(d);
	case 0:
		return d->walk += 8;
	case 1:
		return 0x10000000 + random_below(512) * (d->ref.m.page - line);
	case 2:
		return 0x20000000 + random_below(4096 * line);
	case 3:
		return 0x1ffeff0000 + random_below(64) * d->ref.m.page;
	case 4:
		return 0x30000000 + random_below(200 * line);
	default:
		return 0x30000000 + random_below(20 * line);
	}
}

static uint32_t pick_size(void)
{
	static const uint32_t sizes[] = {1, 2, 4, 4, 8, 8, 8, 16, 8, 4, 4, 512};

	return random_below(50) ? sizes[random_below(11)] : sizes[random_below(12)];
}

static void step_data(struct duel *d)
{
	uint64_t addr = pick_address(d);
	uint32_t size = pick_size();

	switch (random_below(5)) {
	case 0:
	case 1:
		data(d, addr, size, STORE);
		break;
	case 2:
		data(d, addr, size, LOAD);
		data(d, addr, size, STORE);
		break;
	default:
		data(d, addr, size, LOAD);
	}
}

static void step_code(struct duel *d)
{
	if (random_below(20) == 0)
		d->pc = random_below(random_below(4) ? 600 : 20000);
	else if (random_below(3) == 0)
		d->pc++;
	ref_code(&d->ref, d->turn, 4096 + d->pc);
	fast_code(d->core[d->turn], 4096 + d->pc);
}

static void step(struct duel *d)
{
	if (random_below(500) == 0) {
		collect(d, d->turn);
		d->turn = (int)random_below((uint64_t)d->ncores);
	}
	if (random_below(3) == 0)
		step_code(d);
	else
		step_data(d);
}

static void duel_start(struct duel *d, const struct machine *m, int ncores)
{
	memset(d, 0, sizeof(*d));
	seed = 88172645463325252ull;
	d->ncores = ncores;
	d->any_sets = m->llc.sets & (m->llc.sets - 1);
	d->walk = 0x40000000;
	ref_init(&d->ref, m, ncores);
	uncore_init(&d->uncore, m);
	for (int i = 0; i < ncores; i++) {
		d->core[i] = host_alloc(sizeof(struct core));
		core_init(d->core[i], m, &d->uncore);
		core_attach(d->core[i]);
	}
}

static void duel_end(struct duel *d)
{
	ref_free(&d->ref);
	cache_free(&d->uncore.llc);
	for (int i = 0; i < d->ncores; i++) {
		core_free(d->core[i]);
		host_free(d->core[i], sizeof(struct core));
	}
}

static int differences(struct duel *d)
{
	static const char *const names[] = {
#define X(name, meaning) #name,
		CP_SIM_COUNTERS (X)
#undef X
	};
	int different = 0;

	for (int i = 0; i < d->ncores; i++) {
		collect(d, i);
		for (int k = 0; k < CP_SIM_NCOUNTERS; k++) {
			if (d->count[i][k] == d->ref.core[i].count[k])
				continue;
			printf("# core %d %s: %llu, reference %llu\n", i, names[k],
				(unsigned long long)d->count[i][k],
				(unsigned long long)d->ref.core[i].count[k]);
			different++;
		}
	}
	return different;
}

static int run_case(int n, int ncores, long steps)
{
	static struct duel d;
	int different;

	duel_start(&d, &cases[n].m, ncores);
	for (long i = 0; i < steps; i++)
		step(&d);
	different = differences(&d);
	duel_end(&d);
	return different;
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 1300000;
	int failed = 0, test = 0;

	printf("1..%d\n", 2 * NCASES);
	for (int n = 0; n < NCASES; n++) {
		for (int ncores = 1; ncores <= REF_CORES; ncores += REF_CORES - 1) {
			int bad = run_case(n, ncores, steps);

			printf("%sok %d - %s, cores: %d\n", bad ? "not " : "", ++test,
				cases[n].name, ncores);
			fflush(stdout);
			failed |= bad != 0;
		}
	}
	return failed;
}
