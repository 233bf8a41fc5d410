/* SPDX-License-Identifier: MIT
 *
 * Machine files (doc/cachepeek-machines.5).
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/format.h"
#include "base/text/nearest.h"
#include "base/text.h"
#include "base/counters/machine_file.h"
#include "base/counters/machine_host.h"
#include "base/embedded.h"
#include "base/files/trusted.h"

#define MAX_WAYS 128
#define MAX_SETS (1u << 24)
#define MAX_CORES 4096
#define MAX_PAGE (1u << 30)
#define MAX_BUFFERS 64
#define MAX_SOCKETS 64

bool cp_machine_wrong(const struct place *at, const char *what, const char *word)
{
	char line[16] = "";

	if (!at->changes)
		cp_format(line, sizeof(line), ":%u", at->line);
	cp_format(at->error, at->size, "%s%s: %s%s%s", at->file, line, what,
		word ? ": " : "", word ? word : "");
	return false;
}

/* ---- words and numbers ---- */

/* The next word of the line, cut out of it; "" at its end. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " \t\r");
	size_t length = strcspn(word, " \t\r");

	*at = word + length;
	if (word[length])
		*(*at)++ = '\0';
	return word;
}

/* 64, 32K, 1M, 2G */
bool cp_parse_size(const char *word, uint64_t *value)
{
	static const char units[] = "KMG";
	const char *end, *unit;

	if (cp_parse_u64_prefix(word, &end, value) < 0)
		return false;
	if (!*end)
		return true;
	unit = strchr(units, *end);
	if (!unit || end[1] || *value >> 32)
		return false;
	*value <<= 10 * (unit - units + 1);
	return true;
}

static bool parse_number(const char *word, uint32_t most, uint32_t *value)
{
	uint64_t number;

	if (!cp_parse_size(word, &number) || number > most)
		return false;
	*value = (uint32_t)number;
	return true;
}

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* ---- a level ---- */

enum { CACHES = 1, TLBS = 2, L1D_ONLY = 4, OUTER_ONLY = 8, NOT_LLC = 16 };

#define FIELD(name) offsetof(struct cp_cache, name)

/* Words without a number; value goes into the byte at field. */
static const struct {
	const char *word;
	size_t field;
	uint8_t value;
	unsigned where;
} words[] = {
	{"lru", FIELD(policy), CP_LRU, CACHES | TLBS},
	{"plru", FIELD(policy), CP_PLRU, CACHES | TLBS},
	{"round-robin", FIELD(policy), CP_ROUND_ROBIN, CACHES | TLBS},
	{"random", FIELD(policy), CP_RANDOM, CACHES | TLBS},
	{"write-back", FIELD(write_through), 0, CACHES},
	{"write-through", FIELD(write_through), 1, CACHES},
	{"allocate", FIELD(no_allocate), 0, CACHES},
	{"no-allocate", FIELD(no_allocate), 1, CACHES},
	{"non-inclusive", FIELD(inclusion), CP_NON_INCLUSIVE, OUTER_ONLY},
	{"inclusive", FIELD(inclusion), CP_INCLUSIVE, OUTER_ONLY},
	{"exclusive", FIELD(inclusion), CP_EXCLUSIVE, OUTER_ONLY},
	{"prefetch=none", FIELD(prefetch), CP_NO_PREFETCH, CACHES},
	{"prefetch=next-line", FIELD(prefetch), CP_NEXT_LINE, NOT_LLC},
	{"half-lines", FIELD(half_lines), 1, L1D_ONLY},
	{"fp-bypass", FIELD(fp_bypass), 1, L1D_ONLY},
};
#define NWORDS (sizeof(words) / sizeof(words[0]))

static unsigned kinds_of(enum cp_level level)
{
	if (cp_is_tlb(level))
		return TLBS;
	return CACHES | (level == CP_L1D ? L1D_ONLY : 0) |
	       (level == CP_L2 || level == CP_LLC ? OUTER_ONLY : 0) |
	       (level != CP_LLC ? NOT_LLC : 0);
}

