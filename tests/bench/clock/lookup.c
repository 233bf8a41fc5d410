/* SPDX-License-Identifier: MIT
 *
 * Keys looked up in tables, trees and arrays.
 */
#include <stdlib.h>

#include "clock.h"

enum { KEYS = 1 << 18, PROBES = 200000, NONE = 0 };

static uint32_t *sorted, *probes;

static int compare_keys(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return (a > b) - (a < b);
}

static void make_keys(void)
{
	sorted = make_room(sizeof(*sorted) * KEYS);
	probes = make_room(sizeof(*probes) * PROBES);
	for (size_t i = 0; i < KEYS; i++)
		sorted[i] = (uint32_t)(16 * i + next_number() % 15 + 1);
	for (size_t i = 0; i < PROBES; i++)
		probes[i] = sorted[next_number() % KEYS];
}

static void make_sorted_probes(void)
{
	make_keys();
	qsort(probes, PROBES, sizeof(*probes), compare_keys);
}

static uint64_t binary_search(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PROBES; i++) {
		size_t low = 0, high = KEYS;

		while (high - low > 1) {
			size_t middle = (low + high) / 2;

			if (sorted[middle] <= probes[i])
				low = middle;
			else
				high = middle;
		}
		sum += low;
	}
	return sum;
}

/* ---- a hash table with open addresses: a join ---- */

enum { SLOTS = KEYS * 4 };
static struct slot {
	uint32_t key, value;
} * slots;
static uint32_t *parts, *starts;

static size_t slot_of(uint32_t key)
{
	return (uint32_t)(key * 2654435769u) >> 12;
}

static void insert_key(uint32_t key, uint32_t value)
{
	size_t at = slot_of(key);

	while (slots[at].key)
		at = (at + 1) % SLOTS;
	slots[at] = (struct slot){key, value};
}

static void make_table(void)
{
	make_keys();
	slots = make_room(sizeof(*slots) * SLOTS);
	for (size_t i = 0; i < KEYS; i++)
		insert_key(sorted[i], (uint32_t)i);
}

static uint64_t probe_all(const uint32_t *keys, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = slot_of(keys[i]);

		while (slots[at].key != keys[i])
			at = (at + 1) % SLOTS;
		sum += slots[at].value;
	}
	return sum;
}

static uint64_t hash_join(void)
{
	return probe_all(probes, PROBES);
}

/* The probes by their part of the table: made before, as the input may come so. */
enum { PARTS = 256 };

static void make_parted(void)
{
	make_table();
	parts = make_room(sizeof(*parts) * PROBES);
	starts = make_room(sizeof(*starts) * (PARTS + 1));
	for (size_t i = 0; i < PROBES; i++)
		starts[slot_of(probes[i]) / (SLOTS / PARTS) + 1]++;
	for (size_t i = 0; i < PARTS; i++)
		starts[i + 1] += starts[i];
	for (size_t i = 0; i < PROBES; i++)
		parts[starts[slot_of(probes[i]) / (SLOTS / PARTS)]++] = probes[i];
}

static uint64_t parted_join(void)
{
	return probe_all(parts, PROBES);
}

/* ---- trees ---- */

struct node {
	struct node *child[2];
	uint32_t key, value;
};
static struct node *nodes, *root;

static void make_tree(void)
{
	uint32_t *order = make_room(sizeof(*order) * KEYS);

	make_keys();
	nodes = make_room(sizeof(*nodes) * KEYS);
	shuffle(order, KEYS);
	for (size_t i = 0; i < KEYS; i++) {
		struct node **at = &root;

		while (*at)
			at = &(*at)->child[sorted[order[i]] > (*at)->key];
		*at = &nodes[i];
		nodes[i].key = sorted[order[i]];
		nodes[i].value = (uint32_t)i;
	}
}

static uint64_t binary_tree(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PROBES; i++) {
		const struct node *node = root;

		while (node->key != probes[i])
			node = node->child[probes[i] > node->key];
		sum += node->value;
	}
	return sum;
}

/* A tree of 16 keys a node, laid out level by level: three levels above the sorted keys.
 */
enum { FAN = 16 };
static uint32_t *level[4];

static void make_btree(void)
{
	size_t n = KEYS;

	make_keys();
	level[0] = sorted;
	for (int i = 1; i < 4; i++) {
		n /= FAN;
		level[i] = make_room(sizeof(uint32_t) * n);
		for (size_t k = 0; k < n; k++)
			level[i][k] = level[i - 1][k * FAN];
	}
}

static size_t count_of(const uint32_t *keys, size_t n, uint32_t key)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += keys[i] <= key;
	return count;
}

static uint64_t btree(void)
{
	size_t top = KEYS / FAN / FAN / FAN;
	uint64_t sum = 0;

	for (size_t i = 0; i < PROBES; i++) {
		size_t at = count_of(level[3], top, probes[i]) - 1;

		for (int l = 2; l >= 0; l--)
			at = at * FAN + count_of(level[l] + at * FAN, FAN, probes[i]) - 1;
		sum += at;
	}
	return sum;
}

const struct kernel lookup_kernels[] = {
	{"search-wild", make_keys, binary_search},
	{"search-sorted", make_sorted_probes, binary_search},
	{"hash-join", make_table, hash_join},
	{"hash-join-parted", make_parted, parted_join},
	{"binary-tree", make_tree, binary_tree},
	{"b-tree", make_btree, btree},
	{NULL, NULL, NULL},
};
