/* SPDX-License-Identifier: MIT
 *
 * Updates of a matrix, words in a text, a tree of letters, shortest paths, and bits that
 * stand for letters.
 */
#include <math.h>
#include <string.h>

#include "clock.h"

/* ---- a matrix that vectors are added to, and its products (gemver of PolyBench) ---- */

enum { SIDE = 600 };

static double *matrix, *vectors[8];

static void make_matrix(void)
{
	matrix = make_room(sizeof(double) * SIDE * SIDE);
	for (int i = 0; i < SIDE * SIDE; i++)
		matrix[i] = (double)(next_number() % 1000) / 1000;
	for (int k = 0; k < 8; k++) {
		vectors[k] = make_room(sizeof(double) * SIDE);
		for (int i = 0; i < SIDE; i++)
			vectors[k][i] = (double)(next_number() % 100) / 100000;
	}
}

static uint64_t gemver(void)
{
	const double *u1 = vectors[0], *v1 = vectors[1], *u2 = vectors[2],
		     *v2 = vectors[3], *y = vectors[4], *z = vectors[5];
	double *x = vectors[6], *w = vectors[7];

	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++)
			matrix[i * SIDE + j] += u1[i] * v1[j] - u2[i] * v2[j];
	for (int i = 0; i < SIDE; i++) {
		x[i] = z[i];
		for (int j = 0; j < SIDE; j++)
			x[i] += 0.001 * matrix[j * SIDE + i] * y[j];
	}
	for (int i = 0; i < SIDE; i++) {
		w[i] = 0;
		for (int j = 0; j < SIDE; j++)
			w[i] += 0.002 * matrix[i * SIDE + j] * x[j];
	}
	return (uint64_t)fabs(1000 * w[7]);
}

/* ---- words in a text, looked for from their ends (Horspool) ---- */

enum { TEXT = 1 << 20, WORDS = 12, LONGEST = 16 };

static unsigned char *text;
static unsigned char words[WORDS][LONGEST];
static size_t length[WORDS];

static void make_text(void)
{
	static const char letters[] = "eeeetttaaooiinnsshhrdlu    ";

	text = make_room(TEXT);
	for (size_t i = 0; i < TEXT; i++)
		text[i] = (unsigned char)letters[next_number() % (sizeof(letters) - 1)];
}

static void make_words(void)
{
	make_text();
	for (size_t i = 0; i < WORDS; i++) {
		length[i] = 4 + next_number() % (LONGEST - 4);
		memcpy(words[i], text + next_number() % (TEXT - LONGEST), length[i]);
	}
}

static uint64_t count_word(const unsigned char *word, size_t n)
{
	size_t further[256];
	uint64_t found = 0;

	for (int c = 0; c < 256; c++)
		further[c] = n;
	for (size_t i = 0; i + 1 < n; i++)
		further[word[i]] = n - 1 - i;
	for (size_t at = 0; at + n <= TEXT; at += further[text[at + n - 1]]) {
		size_t i = n;

		while (i > 0 && text[at + i - 1] == word[i - 1])
			i--;
		found += i == 0;
	}
	return found;
}

static uint64_t find_words(void)
{
	uint64_t found = 0;

	for (size_t i = 0; i < WORDS; i++)
		found += count_word(words[i], length[i]);
	return found;
}

/* ---- a tree of letters ---- */

enum { BRANCHES = 26, ENTRIES = 30000, LOOKUPS = 60000, LETTERS = 8, NODES = 200000 };

static struct letter {
	uint32_t next[BRANCHES], count;
} * tree;
static uint32_t tree_size;
static unsigned char (*entries)[LETTERS];

/* Some letters are commoner than others. */
static void make_entry(unsigned char *entry)
{
	for (int i = 0; i < LETTERS; i++)
		entry[i] =
			(unsigned char)(next_number() % (next_number() % BRANCHES + 1));
}

static void add_entry(const unsigned char *entry)
{
	uint32_t at = 0;

	for (int i = 0; i < LETTERS && tree_size < NODES; i++) {
		uint32_t *next = &tree[at].next[entry[i]];

		if (!*next)
			*next = tree_size++;
		at = *next;
	}
	tree[at].count++;
}

static void make_trie(void)
{
	tree = make_room(sizeof(*tree) * (NODES + 1));
	tree_size = 1;
	entries = make_room(sizeof(*entries) * LOOKUPS);
	for (size_t i = 0; i < LOOKUPS; i++)
		make_entry(entries[i]);
	for (size_t i = 0; i < ENTRIES; i++)
		add_entry(entries[2 * i]);
}

