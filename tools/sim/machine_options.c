/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine_options.h"

#define AT(level) __builtin_offsetof(struct machine, level)

/* One row per option that describes an array of the machine.  The defaults are
 * a plain core of the 2010s. */
static const struct array {
	const HChar *name;
	SizeT at; /* in struct machine */
	Bool has_line, may_be_absent, of_huge;
	struct geometry g;
} arrays[] = {
	{"--l1i", AT(l1i), True, False, False, {64, 8, .line = 64}},
	{"--l1d", AT(l1d), True, False, False, {64, 8, .line = 64}},
	{"--l2", AT(l2), True, True, False, {1024, 16, .line = 64}},
	{"--llc", AT(llc), True, True, False, {8192, 16, .line = 64}},
	{"--itlb", AT(itlb), False, False, False, {.sets = 16, .ways = 4}},
	{"--dtlb", AT(dtlb), False, False, False, {.sets = 16, .ways = 4}},
	{"--stlb", AT(stlb), False, True, False, {.sets = 128, .ways = 8}},
	{"--itlb2", AT(itlb2), False, True, False, {.sets = 0}},
	{"--dtlb2", AT(dtlb2), False, True, False, {.sets = 0}},
	{"--itlb-2m", AT(itlb_2m), False, True, True, {.sets = 0}},
	{"--dtlb-2m", AT(dtlb_2m), False, True, True, {.sets = 0}},
	{"--stlb-2m", AT(stlb_2m), False, True, True, {.sets = 0}},
	{"--itlb2-2m", AT(itlb2_2m), False, True, True, {.sets = 0}},
	{"--dtlb2-2m", AT(dtlb2_2m), False, True, True, {.sets = 0}},
};
#define NARRAYS (sizeof(arrays) / sizeof(arrays[0]))
#define NCACHES 4

/* The machine that is being described: --next-machine adds it to the others, and begins
 * another one. */
static struct {
	Bool begun;
	struct geometry arrays[NARRAYS];
	ULong page_size;
	ULong cores;
	Bool ignores_orders;
	ULong stream_buffers;
	Bool string_iterations;
	struct latencies latencies;
	struct ooo ooo;
	struct sockets sockets;
	ULong hops[3]; /* cycles: one, two, what another socket's caches had modified */
} described;

static void begin_machine(void)
{
	VG_(memset)(&described, 0, sizeof(described));
	described.begun = True;
	described.page_size = 4096;
	described.cores = 64;
	for (UInt i = 0; i < NARRAYS; i++)
		described.arrays[i] = arrays[i].g;
}

static Bool power_of_two(ULong n)
{
	return n && !(n & (n - 1));
}

static void check_array(const struct array *a, const ULong *v)
{
	if (!v[0] && !v[1]) {
		if (!a->may_be_absent)
			refuse_option(a->name, "this level cannot be absent");
		return;
	}
	if (v[0] < 1 || v[0] > 1u << 24)
		refuse_option(a->name, "the number of sets must be 1 to 16777216");
	if (v[1] < 1 || v[1] > CACHE_MAX_WAYS)
		refuse_option(a->name, "the number of ways must be 1 to 128");
	if (a->has_line && (!power_of_two(v[2]) || v[2] < 16 || v[2] > 256))
		refuse_option(a->name, "the line size must be 16, 32, 64, 128 or 256");
}

/* The words of a geometry after its numbers; field is the byte that gets value. */
#define WORD(word, field, value)                                                         \
	{                                                                                \
		word, __builtin_offsetof(struct geometry, field), value                  \
	}
static const struct {
	const HChar *word;
	UInt field;
	UChar value;
} words[] = {
	WORD("lru", policy, POLICY_LRU),
	WORD("plru", policy, POLICY_PLRU),
	WORD("round-robin", policy, POLICY_ROUND_ROBIN),
	WORD("lru-plru4", policy, POLICY_LRU_PLRU4),
	WORD("mru", policy, POLICY_MRU),
	WORD("mru-n", policy, POLICY_MRU_N),
	WORD("write-through", write_through, 1),
	WORD("no-allocate", no_allocate, 1),
	WORD("inclusive", inclusion, INCLUSIVE),
	WORD("exclusive", inclusion, EXCLUSIVE),
	WORD("half-lines", halves, 1),
	WORD("fp-bypass", fp_bypass, 1),
};

/* Prefetchers with their numbers, the last of which may be left out if it is in brackets.
 * Their ranges are those of machine files (base/machine/prefetch.c). */
