/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The timing model: traces whose cycles were worked out by hand.
 */
#include <stdlib.h>
#include <string.h>
#include "flex/flex.h"
#include "machines/front.h"
#include "model/model.h"
#include "model/timing.h"
#include "tests/sim/one_core.h"
#include "tests/sim/random.h"
#include "tests/sim/small.h"
#include "tests/tap/tap.h"

/* ---- traces by hand ---- */

static const struct machine small = SMALL_TIMED;

static uint64_t at_start[CP_SIM_NCOUNTERS];

static void use(struct core *c)
{
	running = c;
	if (front)
		front_use(front, &running, 1);
}

/* Code that was executed before: a line's address, in the first page. */
enum { CODE = 0x1000, DATA = 0x100000 };

static uint32_t line_shift(void)
{
	return core->line_shift;
}

static batch_function *function(uint32_t places)
{
	return front ? front_function_for(line_shift(), places, 1)
		     : batch_function_for(line_shift(), places, 1);
}

/* An instruction that is executed next, with one reference. */
static void reference(enum batch_kind kind, uint64_t address, uint32_t used)
{
	_Alignas(64) struct batch b = {.clock = 1ull << 32, .items = 1};

	b.item[0].kind = kind;
	batch_notes(&b)[0].used = batch_notes(&b)[1].used = (int16_t)used;
	if (kind == BATCH_CODE) {
		function(0)(&b, address >> line_shift(), 0, 0, 0, 0);
		return;
	}
	b.clock += 2;
	b.loads = kind != BATCH_WRITE;
	b.stores = kind != BATCH_READ && kind != BATCH_FLOAT;
	b.has_floats = kind == BATCH_FLOAT;
	b.item[0].size = 8;
	b.place[0].last = 7;
	batch_place_first(&b.place[0], kind, 0);
	batch_place_writes(&b.place[0], kind == BATCH_WRITE);
	function(1)(&b, front ? front->last_line : running->last_line, address, 0, 0, 0);
}

static void load(uint64_t address, uint32_t used)
{
	reference(BATCH_READ, address, used);
}

static void store(uint64_t address)
{
	reference(BATCH_WRITE, address, 0);
}

/* So many instructions without references, from lines that are there. */
static void instructions(uint64_t n)
{
	*(front ? &front->clock : &running->clock) += n << 32;
}

static void collect(void)
{
	if (front)
		front_collect(front);
	core_collect(running);
	memcpy(at_start, running->count, sizeof(at_start));
	memset(running->count, 0, sizeof(running->count));
}

static void begin(const struct machine *m)
{
	front = NULL;
	if (!machine_is_plain(m)) {
		front = host_alloc(sizeof(*front));
		front_init(front, m, 1);
	}
	begin_core(m);
	core->by_place = 0;
	use(core);
	reference(BATCH_CODE, CODE, 0);
	load(DATA, 1);
	load(DATA + 0x1000, 1);
	instructions(10000);
	collect();
}

/* Lines under way arrive, and all is as if nothing had been executed yet. */
static void settle(void)
{
	instructions(10000);
	collect();
}

static void end(void)
{
	end_core();
	if (front)
		host_free(front, sizeof(*front));
	front = NULL;
}

/* Counters by name: {CP_SIM_x, value}..., the cycles first. */
struct expected {
	enum cp_sim_counter counter;
	uint64_t value;
};

static void expect(const char *what, uint64_t cycles, const struct expected *e)
{
	static const char *const names[] = {
#define X(name, meaning) #name,
		CP_SIM_COUNTERS (X)
#undef X
	};

	uint64_t sum = 0;

	collect();
	is_u64(at_start[CP_SIM_cycles], cycles, "%s: cycles", what);
	for (int i = CP_SIM_STACK; i < CP_SIM_STACK_END; i++)
		sum += at_start[i];
	is_u64(sum, cycles, "%s: what each of them is", what);
	for (; e && e->value; e++)
		is_u64(at_start[e->counter], e->value, "%s: %s", what, names[e->counter]);
}

#define EXPECT(what, cycles, ...)                                                        \
	expect(what, cycles, (const struct expected[]){__VA_ARGS__, {CP_SIM_cycles, 0}})

