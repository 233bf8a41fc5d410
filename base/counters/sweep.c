/* SPDX-License-Identifier: MIT */
#include "base/counters/sweep.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/counts.h"
#include "base/format.h"
#include "base/text.h"
#include "base/counters/events_internal.h"

/* ---- what is asked for ---- */

static int report_wrong(char *error, size_t size, const char *text, const char *what)
{
	cp_format(error, size, "%s: %s", text, what);
	return -EINVAL;
}

static bool is_tlb(enum cp_level level)
{
	return level >= CP_ITLB;
}

static int find_level(const char *word, size_t length)
{
	if (length == 2 && strncasecmp(word, "l3", 2) == 0)
		return CP_LLC;
	for (int i = 0; i <= CP_STLB; i++)
		if (strlen(cp_level_name((enum cp_level)i)) == length &&
			strncasecmp(cp_level_name((enum cp_level)i), word, length) == 0)
			return i;
	return -1;
}

static bool parse_range(const char *text, uint64_t *first, uint64_t *last)
{
	const char *rest;

	if (!cp_parse_size_prefix(text, &rest, first))
		return false;
	*last = *first;
	if (cp_starts_with(rest, "..") && !cp_parse_size_prefix(rest + 2, &rest, last))
		return false;
	return !*rest && *first && *first <= *last;
}

static bool add_point(
	struct cp_sweep_plan *plan, uint64_t value, uint64_t sets, uint64_t ways)
{
	if (plan->npoints == CP_SIM_SWEEP_POINTS)
		return false;
	plan->point[plan->npoints].value = value;
	plan->point[plan->npoints].sets = (uint32_t)sets;
	plan->point[plan->npoints++].ways = (uint32_t)ways;
	return true;
}

static const char *add_ways(
	struct cp_sweep_plan *plan, uint32_t sets, uint64_t first, uint64_t last)
{
	if (last > 128)
		return "the ways must be 1 to 128";
	for (uint64_t ways = first; ways <= last; ways++)
		if (!add_point(plan, ways, sets, ways))
			return "more than 32 points: make the range smaller";
	return NULL;
}

/* The ways stay, and the size is doubled from point to point. */
static const char *add_sizes(struct cp_sweep_plan *plan, uint32_t ways, uint64_t unit,
	uint64_t first, uint64_t last)
{
	if (first % (ways * unit))
		return unit == 1 ? "the entries are no multiple of the ways"
				 : "the size is no multiple of WAYS times LINE";
	for (uint64_t size = first; size <= last; size *= 2) {
		if (size / unit / ways > 1u << 24)
			return "more than 16777216 sets";
		if (!add_point(plan, size, size / unit / ways, ways))
			return "more than 32 points: make the range smaller";
	}
	return NULL;
}

/* ---- what this machine lets us tell ---- */

#define NEEDS                                                                            \
	"a sweep counts misses of an LRU cache that gets its lines from nobody "         \
	"else: "

/* Why this level, by itself, is no plain LRU cache; NULL: it is one. */
static const char *unlike_lru(const struct cp_cache *cache)
{
	if (cache->policy != CP_LRU)
		return "is not LRU (POLICY=lru)";
	if (cp_has_prefetcher(cache))
		return "has a prefetcher (--what-if prefetch=none)";
	if (cache->no_allocate)
		return "does not allocate on a store (ALLOCATE=allocate)";
	if (cache->fp_bypass)
		return "is bypassed by floating-point loads (FP-BYPASS=no)";
	return NULL;
}

static bool say_unlike(struct cp_sweep_plan *plan, enum cp_level level, const char *how)
{
	cp_format(plan->why, sizeof(plan->why), NEEDS "%s %s", cp_level_name(level), how);
	return false;
}

/* The first levels see all references, whatever is behind them; unless that takes
 * lines away from them. */
static bool check_first(struct cp_sweep_plan *plan, const struct cp_machine *machine)
{
	const struct cp_cache *level = machine->level;
	const char *how = unlike_lru(&level[plan->level]);

	if (how)
		return say_unlike(plan, plan->level, how);
	if (is_tlb(plan->level))
		return true;
	for (int i = CP_L2; i <= CP_LLC; i++)
		if (level[i].sets && level[i].inclusion == CP_INCLUSIVE)
			return say_unlike(plan, (enum cp_level)i,
				"is inclusive and takes lines away from L1 "
				"(INCLUSION=non-inclusive)");
	if (level[CP_L2].sets && level[CP_L2].inclusion == CP_EXCLUSIVE)
		return say_unlike(plan, CP_L2,
			"is exclusive, and L1 gets modified lines from it "
			"(INCLUSION=non-inclusive)");
	return true;
}

