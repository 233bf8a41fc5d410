/* SPDX-License-Identifier: MIT
 *
 * A level of a machine file: its shape, its words, and the words and numbers that other
 * lines have as well.
 */
#include <errno.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "base/machine/file.h"

#define MAX_WAYS 128
#define MAX_SETS (1u << 24)

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

char *cp_next_word(char **at)
{
	char *word = *at + strspn(*at, " \t\r");
	size_t length = strcspn(word, " \t\r");

	*at = word + length;
	if (word[length])
		*(*at)++ = '\0';
	return word;
}

bool cp_parse_size(const char *word, uint64_t *value)
{
	const char *end;

	return cp_parse_size_prefix(word, &end, value) && !*end;
}

bool cp_parse_number(const char *word, uint32_t most, uint32_t *value)
{
	uint64_t number;

	if (!cp_parse_size(word, &number) || number > most)
		return false;
	*value = (uint32_t)number;
	return true;
}

/* ---- a level ---- */

enum { CACHES = 1, TLBS = 2, L1D_ONLY = 4, OUTER_ONLY = 8, FIRST_ONLY = 16 };

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
	{"lru-plru4", FIELD(policy), CP_LRU_PLRU4, FIRST_ONLY},
	{"mru", FIELD(policy), CP_MRU, OUTER_ONLY},
	{"mru-n", FIELD(policy), CP_MRU_N, OUTER_ONLY},
	{"write-back", FIELD(write_through), 0, CACHES},
	{"write-through", FIELD(write_through), 1, CACHES},
	{"allocate", FIELD(no_allocate), 0, CACHES},
	{"no-allocate", FIELD(no_allocate), 1, CACHES},
	{"non-inclusive", FIELD(inclusion), CP_NON_INCLUSIVE, OUTER_ONLY},
	{"inclusive", FIELD(inclusion), CP_INCLUSIVE, OUTER_ONLY},
	{"exclusive", FIELD(inclusion), CP_EXCLUSIVE, OUTER_ONLY},
	{"half-lines", FIELD(half_lines), 1, L1D_ONLY},
	{"fp-bypass", FIELD(fp_bypass), 1, L1D_ONLY},
};
#define NWORDS (sizeof(words) / sizeof(words[0]))

static unsigned kinds_of(enum cp_level level)
{
	if (cp_is_tlb(level))
		return TLBS;
	return CACHES | (level == CP_L1D ? L1D_ONLY : 0) |
	       (level == CP_L2 || level == CP_LLC ? OUTER_ONLY : FIRST_ONLY);
}

#define QLRU "qlru_h00_m0_r0_u0"

/* A digit stands for each 0 above.  With R0 and R2 some way has to be of age 3 at a miss,
 * which U0 and U1 see to. */
static bool parse_qlru(const char *word, struct cp_cache *cache)
{
	static const char most[] = QLRU;
	uint32_t digits = 0, place, update;

	for (size_t i = 0; i < sizeof(QLRU); i++) {
		if (most[i] != '0' && word[i] != most[i])
			return false;
		if (most[i] != '0')
			continue;
		if (word[i] < '0' || word[i] > '3')
			return false;
		digits = digits * 10 + (uint32_t)(word[i] - '0');
	}
	update = digits % 10;
	place = digits / 10 % 10;
	cache->policy = CP_QLRU;
	cache->qlru = digits;
	return digits / 10000 <= 2 && digits / 1000 % 10 <= 1 && place <= 2 &&
	       (place == 1 || update <= 1);
}

/* "AGE:FIRST:SECOND:COUNT:OF": of OF sets, a power of two, COUNT from either on. */
static bool parse_duel(const char *text, struct cp_duel *duel)
{
	uint32_t *number[] = {
		&duel->age, &duel->first, &duel->second, &duel->count, &duel->of};
	const char *end = text;
	uint32_t low, high;
	uint64_t value;

	for (int i = 0; i < 5; i++) {
		if ((i && *end++ != ':') || cp_parse_u64_prefix(end, &end, &value) < 0 ||
			value > MAX_SETS)
			return false;
		*number[i] = (uint32_t)value;
	}
	low = duel->first < duel->second ? duel->first : duel->second;
	high = duel->first < duel->second ? duel->second : duel->first;
	return !*end && duel->age <= 3 && duel->count && is_power_of_two(duel->of) &&
	       low + duel->count <= high && high + duel->count <= duel->of;
}