static const struct {
	const HChar *name;
	UInt kind, least, numbers;
	ULong most[3];
} prefetchers[] = {
	{"next-line", PREFETCH_NEXT_LINE, 0, 1, {64}},
	{"stream", PREFETCH_STREAM, 2, 2, {64, 1024}},
	{"ip-stride", PREFETCH_IP_STRIDE, 3, 3, {1024, 64, 65536}},
	{"streamer", PREFETCH_STREAMER, 3, 3, {64, 16, 64}},
	{"adjacent-line", PREFETCH_ADJACENT, 0, 0, {0}},
	{"region", PREFETCH_REGION, 2, 2, {64, 1024}},
	{"up-down", PREFETCH_UP_DOWN, 1, 1, {64}},
};

static Bool parse_prefetch_numbers(
	struct prefetcher *p, UInt which, const HChar *s, const HChar *end)
{
	UInt n = 0;

	for (; *s == ':'; n++) {
		ULong v;

		s++;
		if (n == prefetchers[which].numbers || !parse_numbers(&s, ':', &v, 1) ||
			!v || v > prefetchers[which].most[n])
			return False;
		p->number[n] = v;
	}
	return s == end && n >= prefetchers[which].least;
}

static Bool parse_prefetcher(struct geometry *g, const HChar *s, const HChar *end)
{
	struct prefetcher p = {0};
	UInt length = 0, i = 0;

	while (s + length < end && s[length] != ':')
		length++;
	for (UInt k = 0; k < sizeof(prefetchers) / sizeof(prefetchers[0]); k++) {
		if (VG_(strlen)(prefetchers[k].name) != length ||
			VG_(strncmp)(s, prefetchers[k].name, length) != 0)
			continue;
		p.kind = prefetchers[k].kind;
		while (i < PREFETCHERS && g->prefetch[i].kind)
			i++;
		if (i == PREFETCHERS || !parse_prefetch_numbers(&p, k, s + length, end))
			return False;
		g->prefetch[i] = p;
		return True;
	}
	return False;
}

