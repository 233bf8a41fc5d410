/* SPDX-License-Identifier: MIT
 *
 * CACHEPEEK_WHAT_IF: changes to a machine, field by field or as lines of its file.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/format.h"
#include "base/text.h"
#include "base/machine/file.h"

/* L1D, l1d, L3 … */
static bool find_level(const char *word, size_t length, enum cp_level *level)
{
	for (int i = 0; i < CP_NLEVELS; i++) {
		const char *names[] = {
			cp_level_name((enum cp_level)i), i == CP_LLC ? "l3" : ""};

		for (int n = 0; n < 2; n++)
			if (strlen(names[n]) == length &&
				strncasecmp(names[n], word, length) == 0) {
				*level = (enum cp_level)i;
				return true;
			}
	}
	return false;
}

/* The size (of TLBs, the entries) and what of the geometry follows from what. */
static bool change_shape(const struct place *at, enum cp_level level, const char *field,
	const char *value, struct cp_cache *cache)
{
	uint64_t line = cp_is_tlb(level) ? 1 : cache->line, ways = cache->ways, number,
		 size = (uint64_t)cache->sets * ways * line;

	if (!cp_parse_size(value, &number) || number >> 40)
		return cp_machine_wrong(
			at, "expected a number, which may end in K, M or G", value);
	if (strcmp(field, "ways") == 0) {
		size = cache->sets * number * line;
		ways = number;
	} else if (strcmp(field, "sets") == 0) {
		size = number * ways * line;
	} else if (strcmp(field, "line") == 0) {
		line = number;
	} else {
		size = number;
	}
	return cp_level_shape(at, level, size, ways, line, cache) &&
	       cp_level_check(at, cache);
}

/* Yes or no. */
static bool change_feature(const struct place *at, enum cp_level level, const char *field,
	const char *value, struct cp_cache *cache)
{
	bool *feature =
		strcmp(field, "half-lines") == 0 ? &cache->half_lines : &cache->fp_bypass;

	if (level != CP_L1D)
		return cp_machine_wrong(at, "not for this level", NULL);
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return cp_machine_wrong(at, "expected yes or no", value);
	*feature = *value == 'y';
	return true;
}

static bool is_shape(enum cp_level level, const char *field)
{
	return strcmp(field, cp_is_tlb(level) ? "entries" : "size") == 0 ||
	       strcmp(field, "ways") == 0 || strcmp(field, "sets") == 0 ||
	       (!cp_is_tlb(level) && strcmp(field, "line") == 0);
}

static bool change_field(const struct place *at, enum cp_level level, const char *field,
	const char *value, struct cp_cache *cache)
{
	char word[96];
	int chosen;

	if (!cache->sets)
		return cp_machine_wrong(at,
			"the machine has no such level: say all of it, "
			"as in L2=1M 16 64",
			NULL);
	if (is_shape(level, field))
		return change_shape(at, level, field, value, cache);
	chosen = cp_level_choose(at, level, field, value, cache);
	if (chosen != -ENOENT)
		return chosen;
	if (strcmp(field, "half-lines") == 0 || strcmp(field, "fp-bypass") == 0)
		return change_feature(at, level, field, value, cache);
	if (cp_format(word, sizeof(word), "%s=%s", field, value) < sizeof(word) &&
		(strcmp(field, "latency") == 0 || strcmp(field, "shared") == 0 ||
			strcmp(field, "random") == 0 || strcmp(field, "prefetch") == 0))
		return cp_level_word(at, level, word, cache);
	return cp_machine_wrong(at,
		cp_is_tlb(level)
			? "no such field: "
			  "there are entries ways sets policy random latency"
			: "no such field: "
			  "there are size ways sets line policy random write allocate "
			  "inclusion shared prefetch latency half-lines fp-bypass",
		field);
}