/* Set 0 of L1D is DATA's, 1 is DATA + 64, ... */
static uint64_t line_in(uint32_t set, uint32_t which)
{
	return DATA + 64ull * set + 256ull * which;
}

/* Ten loads that hit, each used by the next: a cycle each. */
static void hit_chain(void)
{
	begin(&small);
	load(DATA, 1);
	settle();
	for (int i = 0; i < 10; i++)
		load(DATA, 1);
	EXPECT("hit chain", 10, {CP_SIM_l1d_loads, 10});
	end();
}

/* Three loads that L2 serves, each used by the next.
 *   0: first load; its line is there at 10
 *  10: second load, waited 9 (not 1 to 9); 20: third, waited 9; 30: next, waited 9 */
static void miss_chain(void)
{
	begin(&small);
	for (uint32_t i = 0; i < 3; i++) {
		load(line_in(i, 1), 1);
		load(line_in(i, 0), 1);
	}
	settle();
	for (uint32_t i = 0; i < 3; i++)
		load(line_in(i, 1), 1);
	EXPECT("miss chain", 30, {CP_SIM_value_stall_cycles, 27},
		{CP_SIM_load_latency_cycles, 30});
	end();
}

/* Three loads from memory, all used by the fourth instruction.
 *   0, 1, 2: loads; their lines are there at 100, 101, 102
 *   3: waits until 102 (99 cycles), goes on; the fifth would be at 103 */
static void overlapping_misses(void)
{
	begin(&small);
	settle();
	load(line_in(0, 4), 3);
	load(line_in(1, 4), 2);
	load(line_in(2, 4), 1);
	instructions(1);
	EXPECT("overlapping misses", 103, {CP_SIM_value_stall_cycles, 99},
		{CP_SIM_value_stall_beyond_l2, 99}, {CP_SIM_value_stall_memory, 99},
		{CP_SIM_load_latency_cycles, 300});
	end();
}

/* Two fill buffers, four loads from memory, all used by the fifth instruction.
 *   0: the first buffer, until 100; 1: the second, until 101
 *   2: waits for the first until 100 (98), has it until 200
 * 101: the second is free again; has it until 201
 * 102: the fifth waits until 201 (99); the sixth would be at 202 */
static void full_fill_buffers(void)
{
	struct machine m = small;

	m.time.fill_buffers = 2;
	begin(&m);
	settle();
	for (uint32_t i = 0; i < 4; i++)
		load(line_in(i, 4), 4 - i);
	instructions(1);
	EXPECT("full fill buffers", 202, {CP_SIM_buffer_full_cycles, 98},
		{CP_SIM_buffer_full_events, 1}, {CP_SIM_value_stall_cycles, 99});
	end();
}

/* Four modified lines, and four stores whose lines L2 has, that replace them; a write
 * buffer of two entries, an entry in 10 cycles.
 *   0: an entry, until 10; 1: the other, until 20 (one after the other)
 *   2: waits for the first until 10 (8), has it until 30
 *  11: waits for the other until 20 (9), has it until 40
 *  21: would be the next instruction; nobody waits for a store's line */
static void full_write_buffer(void)
{
	struct machine m = small;

	m.time.write_buffers = 2;
	begin(&m);
	for (uint32_t i = 0; i < 4; i++) {
		load(line_in(i, 1), 1);
		store(line_in(i, 0));
	}
	settle();
	for (uint32_t i = 0; i < 4; i++)
		store(line_in(i, 1));
	EXPECT("full write buffer", 21, {CP_SIM_l1d_writebacks, 4},
		{CP_SIM_buffer_full_cycles, 17}, {CP_SIM_buffer_full_events, 2});
	end();
}

/* A load from a page that no TLB has, of a line that L2 has, used by the next.
 *   0: the walk, until 40; the load is at 40, its line is there at 50
 *  50: the next (waited 9); its page is in the second-level TLB: until 55, then its
 *      line, until 65, for which the one after it waits */
static void walk(void)
{
	begin(&small);
	load(DATA + 64, 1);
	load(DATA + 0x1140, 1);
	for (uint32_t page = 2; page < 6; page++) {
		load(DATA + 0x1000ull * page, 1);
		load(DATA + 0x1000ull * page + 320, 1);
	}
	load(DATA + 0x1000 * 3, 1);
	load(DATA + 0x1000 * 5, 1);
	settle();
	load(DATA + 64, 1);
	load(DATA + 0x1000 * 3 + 320, 1);
	EXPECT("walk", 65, {CP_SIM_dtlb_walk_cycles, 40}, {CP_SIM_dtlb_stall_cycles, 45},
		{CP_SIM_value_stall_cycles, 18});
	end();
}