const char *cp_machine_unlike_plain(const struct cp_machine *machine, enum cp_level i)
{
	const struct cp_cache *cache = &machine->level[i];
	const char *how = unlike_lru(cache);

	if (!how && cache->write_through)
		how = "writes through (WRITE=write-back)";
	else if (!how && cache->inclusion == CP_INCLUSIVE)
		how = "is inclusive (INCLUSION=non-inclusive)";
	else if (!how && cache->inclusion == CP_EXCLUSIVE)
		how = "is exclusive (INCLUSION=non-inclusive)";
	else if (!how && cache->half_lines)
		how = "has half lines (HALF-LINES=no)";
	else if (!how && cache->line && cache->line != machine->level[CP_L1D].line)
		how = "has other lines than L1D";
	else if (!how && ((i == CP_L2 && cache->shared > 1) ||
				 (i == CP_LLC && cache->shared &&
					 cache->shared < machine->cores)))
		how = "is shared by some of the cores";
	else if (!how && (i == CP_ITLB2 || i == CP_DTLB2))
		how = "is not common to code and data";
	return how;
}

/* Others see what comes from in front of them, of which all has to be like that. */
static bool check_outer(struct cp_sweep_plan *plan, const struct cp_machine *machine)
{
	for (int i = 0; i < CP_NLEVELS; i++) {
		const char *how =
			machine->level[i].sets
				? cp_machine_unlike_plain(machine, (enum cp_level)i)
				: NULL;

		if (how)
			return say_unlike(plan, (enum cp_level)i, how);
	}
	return true;
}

/* A TLB with huge pages holds pages of two sizes. */
static bool check_pages(struct cp_sweep_plan *plan, const struct cp_machine *machine)
{
	const struct cp_cache *level = machine->level;

	if (!is_tlb(plan->level) || machine->page != 4096 || level[CP_DTLB_2M].absent ||
		level[CP_ITLB_2M].absent)
		return true;
	return say_unlike(plan, plan->level, "may hold huge pages, too (dtlb-2m=none)");
}

static bool is_first(enum cp_level level)
{
	return level == CP_L1I || level == CP_L1D || level == CP_ITLB || level == CP_DTLB;
}

/* Reads the swept field and its range.  Returns an error message, or NULL. */
static const char *parse_plan(struct cp_sweep_plan *plan,
	const struct cp_machine *machine, const char *text, uint64_t *first,
	uint64_t *last)
{
	const char *equals = strchr(text, '='), *dot = strchr(text, '.');
	int level;

	if (!equals || !dot || dot > equals)
		return "expected LEVEL.ways=FIRST..LAST or LEVEL.size=FIRST..LAST, "
		       "such as L1D.ways=1..16";
	level = find_level(text, (size_t)(dot - text));
	if (level < 0)
		return "no such level: there are L1I L1D L2 LLC ITLB DTLB STLB";
	plan->level = (enum cp_level)level;
	if (!machine->level[level].sets)
		return "the machine has no such level";
	if (!parse_range(equals + 1, first, last))
		return "expected a range of numbers above 0, such as 1..16 or 256K..8M";
	cp_format(plan->field, sizeof(plan->field), "%s",
		strncmp(dot, ".ways=", 6) == 0 ? "ways"
		: is_tlb(plan->level)          ? "entries"
					       : "size");
	if (strncmp(dot + 1, plan->field, strlen(plan->field)) != 0 ||
		dot + 1 + strlen(plan->field) != equals)
		return is_tlb(plan->level) ? "ways or entries can be swept"
					   : "ways or size can be swept";
	return NULL;
}

static const char *add_points(struct cp_sweep_plan *plan, const struct cp_cache *cache,
	uint64_t first, uint64_t last)
{
	if (strcmp(plan->field, "ways") == 0)
		return add_ways(plan, cache->sets, first, last);
	return add_sizes(plan, cache->ways, cache->line ? cache->line : 1, first, last);
}

