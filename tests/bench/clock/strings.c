/* SPDX-License-Identifier: MIT
 *
 * Texts that are alike, texts in order, many words looked for at once, sums by name, and
 * the digest of a file.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

static unsigned char *make_letters(size_t n, unsigned of)
{
	unsigned char *letters = make_room(n + 64);

	for (size_t i = 0; i < n; i++)
		letters[i] = (unsigned char)(next_number() % of);
	return letters;
}

/* ---- how well two texts fit each other, with gaps (Smith and Waterman, Gotoh) ---- */

enum { LONG = 900, SHORT = 700, OPEN = 5, EXTEND = 1 };

static unsigned char *one, *other;
static int32_t best_above[SHORT + 1], gap_above[SHORT + 1];

static void make_texts(void)
{
	one = make_letters(LONG, 4);
	other = make_letters(SHORT, 4);
}

static int32_t larger(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

static uint64_t align(void)
{
	int32_t most = 0;

	memset(best_above, 0, sizeof(best_above));
	memset(gap_above, 0, sizeof(gap_above));
	for (size_t i = 0; i < LONG; i++) {
		int32_t diagonal = 0, left = 0, gap = 0;

		for (size_t j = 0; j < SHORT; j++) {
			int32_t best = diagonal + (one[i] == other[j] ? 3 : -2);

			gap = larger(gap - EXTEND, left - OPEN);
			gap_above[j] =
				larger(gap_above[j] - EXTEND, best_above[j] - OPEN);
			best = larger(larger(best, 0), larger(gap, gap_above[j]));
			diagonal = best_above[j];
			best_above[j] = left = best;
			most = larger(most, best);
		}
	}
	return (uint64_t)most;
}

/* ---- the ends of a text in order, by twice as many of their letters each time ---- */

enum { TEXT = 50000 };

static unsigned char *text;
static uint32_t *suffixes, *by_second, *rank, *next_rank, *bucket;

static void make_suffixes(void)
{
	text = make_letters(TEXT, 4);
	suffixes = make_room(sizeof(uint32_t) * TEXT);
	by_second = make_room(sizeof(uint32_t) * TEXT);
	rank = make_room(sizeof(uint32_t) * TEXT);
	next_rank = make_room(sizeof(uint32_t) * TEXT);
	bucket = make_room(sizeof(uint32_t) * (TEXT + 1));
}

static void sort_by_rank(const uint32_t *from, uint32_t *to)
{
	memset(bucket, 0, sizeof(*bucket) * (TEXT + 1));
	for (size_t i = 0; i < TEXT; i++)
		bucket[rank[i] + 1]++;
	for (size_t i = 0; i < TEXT; i++)
		bucket[i + 1] += bucket[i];
	for (size_t i = 0; i < TEXT; i++)
		to[bucket[rank[from[i]]]++] = from[i];
}

/* Ends of which the second half is empty are first of those with their first half. */
static void order_by_second(uint32_t half)
{
	size_t n = 0;

	for (uint32_t i = TEXT - half; i < TEXT; i++)
		by_second[n++] = i;
	for (size_t i = 0; i < TEXT; i++)
		if (suffixes[i] >= half)
			by_second[n++] = suffixes[i] - half;
}

static uint32_t rank_behind(uint32_t at, uint32_t half)
{
	return at + half < TEXT ? rank[at + half] + 1 : 0;
}

static uint32_t rank_again(uint32_t half)
{
	uint32_t ranks = 0, *kept = rank;

	next_rank[suffixes[0]] = 0;
	for (size_t i = 1; i < TEXT; i++) {
		uint32_t at = suffixes[i], before = suffixes[i - 1];

		ranks += rank[at] != rank[before] ||
			 rank_behind(at, half) != rank_behind(before, half);
		next_rank[at] = ranks;
	}
	rank = next_rank;
	next_rank = kept;
	return ranks + 1;
}

static uint64_t sort_suffixes(void)
{
	for (uint32_t i = 0; i < TEXT; i++) {
		rank[i] = text[i];
		by_second[i] = i;
	}
	sort_by_rank(by_second, suffixes);
	for (uint32_t half = 1; half < TEXT; half *= 2) {
		order_by_second(half);
		sort_by_rank(by_second, suffixes);
		if (rank_again(half) == TEXT)
			break;
	}
	return suffixes[7];
}

/* ---- many words at once (Aho and Corasick) ---- */

enum {
	LETTERS = 64,
	WORDS = 400,
	LENGTH = 7,
	STATES = WORDS * LENGTH + 1,
	BOOK = 1 << 20
};

static uint16_t (*next_state)[LETTERS], *falls_to, *states;
static uint32_t *ends_here, nstates;
static unsigned char *book;

static void add_word(const unsigned char *word)
{
	uint16_t state = 0;

	for (int i = 0; i < LENGTH; i++) {
		uint16_t *next = &next_state[state][word[i]];

		if (!*next)
			*next = (uint16_t)nstates++;
		state = *next;
	}
	ends_here[state]++;
}

/* Breadth first: where a letter has no state, that of the longest end which has one. */
static void complete_states(void)
{
	size_t head = 0, tail = 1;

	while (head < tail) {
		uint16_t state = states[head++], falls = falls_to[state];

		for (int c = 0; c < LETTERS; c++) {
			uint16_t next = next_state[state][c];

			if (!next) {
				next_state[state][c] = next_state[falls][c];
				continue;
			}
			falls_to[next] = state ? next_state[falls][c] : 0;
			ends_here[next] += ends_here[falls_to[next]];
			states[tail++] = next;
		}
	}
}

static void make_automaton(void)
{
	next_state = make_room(sizeof(*next_state) * STATES);
	falls_to = make_room(sizeof(*falls_to) * STATES);
	states = make_room(sizeof(*states) * STATES);
	ends_here = make_room(sizeof(*ends_here) * STATES);
	nstates = 1;
	book = make_letters(BOOK, 12);
	for (size_t i = 0; i < WORDS; i++)
		add_word(book + next_number() % (BOOK - LENGTH));
	complete_states();
}

static uint64_t find_all(void)
{
	uint64_t found = 0;
	uint16_t state = 0;

	for (size_t i = 0; i < BOOK; i++) {
		state = next_state[state][book[i]];
		found += ends_here[state];
	}
	return found;
}

/* ---- sums by name ---- */

enum { SALES = 80000, NAMES = 20000, NAME = 20, GROUPS = 1 << 14 };

static char (*names)[NAME];
static uint32_t *sold;
static struct group {
	struct group *next;
	const char *name;
	uint64_t hash, count, sum;
} * groups, **groups_of;

static void make_sales(void)
{
	names = make_room(sizeof(*names) * NAMES);
	sold = make_room(sizeof(*sold) * SALES);
	groups = make_room(sizeof(*groups) * NAMES);
	groups_of = make_room(sizeof(struct group *) * GROUPS);
	for (size_t i = 0; i < NAMES; i++)
		for (size_t k = 0; k < 5 + i % 14; k++)
			names[i][k] = (char)('a' + next_number() % 26);
	for (size_t i = 0; i < SALES; i++)
		sold[i] = (uint32_t)(next_number() % NAMES);
}

static uint64_t hash_name(const char *name)
{
	uint64_t hash = 14695981039346656037u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 1099511628211u;
	return hash;
}

static struct group *group_of(const char *name, size_t *ngroups)
{
	uint64_t hash = hash_name(name);
	struct group **first = &groups_of[(hash ^ hash >> 32) % GROUPS], *group = *first;

	while (group && (group->hash != hash || strcmp(group->name, name) != 0))
		group = group->next;
	if (!group) {
		group = &groups[(*ngroups)++];
		*group = (struct group){*first, name, hash, 0, 0};
		*first = group;
	}
	return group;
}

static uint64_t sum_by_name(void)
{
	size_t ngroups = 0;
	uint64_t most = 0;

	memset(groups_of, 0, sizeof(struct group *) * GROUPS);
	for (size_t i = 0; i < SALES; i++) {
		struct group *group = group_of(names[sold[i]], &ngroups);

		group->count++;
		group->sum += i;
	}
	for (size_t i = 0; i < ngroups; i++)
		if (groups[i].sum > most)
			most = groups[i].sum;
	return most;
}

/* ---- a digest (SHA-256) ---- */

enum { BLOCKS = 8192, ROUNDS = 64 };

static uint32_t *file, constants[ROUNDS];

/* The first bits behind the point of the cube roots of the first primes. */
static void make_constants(void)
{
	unsigned prime = 2;

	for (int i = 0; i < ROUNDS; prime++) {
		unsigned by = 2;
		double root = cbrt(prime);

		while (by * by <= prime && prime % by)
			by++;
		if (by * by > prime)
			constants[i++] = (uint32_t)((root - floor(root)) * 4294967296.0);
	}
}

static void make_file(void)
{
	make_constants();
	file = make_room(sizeof(*file) * 16 * BLOCKS);
	for (size_t i = 0; i < (size_t)16 * BLOCKS; i++)
		file[i] = (uint32_t)next_number();
}

static uint32_t turn(uint32_t word, int by)
{
	return word >> by | word << (32 - by);
}

static void extend(uint32_t *w)
{
	for (int i = 16; i < ROUNDS; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
		       (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
}

static void add_block(uint32_t *state, const uint32_t *block)
{
	uint32_t w[ROUNDS], a = state[0], b = state[1], c = state[2], d = state[3],
			    e = state[4], f = state[5], g = state[6], h = state[7];

	memcpy(w, block, 16 * sizeof(*w));
	extend(w);
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
				 ((e & f) ^ (~e & g)) + constants[i] + w[i];
		uint32_t second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
				  ((a & b) ^ (a & c) ^ (b & c));

		h = g;
		g = f;
		f = e;
		e = d + first;
		d = c;
		c = b;
		b = a;
		a = first + second;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
	state[5] += f;
	state[6] += g;
	state[7] += h;
}

static uint64_t digest(void)
{
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
		0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	for (size_t i = 0; i < BLOCKS; i++)
		add_block(state, file + 16 * i);
	return state[0];
}

const struct kernel string_kernels[] = {
	{"align", make_texts, align},
	{"suffixes", make_suffixes, sort_suffixes},
	{"many-words", make_automaton, find_all},
	{"sum-by-name", make_sales, sum_by_name},
	{"digest", make_file, digest},
	{NULL, NULL, NULL},
};