/* Code from a page that no TLB has, out of memory: 40 + 100 before it is executed. */
static void code(void)
{
	begin(&small);
	reference(BATCH_CODE, 0x400000, 0);
	EXPECT("code", 141, {CP_SIM_ifetch_stall_cycles, 140},
		{CP_SIM_itlb_walk_cycles, 40});
	reference(BATCH_CODE, 0x400040, 0);
	instructions(5);
	EXPECT("the next line", 106, {CP_SIM_ifetch_stall_cycles, 100});
	reference(BATCH_CODE, 0x400000, 0);
	EXPECT("a line that is there", 1, {CP_SIM_l1i_accesses, 1});
	end();
}

/* A line that another core has modified comes with the last level's latency; 1: as the
 * file says. */
static void another_core(uint32_t cycles, uint64_t latency)
{
	struct machine m = small;
	struct core *other;

	m.time.cache_to_cache = cycles;
	begin(&m);
	other = core_new(&m, &uncore);
	core_attach(other);
	use(other);
	store(DATA + 128);
	use(core);
	load(DATA + 128, 1);
	EXPECT("from another core", latency, {CP_SIM_loads_cache_to_cache, 1},
		{CP_SIM_load_latency_cycles, latency},
		{CP_SIM_value_stall_beyond_l2, latency - 1});
	core_free(other);
	end();
}

/* Four sockets in a ring, a core and a last level on each.  The core is on the first; a
 * page is where it was first touched.  Loads, each used by the next, of lines that nobody
 * has in a cache but the last, which its core has modified:
 *   0: from our memory, 100; 100: one hop, 160; 260: two hops, 220; 480: the modified
 *      one, 130; 610: the next instruction
 * Then three at once, all used by the fourth instruction: 0, 1, 2; their lines are there
 * at 220, 161 and 102; the fourth, a store to a line one hop away, waits until 220 (217)
 * and not for its line: the next would be at 221. */
static void sockets(void)
{
	const uint64_t one = DATA + 0x2000, two = DATA + 0x3000;
	struct machine m = small;
	struct core *other[3];

	m.cores = 4;
	m.sockets = (struct sockets){4, 1, 0};
	m.llc.shared = 1;
	m.dtlb = (struct geometry)G(1, 4);
	m.time.one_hop = 160;
	m.time.two_hops = 220;
	m.time.remote_cache = 130;
	begin(&m);
	for (int i = 0; i < 3; i++) {
		other[i] = core_new(&m, &uncore);
		core_attach(other[i]);
	}
	use(other[2]);
	store(one);
	use(other[1]);
	store(two);
	use(core);
	load(two + 512, 1);
	load(one + 512, 1);
	settle();
	load(line_in(1, 4), 1);
	load(one + 128, 1);
	load(two + 192, 1);
	load(two, 1);
	EXPECT("sockets", 610, {CP_SIM_load_latency_cycles, 610},
		{CP_SIM_loads_one_hop, 1}, {CP_SIM_one_hop_lines, 1},
		{CP_SIM_loads_two_hop, 1}, {CP_SIM_two_hop_lines, 1},
		{CP_SIM_remote_hitm, 1}, {CP_SIM_loads_cache_to_cache, 1},
		{CP_SIM_llc_load_lines, 3}, {CP_SIM_value_stall_cycles, 606},
		{CP_SIM_value_stall_memory, 99 + 159 + 219},
		{CP_SIM_value_stall_beyond_l2, 606});
	settle();
	load(two + 256, 3);
	load(one + 256, 2);
	load(line_in(2, 5), 1);
	store(one + 320);
	EXPECT("sockets at once", 221, {CP_SIM_load_latency_cycles, 480},
		{CP_SIM_one_hop_lines, 2}, {CP_SIM_loads_one_hop, 1},
		{CP_SIM_value_stall_cycles, 217});
	for (int i = 0; i < 3; i++)
		core_free(other[i]);
	end();
}