static Bool parse_plain_word(struct geometry *g, const HChar *s, UInt length)
{
	for (UInt i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (VG_(strlen)(words[i].word) == length &&
			VG_(strncmp)(s, words[i].word, length) == 0) {
			((UChar *)g)[words[i].field] = words[i].value;
			return True;
		}
	return False;
}

/* NAME:NUMBER[:NUMBER], n numbers. */
static Bool parse_numbered(
	const HChar *s, const HChar *end, const HChar *name, ULong *out, UInt n)
{
	UInt length = VG_(strlen)(name);

	if (VG_(strncmp)(s, name, length) != 0)
		return False;
	s += length;
	return parse_numbers(&s, ':', out, n) && s == end;
}

/* Five digits: H, H, M, R, U. */
static void take_qlru(struct geometry *g, ULong digits)
{
	g->policy = POLICY_QLRU;
	g->update = digits % 10;
	g->place = digits / 10 % 10;
	g->miss = digits / 100 % 10;
	g->hit2 = digits / 1000 % 10;
	g->hit3 = digits / 10000 % 10;
}

static Bool parse_word(struct geometry *g, const HChar *s, const HChar *end)
{
	ULong v[5];

	if (parse_numbered(s, end, "duel:", v, 5)) {
		g->duel = (struct age_duel){v[0], v[1], v[2], v[3], v[4]};
	} else if (parse_numbered(s, end, "shared:", v, 1)) {
		g->shared = v[0];
	} else if (parse_numbered(s, end, "random:", v, 1)) {
		g->policy = POLICY_RANDOM;
		g->seed = v[0];
	} else if (parse_numbered(s, end, "qlru:", v, 1)) {
		take_qlru(g, v[0]);
	} else {
		return parse_plain_word(g, s, (UInt)(end - s)) ||
		       parse_prefetcher(g, s, end);
	}
	return True;
}

static void parse_words(const struct array *a, struct geometry *g, const HChar *s)
{
	while (*s == ',') {
		const HChar *end = ++s;

		while (*end && *end != ',')
			end++;
		if (!parse_word(g, s, end))
			refuse_option(
				a->name, a->has_line ? "expected SETS,WAYS,LINE[,WORD...]"
						     : "expected SETS,WAYS[,WORD...]");
		s = end;
	}
}

/* At a miss with R0 or R2 some way has to be of age 3, which only U0 and U1 see to. */
static Bool is_qlru(const struct geometry *g)
{
	return g->hit3 <= 2 && g->hit2 <= 1 && g->miss <= 3 && g->place <= 2 &&
	       g->update <= 3 && (g->place == 1 || g->update <= 1);
}

static Bool is_duel(const struct age_duel *d)
{
	return d->age <= 3 && power_of_two(d->of) && d->first + d->count <= d->of &&
	       d->second + d->count <= d->of;
}

static void check_policy(const struct array *a, const struct geometry *g)
{
	Bool first = a->at == AT(l1i) || a->at == AT(l1d);

	if (g->policy == POLICY_PLRU && !power_of_two(g->ways))
		refuse_option(a->name, "plru needs a power of two of ways");
	if (g->policy == POLICY_LRU_PLRU4 && (!first || g->ways % 4))
		refuse_option(a->name, "lru-plru4 is of first levels with fours of ways");
	if (g->policy >= POLICY_QLRU && a->at != AT(l2) && a->at != AT(llc))
		refuse_option(a->name, "qlru, mru and mru-n are of l2 and llc");
	if (g->policy == POLICY_QLRU && !is_qlru(g))
		refuse_option(a->name, "qlru:HHMRU, with U below 2 unless R is 1");
	if (g->duel.of && (g->policy != POLICY_QLRU || !is_duel(&g->duel)))
		refuse_option(a->name, "duel:AGE:FIRST:SECOND:COUNT:OF, with qlru:HHMRU");
}

static void parse_array(const struct array *a, const HChar *value)
{
	struct geometry *g = &described.arrays[a - arrays];
	ULong v[3] = {0, 0, 0};

	if (a->of_huge && VG_(strcmp)(value, "shared") == 0) {
		*g = (struct geometry){.sets = 0};
		return;
	}
	if (!parse_numbers(&value, ',', v, a->has_line ? 3 : 2) ||
		(*value && *value != ','))
		refuse_option(a->name, a->has_line ? "expected SETS,WAYS,LINE[,WORD...]"
						   : "expected SETS,WAYS[,WORD...]");
	check_array(a, v);
	*g = (struct geometry){.sets = v[0], .ways = v[1], .line = v[0] ? v[2] : 0};
	g->absent = a->of_huge && !v[0];
	parse_words(a, g, value);
	check_policy(a, g);
}

static void parse_page(const HChar *value)
{
	if (!parse_numbers(&value, ',', &described.page_size, 1) || *value ||
		!power_of_two(described.page_size) || described.page_size < 1024 ||
		described.page_size > 1u << 30)
		refuse_option(
			"--page", "expected a power of two from 1024 to 1073741824");
}

static void parse_cores(const HChar *value)
{
	if (!parse_numbers(&value, ',', &described.cores, 1) || *value ||
		!described.cores || described.cores > 4096)
		refuse_option("--cores", "expected a number from 1 to 4096");
}

static void parse_orders(const HChar *value)
{
	described.ignores_orders = VG_(strcmp)(value, "no") == 0;
	if (!described.ignores_orders && VG_(strcmp)(value, "yes") != 0)
		refuse_option("--cache-instructions", "expected yes or no");
}

static void parse_strings(const HChar *value)
{
	described.string_iterations = VG_(strcmp)(value, "iterations") == 0;
	if (!described.string_iterations && VG_(strcmp)(value, "whole") != 0)
		refuse_option("--string-instructions", "expected whole or iterations");
}

static void parse_stream_buffers(const HChar *value)
{
	if (!parse_numbers(&value, ',', &described.stream_buffers, 1) || *value ||
		described.stream_buffers > STREAMED_MOST)
		refuse_option("--stream-buffers", "expected a number from 0 to 64");
}

/* The numbers of struct latencies. */
static void parse_timing(const HChar *value)
{
	ULong v[8];

	described.latencies = (struct latencies){0};
	if (VG_(strcmp)(value, "no") == 0)
		return;
	if (!parse_numbers(&value, ',', v, 8) || *value || !v[2])
		refuse_option(
			"--timing", "expected eight numbers, the third one above 0");
	for (UInt i = 0; i < 6; i++)
		if (v[i] > 1000000)
			refuse_option("--timing", "more than 1000000 cycles");
	if (v[6] > TIMING_BUFFERS || v[7] > TIMING_BUFFERS)
		refuse_option("--timing", "more than 64 buffers");
	described.latencies = (struct latencies){
		v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], 0, 0, 0};
}

/* The numbers of struct ooo, in the ranges that machine files have (base/machine/file.c);
 * where that may be left out, 0 as well. */
