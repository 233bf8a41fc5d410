/* SPDX-License-Identifier: MIT
 *
 * Machine files (doc/cachepeek-machines.5).
 */
#include <errno.h>
#include <string.h>

#include "base/embedded.h"
#include "base/format.h"
#include "base/machine/features.h"
#include "base/machine/file.h"
#include "base/text.h"

#define MAX_PAGE (1u << 30)
#define MAX_BUFFERS 64
#define MAX_SOCKETS 64

/* ---- the other keys ---- */

static const struct {
	const char *key;
	size_t field;
	uint32_t most;
} numbers[] = {
	{"page", offsetof(struct cp_machine, page), MAX_PAGE},
	{"cores", offsetof(struct cp_machine, cores), MAX_CORES},
	{"memory-latency", offsetof(struct cp_machine, memory_latency), 1000000},
	{"threads-per-core", offsetof(struct cp_machine, shown.threads), 8},
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
	{"write-combining-buffers", offsetof(struct cp_machine, stream_buffers),
		MAX_BUFFERS},
	{"window", offsetof(struct cp_machine, ooo.window), 4096},
	{"mispredict-latency", offsetof(struct cp_machine, ooo.mispredict), 1000},
	{"walkers", offsetof(struct cp_machine, ooo.walkers), 16},
	{"l2-fill-buffers", offsetof(struct cp_machine, ooo.l2_fill_buffers), 1024},
	{"prefetch-distance", offsetof(struct cp_machine, ooo.distance), 31},
	{"prefetch-latency", offsetof(struct cp_machine, ooo.near), 100000},
	{"llc-stay", offsetof(struct cp_machine, ooo.stay), 4000000000u},
	{"float-add-latency", offsetof(struct cp_machine, ooo.float_add), 100},
	{"float-multiply-latency", offsetof(struct cp_machine, ooo.float_multiply), 100},
	{"l2-banks", offsetof(struct cp_machine, ooo.banks), CP_MOST_BANKS},
};
#define NNUMBERS (sizeof(numbers) / sizeof(numbers[0]))

/* Numbers that are rates may be fractions: in hundredths.  The simulated PMU has the same
 * ranges (tools/sim/options.c). */
static const struct rate {
	const char *key;
	size_t field;
	uint32_t least, most;
	const char *range;
} rates[] = {
	{"width", offsetof(struct cp_machine, ooo.width), 10, 3200, "0.1 to 32"},
	{"load-ports", offsetof(struct cp_machine, ooo.loads), 10, 3200, "0.1 to 32"},
	{"store-ports", offsetof(struct cp_machine, ooo.stores), 10, 3200, "0.1 to 32"},
	{"l2-cycles-per-line", offsetof(struct cp_machine, ooo.l2_line), 1, 100000,
		"0.01 to 1000"},
	{"llc-cycles-per-line", offsetof(struct cp_machine, ooo.llc_line), 1, 100000,
		"0.01 to 1000"},
	{"memory-cycles-per-line", offsetof(struct cp_machine, ooo.memory_line), 1,
		1000000, "0.01 to 10000"},
	{"store-cycles-per-line", offsetof(struct cp_machine, ooo.store_line), 1, 100000,
		"0.01 to 1000"},
	{"set-cycles-per-line", offsetof(struct cp_machine, ooo.set_line), 1, 100000,
		"0.01 to 1000"},
	{"llc-cycles-per-lone-line", offsetof(struct cp_machine, ooo.lone_line), 1,
		100000, "0.01 to 1000"},
	{"load-set-cycles-per-line", offsetof(struct cp_machine, ooo.load_set_line), 1,
		100000, "0.01 to 1000"},
	{"llc-set-cycles-per-line", offsetof(struct cp_machine, ooo.llc_set_line), 1,
		100000, "0.01 to 1000"},
};
#define NRATES (sizeof(rates) / sizeof(rates[0]))