/* As the IXP45X, but for small caches and two write buffers: half lines are written
 * back one by one, to memory.
 *   0: the load's line is there at 60; two halves: one entry until 60, one until 120
 *   1: the store of another line replaces half a line: waits until 60, then until 180
 *  61: the next, which waits for nothing */
static void half_lines(void)
{
	struct machine m = {.l1i = G(4, 1, .line = 32),
		.l1d = G(2, 1, .line = 32, .halves = 1),
		.itlb = G(1, 4),
		.dtlb = G(1, 4),
		.line = 16,
		.page = 4096,
		.cores = 1,
		.time = {.memory = 60,
			.walk = 120,
			.fill_buffers = 4,
			.write_buffers = 2}};

	begin(&m);
	store(DATA);
	store(DATA + 16);
	store(DATA + 32);
	settle();
	load(DATA + 64, 2);
	store(DATA + 96);
	EXPECT("half lines", 61, {CP_SIM_l1d_half_writebacks, 3},
		{CP_SIM_buffer_full_cycles, 59}, {CP_SIM_buffer_full_events, 1});
	end();
}

/* A write-through L1D around which store misses go, and floating-point loads that L2
 * serves: each store has an entry (of one), and takes no fill buffer.
 *   0: until 10; 1: waits until 10 (9), until 20; 11: a load that is L2's, there at 21
 *  12: waits until 21 (9) */
static void passed_on(void)
{
	struct machine m = small;

	m.l1d.write_through = m.l1d.no_allocate = m.l1d.fp_bypass = 1;
	m.time.fill_buffers = m.time.write_buffers = 1;
	begin(&m);
	load(DATA, 1);
	settle();
	store(DATA);
	store(DATA + 64);
	reference(BATCH_FLOAT, DATA, 1);
	instructions(1);
	EXPECT("passed on", 22, {CP_SIM_buffer_full_cycles, 9},
		{CP_SIM_value_stall_cycles, 9}, {CP_SIM_l1d_writes_through, 2});
	end();
}

/* ---- batches of one place have ways of their own ---- */

/* The same references, by place or one by one; lanes of L1D, DTLB and L2. */
static void run_alone(const uint32_t ways[3], uint32_t by_place, uint64_t *count)
{
	struct machine m = small;

	m.l1d = (struct geometry)G(64, ways[0]);
	m.dtlb = (struct geometry)G(4, ways[1]);
	m.l2 = (struct geometry)G(64, ways[2]);
	m.stlb = (struct geometry)G(8, 4);
	m.time.fill_buffers = 3;
	m.time.write_buffers = 2;
	begin(&m);
	core->by_place = by_place;
	random_again();
	for (int i = 0; i < 20000; i++) {
		uint64_t address = DATA + 8 * random_below(40 * 512);

		instructions(random_below(3));
		reference(random_below(3) ? BATCH_READ : BATCH_WRITE, address,
			(uint32_t)random_below(4));
	}
	collect();
	memcpy(count, at_start, sizeof(at_start));
	end();
}

static void alone(void)
{
	static const uint32_t ways[][3] = {{8, 4, 8}, {8, 4, 16}, {12, 8, 8}, {4, 4, 8}};
	uint64_t by_place[CP_SIM_NCOUNTERS], each[CP_SIM_NCOUNTERS];

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		run_alone(ways[i], 1, by_place);
		run_alone(ways[i], 0, each);
		ok(each[CP_SIM_value_stall_cycles] && each[CP_SIM_buffer_full_cycles] &&
				memcmp(by_place, each, sizeof(each)) == 0,
			"of one place: %u ways, DTLB %u, L2 %u", ways[i][0], ways[i][1],
			ways[i][2]);
		for (int c = 0; c < CP_SIM_NCOUNTERS; c++)
			if (by_place[c] != each[c])
				diag("counter %d: %llu by place, %llu one by one", c,
					(unsigned long long)by_place[c],
					(unsigned long long)each[c]);
	}
}

int main(void)
{
	plan_lazy();
	batch_told.observe = timing_observe;
	hit_chain();
	miss_chain();
	overlapping_misses();
	full_fill_buffers();
	full_write_buffer();
	walk();
	code();
	another_core(0, 30);
	another_core(55, 55);
	sockets();
	half_lines();
	passed_on();
	alone();
	return 0;
}