static const struct {
	ULong least, most;
	Bool optional;
	const HChar *refusal;
} ooo_ranges[] = {
	{1, 100000, False, "L1: expected 1 to 100000"},
	{1, 4096, False, "WINDOW: expected 1 to 4096"},
	{1, 1000, False, "MISPREDICTED: expected 1 to 1000"},
	{1, 16, True, "WALKERS: expected 0 to 16"},
	{1, 1024, True, "L2-FILL-BUFFERS: expected 0 to 1024"},
	{10, 3200, False, "WIDTH: expected 10 to 3200"},
	{10, 3200, True, "LOADS: expected 0, or 10 to 3200"},
	{10, 3200, True, "STORES: expected 0, or 10 to 3200"},
	{1, 100000, True, "L2-LINE: expected 0 to 100000"},
	{1, 100000, True, "LLC-LINE: expected 0 to 100000"},
	{1, 1000000, True, "MEMORY-LINE: expected 0 to 1000000"},
	{1, 31, True, "DISTANCE: expected 0 to 31"},
	{1, 100000, True, "NEAR: expected 0 to 100000"},
	{1, 4000000000u, True, "STAY: expected 0 to 4000000000"},
	{1, 100, True, "FLOAT-ADD: expected 0 to 100"},
	{1, 100, True, "FLOAT-MULTIPLY: expected 0 to 100"},
	{1, 100000, True, "STORE-LINE: expected 0 to 100000"},
	{1, 100000, True, "SET-LINE: expected 0 to 100000"},
	{1, 100000, True, "LONE-LINE: expected 0 to 100000"},
	{1, 100000, True, "LOAD-SET-LINE: expected 0 to 100000"},
	{1, 100000, True, "LLC-SET-LINE: expected 0 to 100000"},
	{1, 64, True, "BANKS: expected 0 to 64"},
};
#define NOOO (sizeof(ooo_ranges) / sizeof(ooo_ranges[0]))

static void parse_ooo(const HChar *value)
{
	ULong v[NOOO];

	described.ooo = (struct ooo){0};
	if (VG_(strcmp)(value, "no") == 0)
		return;
	if (!parse_numbers(&value, ',', v, NOOO) || *value)
		refuse_option("--out-of-order", "expected 22 numbers");
	for (UInt i = 0; i < NOOO; i++)
		if ((v[i] < ooo_ranges[i].least && (v[i] || !ooo_ranges[i].optional)) ||
			v[i] > ooo_ranges[i].most)
			refuse_option("--out-of-order", ooo_ranges[i].refusal);
	described.ooo = (struct ooo){v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8],
		v[9], v[10], v[11], v[12], v[13], v[14], v[15], v[16], v[17], v[18],
		v[19], v[20], v[21]};
}

/* N,ONE-HOP,TWO-HOPS,CACHE[,ring][,close] */
static void parse_sockets(const HChar *value)
{
	ULong v[4];

	described.sockets = (struct sockets){0};
	if (!parse_numbers(&value, ',', v, 4) || !v[0] || v[0] > NUMA_SOCKETS ||
		v[1] > 1000000 || v[2] > 1000000 || v[3] > 1000000)
		refuse_option("--sockets",
			"expected SOCKETS,CYCLES,CYCLES,CYCLES[,ring][,close]");
	described.sockets.sockets = v[0];
	for (UInt i = 0; i < 3; i++)
		described.hops[i] = v[i + 1];
	if (VG_(strncmp)(value, ",ring", 5) == 0) {
		described.sockets.ring = 1;
		value += 5;
	}
	if (VG_(strncmp)(value, ",close", 6) == 0) {
		described.sockets.close = 1;
		value += 6;
	}
	if (*value)
		refuse_option("--sockets",
			"expected SOCKETS,CYCLES,CYCLES,CYCLES[,ring][,close]");
}

/* Cores around one cache are on one socket. */
static void check_sockets(const struct machine *m)
{
	UInt each = m->sockets.sockets ? m->cores / m->sockets.sockets : 0;

	if (m->sockets.sockets <= 1)
		return;
	if (m->cores % m->sockets.sockets)
		refuse_option("--sockets", "the cores cannot be divided into so many");
	if ((m->l2.shared && each % m->l2.shared) ||
		(m->llc.sets && (!m->llc.shared || each % m->llc.shared)))
		refuse_option("--sockets", "a cache belongs to one socket: see shared");
}

/* The smallest line; a half of L1D's if those are told apart. */
static UInt smallest_line(void)
{
	UInt line = described.arrays[0].line;

	for (UInt i = 0; i < NCACHES; i++) {
		const struct geometry *g = &described.arrays[i];

		if (g->sets && g->line >> g->halves < line)
			line = g->line >> g->halves;
	}
	return line;
}