/* stream:DEGREE:DISTANCE */
static bool parse_stream(const char *word, struct cp_cache *cache)
{
	const char *end;
	uint64_t degree, distance;

	if (cp_parse_u64_prefix(word, &end, &degree) < 0 || *end != ':' ||
		cp_parse_u64(end + 1, &distance) < 0 || degree < 1 || degree > 64 ||
		distance < 1 || distance > 1024)
		return false;
	cache->prefetch = CP_STREAM;
	cache->degree = (uint32_t)degree;
	cache->distance = (uint32_t)distance;
	return true;
}

/* Words with a number. */
static bool parse_valued(const struct place *at, enum cp_level level, const char *word,
	struct cp_cache *cache)
{
	if (cp_starts_with(word, "latency="))
		return parse_number(word + 8, 100000, &cache->latency) ||
		       cp_machine_wrong(at, "latency=CYCLES, at most 100000", word);
	if (cp_starts_with(word, "random=")) {
		cache->policy = CP_RANDOM;
		return cp_parse_u64(word + 7, &cache->seed) == 0 ||
		       cp_machine_wrong(at, "random=SEED wants a number", word);
	}
	if (cp_starts_with(word, "shared=") && !cp_is_tlb(level))
		return (parse_number(word + 7, MAX_CORES, &cache->shared) &&
			       cache->shared) ||
		       cp_machine_wrong(at, "shared=CORES, from 1 to 4096", word);
	if (cp_starts_with(word, "prefetch=stream:") && kinds_of(level) & NOT_LLC)
		return parse_stream(word + 16, cache) ||
		       cp_machine_wrong(at,
			       "prefetch=stream:DEGREE:DISTANCE, in lines, at most 64 "
			       "and 1024",
			       word);
	return cp_machine_wrong(at, "not known here", word);
}

bool cp_level_word(const struct place *at, enum cp_level level, const char *word,
	struct cp_cache *cache)
{
	for (size_t i = 0; i < NWORDS; i++) {
		if (strcmp(word, words[i].word) != 0)
			continue;
		if (!(words[i].where & kinds_of(level)))
			return cp_machine_wrong(at, "not for this level", word);
		((uint8_t *)cache)[words[i].field] = words[i].value;
		return true;
	}
	return parse_valued(at, level, word, cache);
}

/* TLBs: size is the entries, and line 1. */
bool cp_level_shape(const struct place *at, enum cp_level level, uint64_t size,
	uint64_t ways, uint64_t line, struct cp_cache *cache)
{
	if (!ways || ways > MAX_WAYS)
		return cp_machine_wrong(at, "the ways must be 1 to 128", NULL);
	if (!cp_is_tlb(level) && (!is_power_of_two(line) || line < 16 || line > 256))
		return cp_machine_wrong(
			at, "the line must be 16, 32, 64, 128 or 256 bytes", NULL);
	if (!size || size % (ways * line))
		return cp_machine_wrong(at,
			cp_is_tlb(level) ? "the entries are no multiple of the ways"
					 : "the size is no multiple of WAYS times LINE",
			NULL);
	if (size / ways / line > MAX_SETS)
		return cp_machine_wrong(at, "more than 16777216 sets", NULL);
	cache->sets = (uint32_t)(size / ways / line);
	cache->ways = (uint32_t)ways;
	cache->line = cp_is_tlb(level) ? 0 : (uint32_t)line;
	return true;
}

/* "32K 8 64" or, of a TLB, "64 4". */
static bool parse_shape(
	const struct place *at, enum cp_level level, char **text, struct cp_cache *cache)
{
	uint64_t size, ways, line = 1;

	if (!cp_parse_size(next_word(text), &size) ||
		!cp_parse_size(next_word(text), &ways) ||
		(!cp_is_tlb(level) && !cp_parse_size(next_word(text), &line)))
		return cp_machine_wrong(at,
			cp_is_tlb(level) ? "expected TLB = ENTRIES WAYS [WORDS]"
					 : "expected LEVEL = SIZE WAYS LINE [WORDS]",
			NULL);
	return cp_level_shape(at, level, size, ways, line, cache);
}