/* Does it change a size?  The rest of the geometry is adapted to that. */
static bool is_size(const char *change)
{
	const char *dot = strchr(change, '.');

	return dot && (cp_starts_with(dot, ".size=") || cp_starts_with(dot, ".entries="));
}

/* "L2.size=4M"; without a dot, a line of the file. */
static bool apply_change(
	struct place *at, struct cp_machine *machine, struct stated *stated, char *change)
{
	char *equals = strchr(change, '='), *dot = strchr(change, '.');
	enum cp_level level;

	if (!equals || equals == change)
		return cp_machine_wrong(
			at, "expected LEVEL.FIELD=VALUE, such as L2.size=4M", NULL);
	if (!dot || dot > equals) {
		for (char *c = change; c < equals; c++)
			*c = (char)(*c >= 'A' && *c <= 'Z' ? *c | 0x20 : *c);
		if (equals - change == 2 && strncmp(change, "l3", 2) == 0)
			return cp_machine_wrong(
				at, "the last level is called LLC here", NULL);
		return cp_machine_line(at, machine, stated, change);
	}
	if (!find_level(change, (size_t)(dot - change), &level))
		return cp_machine_wrong(at,
			"no such level: "
			"there are L1I L1D L2 LLC ITLB DTLB STLB ITLB2 DTLB2",
			NULL);
	*equals = '\0';
	return change_field(at, level, dot + 1, equals + 1, &machine->level[level]);
}

/* One of them, if it is a size or not, as is wanted. */
static bool apply_piece(const struct place *all, struct cp_machine *machine,
	struct stated *stated, const char *piece, size_t length, bool sizes)
{
	char change[128], shown[128];
	struct place at = *all;

	cp_format(change, sizeof(change), "%.*s", (int)length, piece);
	cp_format(shown, sizeof(shown), "%s", change);
	at.file = shown;
	if (length >= sizeof(change))
		return cp_machine_wrong(&at, "longer than any change is", NULL);
	return is_size(change) != sizes || apply_change(&at, machine, stated, change);
}

/* The sizes come last: they hold whatever else is said of the level. */
static bool apply_changes(const struct place *at, struct cp_machine *machine,
	struct stated *stated, const char *changes, bool sizes)
{
	const char *piece;
	size_t length;

	while ((piece = cp_next_piece(&changes, ',', &length)))
		if (!apply_piece(at, machine, stated, piece, length, sizes))
			return false;
	return true;
}

static void rename_machine(struct cp_machine *machine, const char *changes)
{
	const char *word = " with ", *piece;
	size_t used = strlen(machine->name), length;

	while ((piece = cp_next_piece(&changes, ',', &length)) &&
		used < sizeof(machine->name)) {
		used += cp_format(machine->name + used, sizeof(machine->name) - used,
			"%s%.*s", word, (int)length, piece);
		word = ",";
	}
	if (used >= sizeof(machine->name))
		memcpy(machine->name + sizeof(machine->name) - 4, "...", 4);
}

/* Latencies that are the user's now. */
static void note_latencies(const struct cp_machine *before, struct cp_machine *changed)
{
	for (enum cp_weight_of of = CP_OF_L1; of < CP_NWEIGHTS; of++)
		if (cp_machine_latency(before, of) != cp_machine_latency(changed, of))
			changed->changed |= 1u << of;
}

int cp_machine_change(
	struct cp_machine *machine, const char *changes, char *error, size_t error_size)
{
	struct place at = {changes, 0, error, error_size, true};
	struct cp_machine changed = *machine;
	struct stated stated = {{0}, 0, 0, 0, 0};

	if (!apply_changes(&at, &changed, &stated, changes, false) ||
		!apply_changes(&at, &changed, &stated, changes, true))
		return -EINVAL;
	if (!cp_machine_check(&at, &changed, &stated))
		return -EINVAL;
	rename_machine(&changed, changes);
	note_latencies(machine, &changed);
	*machine = changed;
	return 0;
}