/* Words with a number. */
static bool parse_valued(const struct place *at, enum cp_level level, const char *word,
	struct cp_cache *cache)
{
	if (cp_starts_with(word, "latency="))
		return cp_parse_number(word + 8, 100000, &cache->latency) ||
		       cp_machine_wrong(at, "latency=CYCLES, at most 100000", word);
	if (cp_starts_with(word, "random=")) {
		cache->policy = CP_RANDOM;
		return cp_parse_u64(word + 7, &cache->seed) == 0 ||
		       cp_machine_wrong(at, "random=SEED wants a number", word);
	}
	if (cp_starts_with(word, "shared=") && !cp_is_tlb(level))
		return (cp_parse_number(word + 7, MAX_CORES, &cache->shared) &&
			       cache->shared) ||
		       cp_machine_wrong(at, "shared=CORES, from 1 to 4096", word);
	if (cp_starts_with(word, "duel=") && kinds_of(level) & OUTER_ONLY)
		return parse_duel(word + 5, &cache->duel) ||
		       cp_machine_wrong(at,
			       "duel=AGE:FIRST:SECOND:COUNT:OF, COUNT sets from FIRST and "
			       "from SECOND on, of OF, a power of two",
			       word);
	if (cp_starts_with(word, "prefetch=") && !cp_is_tlb(level))
		return cp_prefetch_parse(at, level, word + 9, cache);
	if (cp_starts_with(word, "qlru_") && !(kinds_of(level) & OUTER_ONLY))
		return cp_machine_wrong(at, "not for this level", word);
	if (cp_starts_with(word, "qlru_"))
		return parse_qlru(word, cache) ||
		       cp_machine_wrong(at,
			       "qlru_hXY_mM_rR_uU, X and R to 2, Y to 1, M to 3, "
			       "U to 1 or, with r1, to 3",
			       word);
	return cp_machine_wrong(
		at, "not one of the words in cachepeek-machines(5)", word);
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

	if (!cp_parse_size(cp_next_word(text), &size) ||
		!cp_parse_size(cp_next_word(text), &ways) ||
		(!cp_is_tlb(level) && !cp_parse_size(cp_next_word(text), &line)))
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
	if (cache->policy == CP_LRU_PLRU4 && cache->ways % 4)
		return cp_machine_wrong(at,
			"lru-plru4 has trees of four: its ways must be a multiple of 4",
			NULL);
	return true;
}

bool cp_level_parse(
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
	while (*(word = cp_next_word(&text)))
		if (!cp_level_word(at, level, word, cache))
			return false;
	if (cache->duel.of && cache->policy != CP_QLRU)
		return cp_machine_wrong(
			at, "duel is of ages: it wants a policy qlru_...", NULL);
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

static bool choose_word(const struct place *at, enum cp_level level, size_t field,
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
	if (field == FIELD(policy) && cp_starts_with(value, "qlru_"))
		return cp_level_word(at, level, value, cache) &&
		       cp_level_check(at, cache);
	if (field == FIELD(policy) && kinds_of(level) & OUTER_ONLY)
		cp_format(known + strlen(known), sizeof(known) - strlen(known),
			", qlru_hXY_mM_rR_uU");
	return cp_machine_wrong(at, known[0] ? "expected one of" : "not for this level",
		known[0] ? known : NULL);
}

int cp_level_choose(const struct place *at, enum cp_level level, const char *field,
	const char *value, struct cp_cache *cache)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (strcmp(field, choices[i].field) == 0)
			return choose_word(at, level, choices[i].at, value, cache);
	return -ENOENT;
}