static bool may_be_absent(enum cp_level level)
{
	return level != CP_L1I && level != CP_L1D && level != CP_ITLB && level != CP_DTLB;
}

bool cp_level_check(const struct place *at, const struct cp_cache *cache)
{
	if (cache->policy == CP_PLRU && !is_power_of_two(cache->ways))
		return cp_machine_wrong(
			at, "plru is a tree: its ways must be a power of two", NULL);
	return true;
}

static bool parse_level(
	const struct place *at, enum cp_level level, char *text, struct cp_cache *cache)
{
	const char *word;

	memset(cache, 0, sizeof(*cache));
	if (strncmp(text, "none", 4) == 0 && !text[4 + strspn(text + 4, " \t\r")]) {
		cache->absent = level >= CP_ITLB_2M;
		return may_be_absent(level) ||
		       cp_machine_wrong(at, "this level cannot be absent", NULL);
	}
	if (!parse_shape(at, level, &text, cache))
		return false;
	while (*(word = next_word(&text)))
		if (!cp_level_word(at, level, word, cache))
			return false;
	return cp_level_check(at, cache);
}

/* The fields that a file has as words of their own, by the place where they are
 * kept. */
static const struct {
	const char *field;
	size_t at;
} choices[] = {
	{"policy", FIELD(policy)},
	{"write", FIELD(write_through)},
	{"allocate", FIELD(no_allocate)},
	{"inclusion", FIELD(inclusion)},
};

static bool choose(const struct place *at, enum cp_level level, size_t field,
	const char *value, struct cp_cache *cache)
{
	char known[160] = "";

	for (size_t i = 0; i < NWORDS; i++) {
		size_t used = strlen(known);

		if (words[i].field != field || !(words[i].where & kinds_of(level)))
			continue;
		if (strcmp(words[i].word, value) == 0)
			return cp_level_word(at, level, value, cache) &&
			       cp_level_check(at, cache);
		cp_format(known + used, sizeof(known) - used, "%s%s", used ? ", " : "",
			words[i].word);
	}
	return cp_machine_wrong(at, known[0] ? "expected one of" : "not for this level",
		known[0] ? known : NULL);
}

int cp_level_choose(const struct place *at, enum cp_level level, const char *field,
	const char *value, struct cp_cache *cache)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (strcmp(field, choices[i].field) == 0)
			return choose(at, level, choices[i].at, value, cache);
	return -ENOENT;
}

/* ---- the other keys ---- */

static const struct {
	const char *key;
	size_t field;
	uint32_t most;
} numbers[] = {
	{"page", offsetof(struct cp_machine, page), MAX_PAGE},
	{"cores", offsetof(struct cp_machine, cores), MAX_CORES},
	{"memory-latency", offsetof(struct cp_machine, memory_latency), 1000000},
	{"fill-buffers", offsetof(struct cp_machine, fill_buffers), MAX_BUFFERS},
	{"write-buffers", offsetof(struct cp_machine, write_buffers), MAX_BUFFERS},
	{"walk-latency", offsetof(struct cp_machine, walk_latency), 1000000},
	{"cache-to-cache-latency", offsetof(struct cp_machine, cache_to_cache_latency),
		1000000},
	{"clock-mhz", offsetof(struct cp_machine, clock_mhz), 100000},
	{"sockets", offsetof(struct cp_machine, sockets), MAX_SOCKETS},
	{"one-hop-latency", offsetof(struct cp_machine, one_hop_latency), 1000000},
	{"two-hop-latency", offsetof(struct cp_machine, two_hop_latency), 1000000},
	{"remote-cache-latency", offsetof(struct cp_machine, remote_cache_latency),
		1000000},
};
#define NNUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static bool parse_text(const struct place *at, char *text, char *to, size_t size)
{
	char *word = next_word(&text);

	if (!*word || *next_word(&text) || strlen(word) >= size)
		return cp_machine_wrong(at, "expected one name", NULL);
	cp_format(to, size, "%s", word);
	return true;
}

