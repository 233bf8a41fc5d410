/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The machine to simulate, from the command line.
 */
#include "model/ahead.h"
#include "tool.h"
#include "system/huge_kernel.h"
#include "native/native.h"
#include "paths/paths.h"
#include "profile/profile.h"
#include "watch/lines.h"
#include "sample/sample.h"
#include "profile/sharing.h"
#include "window.h"

struct machine tool_machines[TOOL_MAX_MACHINES], tool_machine;
UInt tool_nmachines;
Bool tool_has_front, tool_float_loads, tool_timing, tool_report, sharing_wanted;
UInt sharing_quantum, window_length;
struct sweep_plan tool_sweep;
struct sample_plan sample_plan;
const HChar *profile_directory;
Bool profile_sites;

#define AT(level) __builtin_offsetof(struct machine, level)

/* One row per option that describes an array of the machine.  The defaults are
 * a plain core of the 2010s. */
static struct array {
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

enum { PAGE_SIZE = 4096, CORES = 64 };

static ULong page_size = PAGE_SIZE;
static ULong cores = CORES;
static struct latencies latencies;
static struct ooo ooo;
static struct sockets sockets;
static ULong hops[3]; /* cycles: one, two, what another socket's caches had modified */

static void __attribute__((noreturn)) refuse_option(const HChar *name, const HChar *why)
{
	VG_(fmsg)("%s: %s\n", name, why);
	VG_(exit)(2);
}

/* "1,2,3" into out[n], and where it ends. */
static Bool parse_numbers(const HChar **at, HChar separator, ULong *out, UInt n)
{
	const HChar *s = *at;

	for (UInt i = 0; i < n; i++) {
		HChar *end;

		if ((i && *s++ != separator) || !VG_(isdigit)(*s))
			return False;
		out[i] = (ULong)VG_(strtoll10)(s, &end);
		s = end;
	}
	*at = s;
	return True;
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
	WORD("write-through", write_through, 1),
	WORD("no-allocate", no_allocate, 1),
	WORD("inclusive", inclusion, INCLUSIVE),
	WORD("exclusive", inclusion, EXCLUSIVE),
	WORD("next-line", prefetch, PREFETCH_NEXT_LINE),
	WORD("half-lines", halves, 1),
	WORD("fp-bypass", fp_bypass, 1),
};

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

static Bool parse_word(struct geometry *g, const HChar *s, const HChar *end)
{
	ULong v[2];

	if (parse_numbered(s, end, "shared:", v, 1)) {
		g->shared = v[0];
	} else if (parse_numbered(s, end, "random:", v, 1)) {
		g->policy = POLICY_RANDOM;
		g->seed = v[0];
	} else if (parse_numbered(s, end, "stream:", v, 2)) {
		g->prefetch = PREFETCH_STREAM;
		g->degree = v[0];
		g->distance = v[1];
	} else {
		return parse_plain_word(g, s, (UInt)(end - s));
	}
	return True;
}

static void parse_words(struct array *a, const HChar *s)
{
	while (*s == ',') {
		const HChar *end = ++s;

		while (*end && *end != ',')
			end++;
		if (!parse_word(&a->g, s, end))
			refuse_option(
				a->name, a->has_line ? "expected SETS,WAYS,LINE[,WORD...]"
						     : "expected SETS,WAYS[,WORD...]");
		s = end;
	}
}

static void parse_array(struct array *a, const HChar *value)
{
	ULong v[3] = {0, 0, 0};

	if (a->of_huge && VG_(strcmp)(value, "shared") == 0) {
		a->g = (struct geometry){.sets = 0};
		return;
	}
	if (!parse_numbers(&value, ',', v, a->has_line ? 3 : 2) ||
		(*value && *value != ','))
		refuse_option(a->name, a->has_line ? "expected SETS,WAYS,LINE[,WORD...]"
						   : "expected SETS,WAYS[,WORD...]");
	check_array(a, v);
	a->g = (struct geometry){.sets = v[0], .ways = v[1], .line = v[0] ? v[2] : 0};
	a->g.absent = a->of_huge && !v[0];
	parse_words(a, value);
	if (a->g.policy == POLICY_PLRU && !power_of_two(a->g.ways))
		refuse_option(a->name, "plru needs a power of two of ways");
}

static void parse_page(const HChar *value)
{
	if (!parse_numbers(&value, ',', &page_size, 1) || *value ||
		!power_of_two(page_size) || page_size < 1024 || page_size > 1u << 30)
		refuse_option(
			"--page", "expected a power of two from 1024 to 1073741824");
}

static void parse_window(const HChar *value)
{
	ULong n;

	if (!parse_numbers(&value, ',', &n, 1) || *value || !n || n > 1000000000)
		refuse_option("--window", "expected a number from 1 to 1000000000");
	window_length = n;
}

static void parse_quantum(const HChar *value)
{
	ULong n;

	if (!parse_numbers(&value, ',', &n, 1) || *value || !n || n > 1000000000)
		refuse_option("--quantum", "expected a number from 1 to 1000000000");
	sharing_quantum = n;
}

static void parse_sample(const HChar *value)
{
	ULong v[5];

	if (!parse_numbers(&value, ',', v, 5) || *value || !v[0] ||
		v[0] > CP_SIM_GROUPS || !v[2] || v[3] < v[1] + v[2])
		refuse_option("--sample",
			"expected SETS,WARM,BURST,PERIOD,SEED: up to 16 sets, "
			"and the period is longer than the others");
	sample_plan = (struct sample_plan){v[0], v[1], v[2], v[3], v[4]};
}

/* Options that look at each reference, or at several machines, need all references. */
static void check_sample(void)
{
	if (!sample_wanted())
		return;
	if (tool_nmachines > 1 || tool_timing || tool_sweep.npoints ||
		profile_directory || window_length || sharing_wanted)
		refuse_option("--sample",
			"not with --next-machine, --timing, --sweep, "
			"--profile, --call-paths, --window or --sharing");
	if (!sample_groups(&tool_machine))
		refuse_option("--sample", "needs LRU caches without prefetchers, an L2, "
					  "and numbers of sets that are multiples of 16");
}

static void parse_cores(const HChar *value)
{
	if (!parse_numbers(&value, ',', &cores, 1) || *value || !cores || cores > 4096)
		refuse_option("--cores", "expected a number from 1 to 4096");
}

/* The numbers of struct latencies. */
static void parse_timing(const HChar *value)
{
	ULong v[8];

	latencies = (struct latencies){0};
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
	latencies = (struct latencies){
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
};
#define NOOO (sizeof(ooo_ranges) / sizeof(ooo_ranges[0]))

static void parse_ooo(const HChar *value)
{
	ULong v[NOOO];

	ooo = (struct ooo){0};
	if (VG_(strcmp)(value, "no") == 0)
		return;
	if (!parse_numbers(&value, ',', v, NOOO) || *value)
		refuse_option("--out-of-order", "expected eleven numbers");
	for (UInt i = 0; i < NOOO; i++)
		if ((v[i] < ooo_ranges[i].least && (v[i] || !ooo_ranges[i].optional)) ||
			v[i] > ooo_ranges[i].most)
			refuse_option("--out-of-order", ooo_ranges[i].refusal);
	ooo = (struct ooo){
		v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10]};
}

/* N,ONE-HOP,TWO-HOPS,CACHE[,ring][,close] */
static void parse_sockets(const HChar *value)
{
	ULong v[4];

	sockets = (struct sockets){0};
	if (!parse_numbers(&value, ',', v, 4) || !v[0] || v[0] > NUMA_SOCKETS ||
		v[1] > 1000000 || v[2] > 1000000 || v[3] > 1000000)
		refuse_option("--sockets",
			"expected SOCKETS,CYCLES,CYCLES,CYCLES[,ring][,close]");
	sockets.sockets = v[0];
	for (UInt i = 0; i < 3; i++)
		hops[i] = v[i + 1];
	if (VG_(strncmp)(value, ",ring", 5) == 0) {
		sockets.ring = 1;
		value += 5;
	}
	if (VG_(strncmp)(value, ",close", 6) == 0) {
		sockets.close = 1;
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
	UInt line = arrays[0].g.line;

	for (UInt i = 0; i < NCACHES; i++) {
		const struct geometry *g = &arrays[i].g;

		if (g->sets && g->line >> g->halves < line)
			line = g->line >> g->halves;
	}
	return line;
}

static void check_together(void)
{
	const struct geometry *l1i = &tool_machine.l1i, *l1d = &tool_machine.l1d,
			      *l2 = &tool_machine.l2, *llc = &tool_machine.llc;
	UInt inner = l1i->line > l1d->line ? l1i->line : l1d->line;

	if (l2->sets && l2->line < inner)
		refuse_option("--l2", "its line must not be smaller than L1's");
	if (llc->sets && llc->line < (l2->sets ? l2->line : inner))
		refuse_option("--llc",
			"its line must not be smaller than those in front of it");
	if (l1d->fp_bypass && (!l2->sets || !l1d->write_through))
		refuse_option("--l1d", "fp-bypass needs an L2 and a write-through L1D");
	if (l2->inclusion == EXCLUSIVE &&
		(l1d->write_through || l1d->no_allocate || l2->prefetch ||
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
	if (llc->prefetch)
		refuse_option("--llc", "the last level has no prefetcher");
	if (tool_machine.stlb.sets &&
		(tool_machine.itlb2.sets || tool_machine.dtlb2.sets))
		refuse_option(
			"--stlb", "a common second level excludes --itlb2 and --dtlb2");
}

/* The machine that the options so far describe. */
static void add_machine(void)
{
	struct machine *m = &tool_machine;

	if (tool_nmachines == TOOL_MAX_MACHINES)
		refuse_option("--next-machine", "16 machines at most");
	m->line = smallest_line();
	m->page = page_size;
	m->cores = cores;
	m->time = latencies;
	m->ooo = ooo;
	m->time.one_hop = hops[0];
	m->time.two_hops = hops[1];
	m->time.remote_cache = hops[2];
	m->sockets = sockets;
	for (UInt i = 0; i < NARRAYS; i++)
		*(struct geometry *)((UChar *)m + arrays[i].at) = arrays[i].g;
	for (UInt i = 0; i < NCACHES; i++)
		if (arrays[i].g.line > m->page)
			refuse_option("--page", "a page must not be smaller than a line");
	if (m->line < 8)
		refuse_option("--l1d", "half-lines needs lines of 16 bytes or more");
	check_together();
	check_sockets(m);
	tool_machines[tool_nmachines++] = *m;
}

/* The options that follow are about another machine, which starts as the first
 * one did. */
static void begin_machine(Bool next)
{
	static struct geometry standard[NARRAYS];

	if (next)
		add_machine();
	for (UInt i = 0; i < NARRAYS; i++)
		if (next)
			arrays[i].g = standard[i];
		else
			standard[i] = arrays[i].g;
	page_size = PAGE_SIZE;
	cores = CORES;
	ooo = (struct ooo){0};
	latencies = (struct latencies){0};
	sockets = (struct sockets){0};
}

/* LEVEL,SETS:WAYS,... */
static void parse_sweep(const HChar *value)
{
	static const HChar *const names[] = {
		"", "l1i", "l1d", "l2", "llc", "itlb", "dtlb", "stlb"};
	const HChar *end = VG_(strchr)(value, ',');
	ULong v[2];

	for (UInt i = 1; end && i < sizeof(names) / sizeof(names[0]); i++)
		if (VG_(strlen)(names[i]) == (SizeT)(end - value) &&
			VG_(strncmp)(names[i], value, end - value) == 0)
			tool_sweep.level = (enum sweep_level)i;
	if (!tool_sweep.level)
		refuse_option("--sweep", "expected LEVEL,SETS:WAYS,...");
	while (*end) {
		struct sweep_point *p = &tool_sweep.point[tool_sweep.npoints];

		end++;
		if (tool_sweep.npoints++ == CP_SIM_SWEEP_POINTS)
			refuse_option("--sweep", "too many points");
		if (!parse_numbers(&end, ':', v, 2) || (*end && *end != ',') || !v[0] ||
			v[0] > 1u << 24 || !v[1] || v[1] > CACHE_MAX_WAYS)
			refuse_option("--sweep", "expected LEVEL,SETS:WAYS,...");
		p->sets = v[0];
		p->ways = v[1];
	}
}

Bool options_parse(const HChar *arg)
{
	static Bool begun;

	if (!begun)
		begin_machine(False);
	begun = True;
	if (VG_(strcmp)(arg, "--next-machine") == 0) {
		begin_machine(True);
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
	if (VG_(strncmp)(arg, "--page=", 7) == 0) {
		parse_page(arg + 7);
		return True;
	}
	if (VG_(strncmp)(arg, "--cores=", 8) == 0) {
		parse_cores(arg + 8);
		return True;
	}
	if (VG_(strncmp)(arg, "--sockets=", 10) == 0) {
		parse_sockets(arg + 10);
		return True;
	}
	if (VG_(strncmp)(arg, "--window=", 9) == 0) {
		parse_window(arg + 9);
		return True;
	}
	if (VG_(strncmp)(arg, "--sample=", 9) == 0) {
		parse_sample(arg + 9);
		return True;
	}
	if (VG_(strncmp)(arg, "--quantum=", 10) == 0) {
		parse_quantum(arg + 10);
		return True;
	}
	if (VG_BOOL_CLO(arg, "--sharing", sharing_wanted)) {
		return True;
	}
	if (VG_BOOL_CLO(arg, "--line-use", line_use_wanted)) {
		return True;
	}
	if (VG_(strncmp)(arg, "--timing=", 9) == 0) {
		parse_timing(arg + 9);
		return True;
	}
	if (VG_(strncmp)(arg, "--out-of-order=", 15) == 0) {
		parse_ooo(arg + 15);
		return True;
	}
	if (VG_(strncmp)(arg, "--sweep=", 8) == 0) {
		parse_sweep(arg + 8);
		return True;
	}
	if (VG_(strncmp)(arg, "--profile=", 10) == 0) {
		profile_directory = arg + 10;
		profile_sites = True;
		return True;
	}
	if (VG_(strncmp)(arg, "--call-paths=", 13) == 0) {
		profile_directory = arg + 13;
		paths_wanted = True;
		return True;
	}
	if (VG_BINT_CLO(arg, "--call-path-nodes", paths_limit, 1, CP_PROFILE_PATHS)) {
		return True;
	}
	if (VG_(strncmp)(arg, "--profile-misses=", 17) == 0) {
		profile_misses_open(arg + 17);
		return True;
	}
	if (VG_BOOL_CLO(arg, "--report", tool_report)) {
		return True;
	}
	if (VG_STREQ(arg, "--cpu=host")) {
		cpuid_shows_host = True;
		return True;
	}
	if (VG_BOOL_CLO(arg, "--native", native_allowed) ||
		VG_BOOL_CLO(arg, "--hosted-flush", native_hosts_flush)) {
		return True;
	}
	if (VG_BOOL_CLO(arg, "--lines", lines_read)) {
		return True;
	}
	if (VG_BOOL_CLO(arg, "--pieces", pieces_apart)) {
		return True;
	}
	if (VG_STREQ(arg, "--huge-pages=smaps")) {
		huge_from_smaps = True;
		return True;
	}
	if (VG_BOOL_CLO(arg, "--huge-pages", huge_wanted)) {
		return True;
	}
	return False;
}

/* Fills in the machines; tool_machine becomes the first. */
/* A batch tells of chains once, for all machines of the run. */
static void check_ooo(void)
{
	const struct ooo *first = NULL;

	for (UInt i = 0; i < tool_nmachines; i++) {
		const struct ooo *of = &tool_machines[i].ooo;

		if (!of->window)
			continue;
		first = first ? first : of;
		if (of->l1 != first->l1 || of->width != first->width ||
			of->loads != first->loads || of->stores != first->stores)
			refuse_option("--out-of-order",
				"the machines of one run need the same latency of L1, "
				"width, loads and stores");
	}
}

void options_check(void)
{
	add_machine();
	check_ooo();
	for (UInt i = 0; i < tool_nmachines; i++) {
		tool_float_loads |= tool_machines[i].l1d.fp_bypass;
		tool_timing |= tool_machines[i].time.memory != 0;
		ahead_wanted |=
			tool_machines[i].time.memory && tool_machines[i].ooo.window;
		if (tool_machines[i].line != tool_machines[0].line)
			refuse_option("--next-machine",
				"the machines of one run need the same smallest line");
	}
	for (UInt i = 0; i < tool_nmachines; i++)
		tool_has_front |= !machine_is_plain(&tool_machines[i]);
	tool_machine = tool_machines[0];
	check_sample();
}

void options_usage(void)
{
	VG_(printf)
	("    --l1i=SETS,WAYS,LINE --l1d=... --l2=... --llc=...   "
	 "caches [64,8,64 64,8,64\n"
	 "                              1024,16,64 "
	 "8192,16,64]; --l2, --llc 0,0,0: none\n"
	 "    --itlb=SETS,WAYS --dtlb=... --stlb=...   TLBs [16,4 16,4 128,8];\n"
	 "                              --stlb=0,0: none\n"
	 "    --itlb2=... --dtlb2=...   second levels of their own [none]\n"
	 "    --dtlb-2m=... (also itlb-2m, stlb-2m, "
	 "itlb2-2m, dtlb2-2m)   huge pages;\n"
	 "                              0,0: none, shared: "
	 "where the small ones are [shared]\n"
	 "    after the numbers: ,plru ,round-robin ,random:SEED ,write-through\n"
	 "      ,no-allocate ,inclusive ,exclusive ,shared:CORES ,next-line\n"
	 "      ,stream:DEGREE:DISTANCE ,half-lines ,fp-bypass\n"
	 "    --cores=N                 cores for threads to run on [64]\n"
	 "    --sockets=N,ONE-HOP,TWO-HOPS,OTHER-CACHE[,ring][,close]   they "
	 "are on N\n"
	 "                              sockets, each with memory: "
	 "what lines of others'\n"
	 "                              take (0,0,0 without --timing), "
	 "how those stand,\n"
	 "                              and whether threads fill one after the other\n"
	 "    --page=BYTES              page size [4096]\n"
	 "    --timing=L2,LLC,MEMORY,OTHER-CORE,STLB,WALK,FILL-BUFFERS,WRITE-BUFFERS\n"
	 "                              count cycles: what these take, "
	 "from the look-up\n"
	 "                              in L1, and how many there are (0: enough)\n"
	 "    --out-of-order=L1,WINDOW,MISPREDICTED,WALKERS,L2-FILL-BUFFERS,WIDTH,LOADS,STORES,\n"
	 "                              L2-LINE,LLC-LINE,MEMORY-LINE   "
	 "and the core is: from\n"
	 "                              the width on, hundredths (0: no limit)\n"
	 "    --huge-pages=yes|no|smaps who tells which are, "
	 "on a kernel that has PAGEMAP_SCAN:\n"
	 "                              that, nobody, or /proc/self/smaps [yes]\n"
	 "    --next-machine            what follows is about another machine, which\n"
	 "                              gets the same references\n"
	 "    --profile=DIRECTORY       write PID-N.profile there: "
	 "misses by instruction\n"
	 "    --call-paths=DIRECTORY    write there all counters by call path\n"
	 "    --call-path-nodes=N       on at most so many paths [100000]\n"
	 "    --profile-misses=FILE     and each miss of L1D in its order\n"
	 "    --sweep=LEVEL,SETS:WAYS,...   "
	 "misses of that level of the first machine,\n"
	 "                              an LRU cache that nobody else fills, "
	 "if it were so\n"
	 "    --window=N                lines and pages touched in N instructions\n"
	 "    --cpu=host                CPUID tells of the host, "
	 "not of Valgrind's CPU\n"
	 "    --native=no|yes           the host executes what Valgrind lacks [yes]\n"
	 "    --hosted-flush=no|yes     FTZ and DAZ "
	 "are the host's in Valgrind's code [yes]\n"
	 "    --sample=SETS,WARM,BURST,PERIOD,SEED   L2 "
	 "and last level in so many of 64\n"
	 "                              groups of sets, "
	 "the first levels in bursts of so\n"
	 "                              many instructions after "
	 "so many that warm them\n"
	 "    --sharing=no|yes          with a profile: "
	 "lines that threads share [no]\n"
	 "    --line-use=no|yes         with a profile: "
	 "bytes used of fetched lines [no]\n"
	 "    --quantum=N               and "
	 "who takes them from whom if threads take turns\n"
	 "                              after N data references each\n"
	 "    --lines=no|yes            read line numbers, for regions [no]\n"
	 "    --pieces=no|yes           references as the core emulates them, "
	 "as other tools\n"
	 "                              of Valgrind's see them [no]\n"
	 "    --report=no|yes           print all counters at the end [no]\n");
}

void options_debug_usage(void)
{
	VG_(printf)("    (none)\n");
}