static void check_together(void)
{
	const struct geometry *l1i = &tool_options.machine.l1i,
			      *l1d = &tool_options.machine.l1d,
			      *l2 = &tool_options.machine.l2,
			      *llc = &tool_options.machine.llc;
	UInt inner = l1i->line > l1d->line ? l1i->line : l1d->line;

	if (l2->sets && l2->line < inner)
		refuse_option("--l2", "its line must not be smaller than L1's");
	if (llc->sets && llc->line < (l2->sets ? l2->line : inner))
		refuse_option("--llc",
			"its line must not be smaller than those in front of it");
	if (l1d->fp_bypass && (!l2->sets || !l1d->write_through))
		refuse_option("--l1d", "fp-bypass needs an L2 and a write-through L1D");
	if (l2->inclusion == EXCLUSIVE &&
		(l1d->write_through || l1d->no_allocate || geometry_prefetches(l2) ||
			l2->write_through || l2->line != l1d->line ||
			l2->line != l1i->line))
		refuse_option("--l2",
			"exclusive needs lines like L1's, "
			"a write-back L1D that allocates, and no prefetcher");
	if (llc->inclusion == EXCLUSIVE &&
		(llc->write_through ||
			(l2->sets ? l2->write_through || l2->no_allocate ||
						l2->line != llc->line
				  : l1d->write_through || l1d->no_allocate ||
						l1d->line != llc->line ||
						l1i->line != llc->line)))
		refuse_option("--llc", "exclusive needs lines like those in front of it, "
				       "and a write-back level there that allocates");
	if (llc->shared && l2->shared > 1 && llc->shared % l2->shared)
		refuse_option("--llc", "shared must be a multiple of that of L2");
	if (geometry_prefetches(llc))
		refuse_option("--llc", "the last level has no prefetcher");
	if (tool_options.machine.stlb.sets &&
		(tool_options.machine.itlb2.sets || tool_options.machine.dtlb2.sets))
		refuse_option(
			"--stlb", "a common second level excludes --itlb2 and --dtlb2");
}

void machine_options_add(void)
{
	struct machine *m = &tool_options.machine;

	if (!described.begun)
		begin_machine();
	if (tool_options.nmachines == TOOL_MAX_MACHINES)
		refuse_option("--next-machine", "16 machines at most");
	m->line = smallest_line();
	m->page = described.page_size;
	m->cores = described.cores;
	m->ignores_orders = described.ignores_orders;
	m->stream_buffers = described.stream_buffers;
	m->string_iterations = described.string_iterations;
	m->time = described.latencies;
	m->ooo = described.ooo;
	m->time.one_hop = described.hops[0];
	m->time.two_hops = described.hops[1];
	m->time.remote_cache = described.hops[2];
	m->sockets = described.sockets;
	for (UInt i = 0; i < NARRAYS; i++)
		*(struct geometry *)((UChar *)m + arrays[i].at) = described.arrays[i];
	for (UInt i = 0; i < NCACHES; i++)
		if (described.arrays[i].line > m->page)
			refuse_option("--page", "a page must not be smaller than a line");
	if (m->line < 8)
		refuse_option("--l1d", "half-lines needs lines of 16 bytes or more");
	check_together();
	check_sockets(m);
	tool_options.machines[tool_options.nmachines++] = *m;
	described.begun = False;
}

static const struct option_value values[] = {
	{"--page=", parse_page},
	{"--cores=", parse_cores},
	{"--cache-instructions=", parse_orders},
	{"--stream-buffers=", parse_stream_buffers},
	{"--string-instructions=", parse_strings},
	{"--sockets=", parse_sockets},
	{"--timing=", parse_timing},
	{"--out-of-order=", parse_ooo},
	{NULL, NULL},
};

Bool machine_options_parse(const HChar *arg)
{
	if (!described.begun)
		begin_machine();
	if (VG_(strcmp)(arg, "--next-machine") == 0) {
		machine_options_add();
		return True;
	}
	for (UInt i = 0; i < NARRAYS; i++) {
		UInt length = VG_(strlen)(arrays[i].name);

		if (VG_(strncmp)(arg, arrays[i].name, length) == 0 &&
			arg[length] == '=') {
			parse_array(&arrays[i], arg + length + 1);
			return True;
		}
	}
	return option_has_value(arg, values);
}

void machine_options_check_ooo(void)
{
	const struct ooo *first = NULL;

	for (UInt i = 0; i < tool_options.nmachines; i++) {
		const struct ooo *of = &tool_options.machines[i].ooo;

		if (!of->window)
			continue;
		first = first ? first : of;
		if (of->l1 != first->l1 || of->width != first->width ||
			of->loads != first->loads || of->stores != first->stores ||
			of->float_add != first->float_add ||
			of->float_multiply != first->float_multiply)
			refuse_option("--out-of-order",
				"the machines of one run need the same latency of L1, "
				"width, loads, stores and latencies of floats");
	}
}
