/* SPDX-License-Identifier: MIT
 *
 * The prefetchers of a level, as machine files have them.
 */
#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "base/machine/file.h"

#define L1I (1u << CP_L1I)
#define L1D (1u << CP_L1D)
#define L2 (1u << CP_L2)

/* The first `least` of the numbers may not be left out. */
static const struct kind {
	const char *name, *usage;
	unsigned levels, least, numbers;
	uint32_t most[CP_PREFETCH_NUMBERS];
} kinds[CP_NPREFETCH] = {
	[CP_NEXT_LINE] = {"next-line", "next-line[:RECENT], at most 64", L1I | L1D | L2,
		0, 1, {64}},
	[CP_STREAM] = {"stream", "stream:DEGREE:DISTANCE, in lines, at most 64 and 1024",
		L1I | L1D | L2, 2, 2, {64, 1024}},
	[CP_IP_STRIDE] = {"ip-stride",
		"ip-stride:ENTRIES:STEPS:BYTES, at most 1024, 64 and 65536", L1D, 3, 3,
		{1024, 64, 65536}},
	[CP_STREAMER] = {"streamer",
		"streamer:AHEAD:EACH:STREAMS, in lines, at most 64, 16 and 64",
		L1I | L1D | L2, 3, 3, {64, 16, 64}},
	[CP_ADJACENT_LINE] = {"adjacent-line", "adjacent-line has no number", L2, 0, 0,
		{0}},
	[CP_REGION] = {"region", "region:LINES:ENTRIES, at most 64 and 1024", L1D, 2, 2,
		{64, 1024}},
	[CP_UP_DOWN] = {"up-down", "up-down:RECENT, at most 64", L2, 1, 1, {64}},
};

const char *cp_prefetch_name(unsigned kind)
{
	return kinds[kind].name;
}

unsigned cp_prefetch_numbers(const struct cp_prefetcher *p)
{
	unsigned n = kinds[p->kind].numbers;

	return n > kinds[p->kind].least && !p->number[n - 1] ? n - 1 : n;
}

bool cp_prefetch_is_sound(const struct cp_cache *cache)
{
	for (int i = 0; i < CP_PREFETCHERS; i++)
		if (cache->prefetch[i].kind >= CP_NPREFETCH ||
			cache->without[i].kind >= CP_NPREFETCH)
			return false;
	return true;
}

/* ---- reading ---- */

static bool say_none(const struct place *at, const char *piece)
{
	char known[160] = "no such prefetcher: there are none";
	size_t used = strlen(known);

	for (unsigned k = CP_NO_PREFETCH + 1; k < CP_NPREFETCH; k++)
		used += cp_format(
			known + used, sizeof(known) - used, " %s", kinds[k].name);
	return cp_machine_wrong(at, known, piece);
}

static unsigned find_kind(const char *name, size_t length)
{
	for (unsigned k = CP_NO_PREFETCH + 1; k < CP_NPREFETCH; k++)
		if (strlen(kinds[k].name) == length &&
			strncmp(kinds[k].name, name, length) == 0)
			return k;
	return CP_NO_PREFETCH;
}

/* ":2:4" */
static bool parse_numbers(
	const struct kind *kind, const char *text, struct cp_prefetcher *p)
{
	unsigned n = 0;

	for (; *text == ':'; n++) {
		uint64_t number;

		if (n == kind->numbers ||
			cp_parse_u64_prefix(text + 1, &text, &number) < 0 || !number ||
			number > kind->most[n])
			return false;
		p->number[n] = (uint32_t)number;
	}
	return !*text && n >= kind->least;
}

/* One of the list. */
static bool parse_one(const struct place *at, enum cp_level level, const char *piece,
	struct cp_prefetcher *p)
{
	char usage[96];

	p->kind = (uint8_t)find_kind(piece, strcspn(piece, ":"));
	if (p->kind == CP_NO_PREFETCH)
		return say_none(at, piece);
	if (!(kinds[p->kind].levels & 1u << level))
		return cp_machine_wrong(at, "not for this level", piece);
	cp_format(usage, sizeof(usage), "prefetch=%s", kinds[p->kind].usage);
	if (!parse_numbers(&kinds[p->kind], piece + strcspn(piece, ":"), p))
		return cp_machine_wrong(at, usage, piece);
	if (p->kind == CP_STREAMER && p->number[1] > p->number[0])
		return cp_machine_wrong(
			at, "a streamer is no more lines ahead than AHEAD", piece);
	if (p->kind == CP_REGION && (!is_power_of_two(p->number[0]) || p->number[0] < 2))
		return cp_machine_wrong(
			at, "a region's lines must be a power of two from 2", piece);
	return true;
}

static bool is_new(const struct place *at, const struct cp_prefetcher *all, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (all[i].kind == all[n].kind)
			return cp_machine_wrong(at, "a level has one of each prefetcher",
				kinds[all[n].kind].name);
	return true;
}

bool cp_prefetch_parse(const struct place *at, enum cp_level level, const char *text,
	struct cp_cache *cache)
{
	struct cp_prefetcher all[CP_PREFETCHERS + 1] = {{0}};
	bool none = strcmp(text, "none") == 0;
	unsigned n = 0;

	while (!none) {
		size_t length = strcspn(text, "+");
		char piece[64];

		cp_format(piece, sizeof(piece), "%.*s", (int)length, text);
		if (strcmp(piece, "none") == 0)
			return cp_machine_wrong(
				at, "prefetch=none is of no prefetcher at all", NULL);
		if (!parse_one(at, level, piece, &all[n]) || !is_new(at, all, n))
			return false;
		if (++n > CP_PREFETCHERS)
			return cp_machine_wrong(
				at, "a level has four prefetchers at most", NULL);
		if (!text[length])
			break;
		text += length + 1;
	}
	memcpy(cache->prefetch, all, sizeof(cache->prefetch));
	return true;
}

bool cp_prefetch_turn(struct cp_cache *cache, bool on)
{
	if (!on && cp_has_prefetcher(cache)) {
		memcpy(cache->without, cache->prefetch, sizeof(cache->without));
		memset(cache->prefetch, 0, sizeof(cache->prefetch));
	} else if (on && !cp_has_prefetcher(cache)) {
		memcpy(cache->prefetch, cache->without, sizeof(cache->prefetch));
	}
	return cp_has_prefetcher(cache);
}

/* ---- checking ---- */

static bool check_one(const struct place *at, const struct cp_machine *machine,
	const struct cp_cache *cache, const struct cp_prefetcher *p)
{
	if (p->kind == CP_REGION && p->number[0] * cache->line > machine->page)
		return cp_machine_wrong(
			at, "prefetch=region is larger than a page: fewer LINES", NULL);
	if (p->kind == CP_IP_STRIDE && p->number[2] > machine->page)
		return cp_machine_wrong(
			at, "prefetch=ip-stride stays in the page: fewer BYTES", NULL);
	return true;
}

bool cp_prefetch_check(const struct place *at, const struct cp_machine *machine,
	const struct cp_cache *cache)
{
	for (int i = 0; i < CP_PREFETCHERS; i++)
		if (!check_one(at, machine, cache, &cache->prefetch[i]))
			return false;
	return true;
}
