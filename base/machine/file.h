/* SPDX-License-Identifier: MIT
 *
 * The reader of machine files: shared by file.c, level.c, prefetch.c, check.c, change.c
 * and known.c. Where one of these is false, place says why.
 */
#ifndef CACHEPEEK_BASE_MACHINE_FILE_H
#define CACHEPEEK_BASE_MACHINE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/machine/machine.h"

#define MAX_CORES 4096

/* Where in the file, and what is wrong there. */
struct place {
	const char *file;
	unsigned line;
	char *error;
	size_t size;
	bool changes; /* no file, but what is to be changed: file is that */
};

/* Lines where a level, the page or the sockets were described, or another file was named
 * as like this one, 0: not.  inherited: what is assumed of that one, and not said
 * again. */
struct stated {
	unsigned line[CP_NLEVELS], page, sockets, like;
	uint64_t inherited;
};

static inline bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* Always false. */
bool cp_machine_wrong(const struct place *at, const char *what, const char *word);

/* The next line of the text that is not empty, without its comment; false: there is
 * none. */
#define CP_MACHINE_LINE 512
bool cp_machine_next_line(
	struct place *at, const char **text, char line[CP_MACHINE_LINE]);

/* The next word of the line, cut out of it; "" at its end. */
char *cp_next_word(char **at);

/* 64, 32K, 1M, 2G */
bool cp_parse_size(const char *word, uint64_t *value);
bool cp_parse_number(const char *word, uint32_t most, uint32_t *value);

/* Reads the text behind "LEVEL =". */
bool cp_level_parse(
	const struct place *at, enum cp_level level, char *text, struct cp_cache *cache);

/* A level's size, ways and line; one of its other words; do they go together? */
bool cp_level_shape(const struct place *at, enum cp_level level, uint64_t size,
	uint64_t ways, uint64_t line, struct cp_cache *cache);
bool cp_level_word(const struct place *at, enum cp_level level, const char *word,
	struct cp_cache *cache);
bool cp_level_check(const struct place *at, const struct cp_cache *cache);

/* The prefetchers of a level, NAME[:NUMBER...]+...: reads what is behind "prefetch=".  Do
 * they fit into the lines and pages?  Off, or on again: returns whether it has any now.
 */
bool cp_prefetch_parse(const struct place *at, enum cp_level level, const char *text,
	struct cp_cache *cache);
bool cp_prefetch_check(const struct place *at, const struct cp_machine *machine,
	const struct cp_cache *cache);
bool cp_prefetch_turn(struct cp_cache *cache, bool on);

/* One of the words that exclude each other, by what they choose ("policy").
 * -ENOENT: there is no such choice. */
int cp_level_choose(const struct place *at, enum cp_level level, const char *field,
	const char *value, struct cp_cache *cache);

/* Is it a key that names processors (known.h)?  Reads the text behind "KEY =": the first
 * one that it names (of midr: none), and whether this processor (NULL: none) is among
 * them. */
struct cp_processor;
bool cp_known_key(const char *key);
bool cp_known_line(const struct place *at, const char *key, char *text,
	const struct cp_processor *processor, bool *is_it, struct cp_shown *first);

/* A line of the file; whether what all of them say fits together. */
bool cp_machine_line(const struct place *at, struct cp_machine *machine,
	struct stated *stated, char *line);
bool cp_machine_check(
	struct place *at, struct cp_machine *machine, const struct stated *stated);

#endif