/* "5", "5.8", "5.83": in hundredths. */
static bool parse_rate(const char *word, const struct rate *rate, uint32_t *value)
{
	const char *end;
	uint64_t whole, part = 0;
	size_t digits = 0;

	if (cp_parse_u64_prefix(word, &end, &whole) < 0 || whole > rate->most)
		return false;
	if (*end == '.') {
		digits = strlen(end + 1);
		if (digits < 1 || digits > 2 || cp_parse_u64(end + 1, &part) < 0)
			return false;
	} else if (*end) {
		return false;
	}
	*value = (uint32_t)(whole * 100 + part * (digits == 1 ? 10 : 1));
	return *value >= rate->least && *value <= rate->most;
}

static bool parse_text(const struct place *at, char *text, char *to, size_t size)
{
	char *word = cp_next_word(&text);

	if (!*word || *cp_next_word(&text) || strlen(word) >= size)
		return cp_machine_wrong(at, "expected one name", NULL);
	cp_format(to, size, "%s", word);
	return true;
}

/* One of two words. */
static bool parse_choice(const struct place *at, char *text, const char *usual,
	const char *other, bool *is_other)
{
	char *word = cp_next_word(&text);
	bool known = strcmp(word, usual) == 0 || strcmp(word, other) == 0;
	char expected[64];

	cp_format(expected, sizeof(expected), "expected %s or %s", usual, other);
	if (!known || *cp_next_word(&text))
		return cp_machine_wrong(at, expected, *word ? word : NULL);
	*is_other = strcmp(word, other) == 0;
	return true;
}

static const char *const assumed_names[CP_NASSUMED] = {
	[CP_OF_L1] = "l1d",
	[CP_OF_L2] = "l2",
	[CP_OF_L3] = "llc",
	[CP_OF_MEMORY] = "memory-latency",
	[CP_OF_ONE_HOP] = "one-hop-latency",
	[CP_OF_TWO_HOPS] = "two-hop-latency",
	[CP_OF_NEAR_CACHE] = "cache-to-cache-latency",
	[CP_OF_FAR_CACHE] = "remote-cache-latency",
	[CP_ASSUMED_STLB] = "stlb",
	[CP_ASSUMED_WALK] = "walk-latency",
	[CP_ASSUMED_CLOCK] = "clock-mhz",
	[CP_ASSUMED_FILL_BUFFERS] = "fill-buffers",
	[CP_ASSUMED_WRITE_BUFFERS] = "write-buffers",
	[CP_ASSUMED_WIDTH] = "width",
	[CP_ASSUMED_WINDOW] = "window",
	[CP_ASSUMED_MISPREDICT] = "mispredict-latency",
	[CP_ASSUMED_LOADS] = "load-ports",
	[CP_ASSUMED_STORES] = "store-ports",
	[CP_ASSUMED_WALKERS] = "walkers",
	[CP_ASSUMED_L2_FILL_BUFFERS] = "l2-fill-buffers",
	[CP_ASSUMED_L2_LINE] = "l2-cycles-per-line",
	[CP_ASSUMED_LLC_LINE] = "llc-cycles-per-line",
	[CP_ASSUMED_MEMORY_LINE] = "memory-cycles-per-line",
	[CP_ASSUMED_DISTANCE] = "prefetch-distance",
	[CP_ASSUMED_NEAR] = "prefetch-latency",
	[CP_ASSUMED_STAY] = "llc-stay",
	[CP_ASSUMED_FLOAT_ADD] = "float-add-latency",
	[CP_ASSUMED_FLOAT_MULTIPLY] = "float-multiply-latency",
	[CP_ASSUMED_STORE_LINE] = "store-cycles-per-line",
	[CP_ASSUMED_SET_LINE] = "set-cycles-per-line",
	[CP_ASSUMED_LONE_LINE] = "llc-cycles-per-lone-line",
	[CP_ASSUMED_LOAD_SET_LINE] = "load-set-cycles-per-line",
	[CP_ASSUMED_LLC_SET_LINE] = "llc-set-cycles-per-line",
	[CP_ASSUMED_BANKS] = "l2-banks",
	[CP_ASSUMED_LLC_SIZE] = "llc-size",
};