/* One of two words. */
static bool parse_choice(const struct place *at, char *text, const char *usual,
	const char *other, bool *is_other)
{
	char *word = next_word(&text);
	bool known = strcmp(word, usual) == 0 || strcmp(word, other) == 0;
	char expected[64];

	cp_format(expected, sizeof(expected), "expected %s or %s", usual, other);
	if (!known || *next_word(&text))
		return cp_machine_wrong(at, expected, *word ? word : NULL);
	*is_other = strcmp(word, other) == 0;
	return true;
}

/* The latencies of what the file names are assumed in it. */
static bool parse_assumed(const struct place *at, struct cp_machine *machine, char *text)
{
	static const char *const names[CP_NWEIGHTS] = {
		[CP_OF_L1] = "l1d",
		[CP_OF_L2] = "l2",
		[CP_OF_L3] = "llc",
		[CP_OF_MEMORY] = "memory-latency",
		[CP_OF_ONE_HOP] = "one-hop-latency",
		[CP_OF_TWO_HOPS] = "two-hop-latency",
		[CP_OF_NEAR_CACHE] = "cache-to-cache-latency",
		[CP_OF_FAR_CACHE] = "remote-cache-latency",
	};
	const char *word;

	while (*(word = next_word(&text))) {
		unsigned of = 0;

		while (of < CP_NWEIGHTS && strcmp(word, names[of]) != 0)
			of++;
		if (of == CP_NWEIGHTS)
			return cp_machine_wrong(at,
				"assumed = l1d, l2, llc or keys that end in -latency",
				word);
		machine->assumed |= 1u << of;
	}
	return true;
}

static bool parse_other(
	const struct place *at, struct cp_machine *machine, const char *key, char *text)
{
	for (size_t i = 0; i < NNUMBERS; i++) {
		uint32_t *field =
			(uint32_t *)(void *)((char *)machine + numbers[i].field);

		if (strcmp(key, numbers[i].key) != 0)
			continue;
		if (!parse_number(next_word(&text), numbers[i].most, field) || !*field ||
			*next_word(&text))
			return cp_machine_wrong(at, "expected one number above 0", key);
		return true;
	}
	if (strcmp(key, "events") == 0)
		return parse_text(at, text, machine->events, sizeof(machine->events));
	if (strcmp(key, "pmu") == 0)
		return parse_text(at, text, machine->pmu, sizeof(machine->pmu));
	if (strcmp(key, "measured") == 0)
		return parse_text(at, text, machine->measured, sizeof(machine->measured));
	if (strcmp(key, "host") == 0)
		return parse_text(at, text, machine->host, sizeof(machine->host));
	if (strcmp(key, "assumed") == 0)
		return parse_assumed(at, machine, text);
	if (strcmp(key, "topology") == 0)
		return parse_choice(at, text, "full", "ring", &machine->ring);
	if (strcmp(key, "placement") == 0)
		return parse_choice(at, text, "spread", "close", &machine->close);
	return cp_machine_wrong(at,
		"expected KEY = VALUE, with one of the keys in cachepeek-machines(5)",
		NULL);
}

/* ---- the file ---- */

bool cp_machine_line(const struct place *at, struct cp_machine *machine,
	struct stated *stated, char *line)
{
	char *value = strchr(line, '='), *key = line;

	if (value)
		*value++ = '\0';
	else
		value = line + strlen(line);
	key = next_word(&key);
	value += strspn(value, " \t");
	for (int level = 0; level < CP_NLEVELS; level++)
		if (strcmp(key, cp_level_name((enum cp_level)level)) == 0) {
			stated->line[level] = at->line;
			return parse_level(
				at, (enum cp_level)level, value, &machine->level[level]);
		}
	if (strcmp(key, "page") == 0)
		stated->page = at->line;
	if (strcmp(key, "sockets") == 0)
		stated->sockets = at->line;
	return parse_other(at, machine, key, value);
}