int cp_sweep_parse(struct cp_sweep_plan *plan, const struct cp_machine *machine,
	const char *text, char *error, size_t error_size)
{
	const char *why;
	uint64_t first, last;

	memset(plan, 0, sizeof(*plan));
	why = parse_plan(plan, machine, text, &first, &last);
	if (!why)
		why = add_points(plan, &machine->level[plan->level], first, last);
	if (why)
		return report_wrong(error, error_size, text, why);
	if (!check_pages(plan, machine))
		return 0;
	if (is_first(plan->level))
		check_first(plan, machine);
	else
		check_outer(plan, machine);
	return 0;
}

/* ---- what becomes of it ---- */

void cp_sweep_option(const struct cp_sweep_plan *plan, char *to, size_t size)
{
	size_t used;

	to[0] = '\0';
	if (plan->why[0] || !plan->npoints)
		return;
	used = cp_format(to, size, "--sweep=%s", cp_level_name(plan->level));
	for (unsigned i = 0; i < plan->npoints && used < size; i++)
		used += cp_format(to + used, size - used, ",%u:%u", plan->point[i].sets,
			plan->point[i].ways);
}

/* 65536 -> 64K */
static void put_value(char *to, size_t size, uint64_t value)
{
	static const char units[] = "\0KMG";
	unsigned unit = 0;

	for (; unit < 3 && value && !(value & 1023); unit++)
		value >>= 10;
	cp_format(to, size, "%llu%.*s", (unsigned long long)value, unit ? 1 : 0,
		&units[unit]);
}

/* A reading has room for so many parts. */
static bool has_room(const struct cp_event_set *set)
{
	unsigned words = 1 + 2 * CP_SAMPLE_PARTS; /* with instructions, and bursts' */

	for (unsigned i = 0; i < set->ncounters; i++)
		words += set->counters[i].sampled ? CP_SAMPLE_PARTS : 1;
	return words <= CP_MAX_READ && set->ncounters + 3 <= CP_MAX_COUNTERS;
}

static void add_sampled(
	struct cp_event_set *set, struct cp_quantity *quantity, unsigned number)
{
	char name[CP_NAME_SIZE];

	if (!has_room(set)) {
		cp_format(quantity->why.text, sizeof(quantity->why.text),
			CP_UNSAMPLED "there is no room for the parts of so many points: "
				     "ask for fewer, or for fewer events beside them");
		return;
	}
	cp_format(name, sizeof(name), "sweep_%u", number);
	cp_quantity_add_term(quantity, 1,
		(unsigned)cp_set_sampled(set, name, CP_SIM_SET_SWEEP + number));
	quantity->available = true;
}

static void add_event(
	struct cp_event_set *set, const struct cp_sweep_plan *plan, unsigned number)
{
	char name[CP_NAME_SIZE], value[32];
	struct cp_quantity *quantity;

	put_value(value, sizeof(value), plan->point[number].value);
	cp_format(name, sizeof(name), "%s_misses[%s=%s]", cp_level_name(plan->level),
		plan->field, value);
	quantity = cp_set_quantity(set, name);
	if (plan->why[0]) {
		cp_format(
			quantity->why.text, sizeof(quantity->why.text), "%s", plan->why);
		return;
	}
	if (plan->sampled) {
		add_sampled(set, quantity, number);
		return;
	}
	if (set->ncounters == CP_MAX_COUNTERS) {
		cp_format(quantity->why.text, sizeof(quantity->why.text),
			"more than %d counters: ask for fewer events beside the sweep",
			CP_MAX_COUNTERS);
		return;
	}
	cp_format(name, sizeof(name), "sweep_%u", number);
	cp_quantity_add_term(quantity, 1, set->ncounters);
	cp_set_add_counter(set, name)->mirror = CP_SIM_SWEEP + number;
	quantity->available = true;
}

void cp_sweep_add_events(struct cp_event_set *set, const struct cp_sweep_plan *plan)
{
	for (unsigned i = 0; i < plan->npoints && set->nquantities < CP_MAX_QUANTITIES;
		i++)
		add_event(set, plan, i);
}

void cp_sweep_describe(const struct cp_sweep_plan *plan, const struct cp_machine *machine,
	char *to, size_t size)
{
	const struct cp_cache *cache = &machine->level[plan->level];
	bool ways = strcmp(plan->field, "ways") == 0;
	uint64_t own = ways ? cache->ways
			    : (uint64_t)cache->sets * cache->ways *
				       (cache->line ? cache->line : 1);

	cp_format(to, size, "%s %s own=%llu line=%u %s=%u", cp_level_name(plan->level),
		plan->field, (unsigned long long)own, cache->line, ways ? "sets" : "ways",
		ways ? cache->sets : cache->ways);
}