const char *cp_machine_figure(unsigned figure)
{
	return assumed_names[figure];
}

/* CP_NASSUMED: there is no such word. */
static unsigned find_figure(const char *word)
{
	unsigned of = 0;

	while (of < CP_NASSUMED && strcmp(word, assumed_names[of]) != 0)
		of++;
	return of;
}

/* The latencies of what the file names are assumed in it, and these keys. */
static bool parse_assumed(const struct place *at, struct cp_machine *machine, char *text)
{
	const char *word;

	while (*(word = cp_next_word(&text))) {
		unsigned of = find_figure(word);

		if (of == CP_NASSUMED)
			return cp_machine_wrong(at,
				"assumed = l1d, l2, llc, stlb or keys that time hangs on",
				word);
		machine->assumed |= 1ull << of;
	}
	return true;
}

/* "memory-latency 10 l2 3": percent. */
static bool parse_spread(const struct place *at, struct cp_machine *machine, char *text)
{
	const char *word;

	while (*(word = cp_next_word(&text))) {
		unsigned of = find_figure(word);
		uint32_t percent;

		if (of == CP_NASSUMED ||
			!cp_parse_number(cp_next_word(&text), CP_MOST_SPREAD, &percent))
			return cp_machine_wrong(at,
				"spread = l1d, l2, llc, stlb or keys that time hangs on, "
				"each with a whole number of percent behind it, at most "
				"9999",
				word);
		machine->spread[of] = (uint16_t)(percent + 1);
	}
	return true;
}

static bool parse_features(const struct place *at, struct cp_shown *shown, char *text)
{
	const char *word;

	shown->features = 0;
	shown->has_features = true;
	while (*(word = cp_next_word(&text))) {
		uint64_t named = cp_features_named(word);

		if (!named && strcmp(word, "x86-64") != 0)
			return cp_machine_wrong(at,
				"features = x86-64 (or -v2 to -v4) and names that "
				"/proc/cpuinfo has for more",
				word);
		shown->features |= named;
	}
	return true;
}

enum { AND_MORE = sizeof(" and 99 more") };

void cp_machine_assumed_keys(const struct cp_machine *machine, char *to, size_t size)
{
	unsigned left = 0;
	size_t used = 0;

	*to = '\0';
	for (unsigned of = 0; of < CP_NASSUMED; of++) {
		if (!(machine->assumed >> of & 1))
			continue;
		if (used + strlen(", ") + strlen(assumed_names[of]) + AND_MORE > size)
			left++;
		else
			used += cp_format(to + used, size - used, "%s%s",
				used ? ", " : "", assumed_names[of]);
	}
	if (left)
		cp_format(to + used, size - used, " and %u more", left);
}

/* 1: it is one; 0: it is another key; -1: wrong. */
static int try_rate(
	const struct place *at, struct cp_machine *machine, const char *key, char *text)
{
	const struct rate *rate = rates;
	char expected[64];

	while (rate < rates + NRATES && strcmp(key, rate->key) != 0)
		rate++;
	if (rate == rates + NRATES)
		return 0;
	if (parse_rate(cp_next_word(&text), rate,
		    (uint32_t *)(void *)((char *)machine + rate->field)) &&
		!*cp_next_word(&text))
		return 1;
	cp_format(expected, sizeof(expected),
		"expected one number from %s, of two decimals at most", rate->range);
	cp_machine_wrong(at, expected, key);
	return -1;
}