/* Second-level TLBs of their own stand in place of the common one. */
static bool settle_tlbs(
	struct place *at, struct cp_machine *machine, const struct stated *stated)
{
	struct cp_cache *level = machine->level;

	if (!level[CP_ITLB2].sets && !level[CP_DTLB2].sets)
		return true;
	at->line = stated->line[CP_STLB];
	if (at->line && level[CP_STLB].sets)
		return cp_machine_wrong(
			at, "stlb is in place of itlb2 and dtlb2: leave one out", NULL);
	memset(&level[CP_STLB], 0, sizeof(level[CP_STLB]));
	return true;
}

/* A level behind others, none of which may have larger lines, and what an
 * exclusive one demands of those whose victims fill it. */
static bool check_outer(
	struct place *at, const struct cp_cache *cache, const struct cp_cache *front[2])
{
	for (int i = 0; i < 2; i++) {
		if (cache->line < front[i]->line)
			return cp_machine_wrong(
				at, "its line is smaller than one in front of it", NULL);
		if (cache->inclusion != CP_EXCLUSIVE)
			continue;
		if (cache->line != front[i]->line)
			return cp_machine_wrong(at,
				"exclusive wants the lines of the level in front", NULL);
		if (front[i]->write_through || front[i]->no_allocate)
			return cp_machine_wrong(at,
				"exclusive wants a level in front that is write-back and "
				"allocates",
				NULL);
	}
	if (cache->inclusion == CP_EXCLUSIVE && (cache->write_through || cache->prefetch))
		return cp_machine_wrong(at,
			"exclusive wants write-back and no prefetcher: only victims "
			"fill it",
			NULL);
	return true;
}

static bool check_caches(
	struct place *at, const struct cp_machine *machine, const struct stated *stated)
{
	const struct cp_cache *level = machine->level, *l2 = &level[CP_L2],
			      *llc = &level[CP_LLC];
	const struct cp_cache *front[2] = {&level[CP_L1I], &level[CP_L1D]};

	at->line = stated->line[CP_L1D];
	if (level[CP_L1D].fp_bypass && (!level[CP_L1D].write_through || !l2->sets))
		return cp_machine_wrong(
			at, "fp-bypass wants a write-through L1D and an L2", NULL);
	at->line = stated->line[CP_L2];
	if (l2->sets && !check_outer(at, l2, front))
		return false;
	if (l2->shared > machine->cores)
		return cp_machine_wrong(at, "shared by more cores than there are", NULL);
	if (l2->sets)
		front[0] = front[1] = l2;
	at->line = stated->line[CP_LLC];
	if (llc->shared > machine->cores)
		return cp_machine_wrong(at, "shared by more cores than there are", NULL);
	if (llc->shared && l2->shared > 1 && llc->shared % l2->shared)
		return cp_machine_wrong(
			at, "cores that share an L2 need the same last level", NULL);
	return !llc->sets || check_outer(at, llc, front);
}

/* Huge pages are 512 pages of 4 KB, in a level that the machine has. */
static bool check_huge(
	struct place *at, const struct cp_machine *machine, const struct stated *stated)
{
	for (int level = CP_ITLB_2M; level < CP_NLEVELS; level++) {
		const struct cp_cache *small =
			&machine->level[CP_ITLB + level - CP_ITLB_2M];

		at->line = stated->line[level];
		if (at->line && machine->page != 4096)
			return cp_machine_wrong(at,
				"wants page = 4K: pages of 2 MB are 512 of them", NULL);
		if (machine->level[level].sets && !small->sets)
			return cp_machine_wrong(at,
				"the machine has no such level for small pages", NULL);
	}
	return true;
}