static uint64_t trie(void)
{
	uint64_t found = 0;

	for (size_t i = 0; i < LOOKUPS; i++) {
		uint32_t at = 0;
		int k = 0;

		do
			at = tree[at].next[entries[i][k++]];
		while (at && k < LETTERS);
		found += at ? tree[at].count : 0;
	}
	return found;
}

/* ---- shortest paths, the nearest first ---- */

enum { PLACES = 20000, WAYS = 5, HEAP = PLACES * WAYS + 1, FAR = 1 << 30 };

static struct way {
	uint32_t to, length;
} (*ways)[WAYS];
static struct reached {
	uint32_t distance, place;
} * heap;
static uint32_t *distance, heap_size;

static void make_ways(void)
{
	ways = make_room(sizeof(*ways) * PLACES);
	heap = make_room(sizeof(*heap) * (HEAP + 1));
	distance = make_room(sizeof(*distance) * PLACES);
	for (size_t i = 0; i < PLACES; i++)
		for (size_t k = 0; k < WAYS; k++)
			ways[i][k] = (struct way){(uint32_t)(next_number() % PLACES),
				(uint32_t)(next_number() % 1000 + 1)};
}

static void put_reached(uint32_t far, uint32_t place)
{
	uint32_t at = ++heap_size;

	for (; at > 1 && heap[at / 2].distance > far; at /= 2)
		heap[at] = heap[at / 2];
	heap[at] = (struct reached){far, place};
}

static struct reached take_nearest(void)
{
	struct reached nearest = heap[1], last = heap[heap_size--];
	uint32_t at = 1, child;

	for (; (child = 2 * at) <= heap_size; at = child) {
		if (child < heap_size && heap[child + 1].distance < heap[child].distance)
			child++;
		if (heap[child].distance >= last.distance)
			break;
		heap[at] = heap[child];
	}
	heap[at] = last;
	return nearest;
}

static uint64_t shortest_paths(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PLACES; i++)
		distance[i] = FAR;
	distance[0] = heap_size = 0;
	put_reached(0, 0);
	while (heap_size) {
		struct reached from = take_nearest();

		if (from.distance > distance[from.place])
			continue;
		sum += from.distance;
		for (int k = 0; k < WAYS; k++) {
			const struct way *way = &ways[from.place][k];
			uint32_t far = from.distance + way->length;

			if (far >= distance[way->to])
				continue;
			distance[way->to] = far;
			put_reached(far, way->to);
		}
	}
	return sum;
}

/* ---- letters of 2 to 8 bits, bit by bit down a tree ---- */

enum { SYMBOLS = 1 << 18, CODES = 32, BITS = SYMBOLS * 8 };

static unsigned char *bits;
static uint16_t fork_of[2 * CODES][2]; /* a fork, or CODES * 2 + a letter */

/* Letters by twos: of each fork one way is a letter, and the other the next fork, as long
 * as there are such; the last eight are of one length. */
static void make_forks(void)
{
	uint16_t next = 1;

	for (uint16_t at = 0; at < 5; at++, next++) {
		fork_of[at][0] = (uint16_t)(2 * CODES + at);
		fork_of[at][1] = next;
	}
	for (uint16_t at = 5, open = 6; at < 12; at++)
		for (int way = 0; way < 2; way++)
			fork_of[at][way] =
				(uint16_t)(at < 8 ? open++ : 2 * CODES + at + 8 * way);
}

static void make_bits(void)
{
	make_forks();
	bits = make_room(BITS / 8);
	for (size_t i = 0; i < BITS / 8; i++)
		bits[i] = (unsigned char)next_number();
}

static uint64_t huffman(void)
{
	uint64_t sum = 0, at = 0;

	for (size_t i = 0; i < SYMBOLS; i++) {
		uint16_t fork = 0;

		do {
			fork = fork_of[fork][bits[at / 8] >> (at % 8) & 1];
			at++;
		} while (fork < 2 * CODES);
		sum = 3 * sum + fork;
	}
	return sum;
}

const struct kernel various_kernels[] = {
	{"gemver", make_matrix, gemver},
	{"words", make_words, find_words},
	{"trie", make_trie, trie},
	{"shortest-paths", make_ways, shortest_paths},
	{"huffman", make_bits, huffman},
	{NULL, NULL, NULL},
};