/* As try_rate(). */
static int try_number(
	const struct place *at, struct cp_machine *machine, const char *key, char *text)
{
	char expected[64];
	uint32_t *field;
	size_t i = 0;

	while (i < NNUMBERS && strcmp(key, numbers[i].key) != 0)
		i++;
	if (i == NNUMBERS)
		return 0;
	field = (uint32_t *)(void *)((char *)machine + numbers[i].field);
	if (cp_parse_number(cp_next_word(&text), numbers[i].most, field) && *field &&
		!*cp_next_word(&text))
		return 1;
	cp_format(expected, sizeof(expected), "expected one number above 0, at most %u",
		numbers[i].most);
	cp_machine_wrong(at, expected, key);
	return -1;
}

/* "none" of those that the levels have until now, or "on" with those again. */
static bool parse_prefetch(const struct place *at, struct cp_machine *machine, char *text)
{
	bool is_on = false, any = false;

	if (!parse_choice(at, text, "none", "on", &is_on))
		return false;
	for (int i = CP_L1I; i <= CP_L2; i++)
		any |= cp_prefetch_turn(&machine->level[i], is_on);
	return any || !is_on ||
	       cp_machine_wrong(at,
		       "the machine's file names no prefetchers: say them "
		       "(L2.prefetch=next-line)",
		       NULL);
}

static bool parse_other(
	const struct place *at, struct cp_machine *machine, const char *key, char *text)
{
	int tried = try_rate(at, machine, key, text);
	bool is_it;

	if (cp_known_key(key))
		return cp_known_line(at, key, text, NULL, &is_it, &machine->shown);
	if (!tried)
		tried = try_number(at, machine, key, text);
	if (tried)
		return tried > 0;
	if (strcmp(key, "events") == 0)
		return parse_text(at, text, machine->events, sizeof(machine->events));
	if (strcmp(key, "pmu") == 0)
		return parse_text(at, text, machine->pmu, sizeof(machine->pmu));
	if (strcmp(key, "measured") == 0)
		return parse_text(at, text, machine->measured, sizeof(machine->measured));
	if (strcmp(key, "host") == 0)
		return parse_text(at, text, machine->host, sizeof(machine->host));
	if (strcmp(key, "features") == 0)
		return parse_features(at, &machine->shown, text);
	if (strcmp(key, "assumed") == 0)
		return parse_assumed(at, machine, text);
	if (strcmp(key, "spread") == 0)
		return parse_spread(at, machine, text);
	if (strcmp(key, "timing") == 0)
		return parse_choice(at, text, "in-order", "ooo", &machine->ooo.on);
	if (strcmp(key, "topology") == 0)
		return parse_choice(at, text, "full", "ring", &machine->ring);
	if (strcmp(key, "cache-instructions") == 0)
		return parse_choice(at, text, "yes", "no", &machine->ignores_orders);
	if (strcmp(key, "string-instructions") == 0)
		return parse_choice(
			at, text, "whole", "iterations", &machine->string_iterations);
	if (strcmp(key, "prefetch") == 0)
		return parse_prefetch(at, machine, text);
	if (strcmp(key, "placement") == 0)
		return parse_choice(at, text, "spread", "close", &machine->close);
	return cp_machine_wrong(at,
		"expected KEY = VALUE, with one of the keys in cachepeek-machines(5)",
		NULL);
}

/* ---- the file ---- */

/* Forgets what the other file assumed of a key that this one states again, and of TLBs,
 * their entries for huge pages. */
static void forget_inherited(
	struct cp_machine *machine, struct stated *stated, const char *key)
{
	unsigned figure = find_figure(key);

	if (strcmp(key, "itlb2") == 0 || strcmp(key, "dtlb2") == 0)
		figure = CP_ASSUMED_STLB;
	if (figure < CP_NASSUMED)
		stated->inherited &= ~(1ull << figure);
	for (int tlb = CP_ITLB; stated->like && tlb < CP_ITLB_2M; tlb++)
		if (strcmp(key, cp_level_name((enum cp_level)tlb)) == 0)
			memset(&machine->level[tlb + CP_ITLB_2M - CP_ITLB], 0,
				sizeof(machine->level[0]));
}