/* Each has as many cores as the others, and what is shared is on one. */
static bool check_sockets(
	struct place *at, const struct cp_machine *machine, const struct stated *stated)
{
	uint32_t each, l2 = machine->level[CP_L2].shared,
		       llc = machine->level[CP_LLC].shared;

	if (machine->sockets <= 1)
		return true;
	at->line = stated->sockets;
	if (machine->cores % machine->sockets)
		return cp_machine_wrong(
			at, "the cores cannot be divided into so many sockets", NULL);
	each = machine->cores / machine->sockets;
	at->line = stated->line[CP_L2];
	if (l2 && each % l2)
		return cp_machine_wrong(at,
			"an L2 belongs to one socket: shared must divide its cores",
			NULL);
	at->line = stated->line[CP_LLC];
	if (llc && each % llc)
		return cp_machine_wrong(at,
			"a last level belongs to one socket: shared must divide its "
			"cores",
			NULL);
	return true;
}

bool cp_machine_check(
	struct place *at, struct cp_machine *machine, const struct stated *stated)
{
	at->line = stated->page;
	if (!is_power_of_two(machine->page) || machine->page < 1024)
		return cp_machine_wrong(
			at, "page must be a power of two from 1024", NULL);
	return settle_tlbs(at, machine, stated) && check_huge(at, machine, stated) &&
	       check_caches(at, machine, stated) && check_sockets(at, machine, stated);
}

int cp_machine_parse(struct cp_machine *machine, const char *file, const char *text,
	char *error, size_t error_size)
{
	struct place at = {file, 0, error, error_size, false};
	struct stated stated = {{0}, 0, 0};
	char line[256];

	while (*text) {
		size_t length = strcspn(text, "\n");

		at.line++;
		cp_format(line, sizeof(line), "%.*s", (int)length, text);
		text += length + (text[length] == '\n');
		line[strcspn(line, "#")] = '\0';
		if (line[strspn(line, " \t\r")] &&
			!cp_machine_line(&at, machine, &stated, line))
			return -EINVAL;
	}
	return cp_machine_check(&at, machine, &stated) ? 0 : -EINVAL;
}

/* ---- by name ---- */

static int complain_of_name(const char *name, char *error, size_t error_size)
{
	const char *names[64] = {"host"}, *nearest;
	unsigned count = 1;
	char file[80];

	for (const struct cp_embedded *e = cp_embedded_files; e->name && count < 63; e++)
		if (strstr(e->name, ".machine"))
			names[count++] = e->name;
	cp_format(file, sizeof(file), "%s.machine", name);
	nearest = cp_nearest(file, names);
	cp_format(error, error_size, "unknown machine %s%s%.*s%s", name,
		nearest ? ": did you mean " : "",
		nearest ? (int)strcspn(nearest, ".") : 0, nearest ? nearest : "",
		nearest ? "?" : "");
	return -ENOENT;
}

static int named_machine(
	struct cp_machine *machine, const char *name, char *error, size_t error_size)
{
	char file[80], content[8192];
	const char *text = content;

	if (strchr(name, '/')) {
		char why[160];
		int result = cp_trusted_load(
			name, CP_NAMED, content, sizeof(content), why, sizeof(why));

		if (result < 0) {
			cp_format(error, error_size, "machine file %s: %s", name, why);
			return result;
		}
	} else {
		cp_format(file, sizeof(file), "%s.machine", name);
		text = cp_embedded_find(file);
	}
	if (!text)
		return complain_of_name(name, error, error_size);
	*machine = cp_machine_defaults;
	machine->note[0] = '\0';
	cp_format(machine->name, sizeof(machine->name), "%s", name);
	return cp_machine_parse(machine, name, text, error, error_size);
}

int cp_machine_find(
	struct cp_machine *machine, const char *name, char *error, size_t error_size)
{
	if (strcmp(name, "host") == 0) {
		cp_machine_host(machine);
		return 0;
	}
	return named_machine(machine, name, error, error_size);
}