bool cp_machine_line(const struct place *at, struct cp_machine *machine,
	struct stated *stated, char *line)
{
	char *value = strchr(line, '='), *key = line;

	if (value)
		*value++ = '\0';
	else
		value = line + strlen(line);
	key = cp_next_word(&key);
	value += strspn(value, " \t");
	forget_inherited(machine, stated, key);
	for (int level = 0; level < CP_NLEVELS; level++)
		if (strcmp(key, cp_level_name((enum cp_level)level)) == 0) {
			stated->line[level] = at->line;
			return cp_level_parse(
				at, (enum cp_level)level, value, &machine->level[level]);
		}
	if (strcmp(key, "page") == 0)
		stated->page = at->line;
	if (strcmp(key, "sockets") == 0)
		stated->sockets = at->line;
	return parse_other(at, machine, key, value);
}

bool cp_machine_next_line(struct place *at, const char **text, char line[CP_MACHINE_LINE])
{
	while (**text) {
		size_t length = strcspn(*text, "\n");

		at->line++;
		cp_format(line, CP_MACHINE_LINE, "%.*s", (int)length, *text);
		*text += length + ((*text)[length] == '\n');
		line[strcspn(line, "#")] = '\0';
		if (line[strspn(line, " \t\r")])
			return true;
	}
	return false;
}

static bool parse_lines(struct place *at, struct cp_machine *machine,
	struct stated *stated, const char *text);

/* The name behind "like ="; NULL: the line is another one. */
static const char *like_of(char *line)
{
	char *key = line, *value = strchr(line, '=');

	if (!value || strncmp(key += strspn(key, " \t"), "like", 4) != 0 ||
		key + 4 + strspn(key + 4, " \t") != value)
		return NULL;
	value++;
	return cp_next_word(&value);
}

/* All that the other file says holds until this one says it again. */
static bool take_other(const struct place *at, struct cp_machine *machine,
	struct stated *stated, const char *name)
{
	char file[80];
	struct place in = {file, 0, at->error, at->size, false};
	const char *text;

	cp_format(file, sizeof(file), "%s.machine", name);
	text = cp_embedded_find_in(cp_processor_files(), file);
	if (!text)
		return cp_machine_wrong(at,
			"like = NAME, of a machine in \"cachepeek list machines\"", name);
	if (!parse_lines(&in, machine, stated, text))
		return false;
	for (int level = 0; level < CP_NLEVELS; level++)
		if (stated->line[level])
			stated->line[level] = at->line;
	stated->like = at->line;
	stated->inherited = machine->assumed;
	machine->assumed = 0;
	return true;
}

static bool parse_lines(struct place *at, struct cp_machine *machine,
	struct stated *stated, const char *text)
{
	char line[CP_MACHINE_LINE], copy[CP_MACHINE_LINE];
	bool is_first = true;
	const char *like;

	for (; cp_machine_next_line(at, &text, line); is_first = false) {
		memcpy(copy, line, sizeof(copy));
		like = like_of(copy);
		if (like && !is_first)
			return cp_machine_wrong(at, "like comes before all else", like);
		if (like ? !take_other(at, machine, stated, like)
			 : !cp_machine_line(at, machine, stated, line))
			return false;
	}
	machine->assumed |= stated->inherited;
	stated->inherited = 0;
	return !is_first ||
	       cp_machine_wrong(
		       at, "says nothing of a machine: see cachepeek-machines(5)", NULL);
}

int cp_machine_parse(struct cp_machine *machine, const char *file, const char *text,
	char *error, size_t error_size)
{
	struct place at = {file, 0, error, error_size, false};
	struct stated stated = {{0}, 0, 0, 0, 0};

	return parse_lines(&at, machine, &stated, text) &&
			       cp_machine_check(&at, machine, &stated)
		       ? 0
		       : -EINVAL;
}
