/* SPDX-License-Identifier: MIT
 *
 * A puzzle, rooms of the heap, a tree that stays balanced by chance, and the ways of
 * packets.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"

/* ---- nine by nine digits, each once in its row, column and square ---- */

enum { DIGITS = 9, FIELDS = DIGITS * DIGITS, GIVEN = 26, TRIES = 200000 };

static unsigned char puzzle[FIELDS], filled[FIELDS];
static uint16_t in_row[DIGITS], in_column[DIGITS], in_square[DIGITS];
static uint32_t tries_left;

/* Some fields of a solution; the others are 0. */
static void make_puzzle(void)
{
	uint32_t order[FIELDS];

	shuffle(order, FIELDS);
	for (size_t i = 0; i < GIVEN; i++) {
		size_t at = order[i], row = at / DIGITS, column = at % DIGITS;

		puzzle[at] =
			(unsigned char)((3 * (row % 3) + row / 3 + column) % DIGITS + 1);
	}
}

static size_t square_of(size_t at)
{
	return at / DIGITS / 3 * 3 + at % DIGITS / 3;
}

static void flip(size_t at, unsigned digit)
{
	uint16_t bit = (uint16_t)(1u << digit);

	in_row[at / DIGITS] ^= bit;
	in_column[at % DIGITS] ^= bit;
	in_square[square_of(at)] ^= bit;
}

static uint64_t fill_from(size_t at)
{
	uint64_t ways = 0;
	unsigned taken;

	while (at < FIELDS && filled[at])
		at++;
	if (at == FIELDS)
		return 1;
	taken = in_row[at / DIGITS] | in_column[at % DIGITS] | in_square[square_of(at)];
	for (unsigned digit = 1; digit <= DIGITS && tries_left; digit++) {
		if (taken >> digit & 1)
			continue;
		tries_left--;
		filled[at] = (unsigned char)digit;
		flip(at, digit);
		ways += fill_from(at + 1);
		flip(at, digit);
	}
	filled[at] = 0;
	return ways;
}

static uint64_t solve(void)
{
	memset(in_row, 0, sizeof(in_row));
	memset(in_column, 0, sizeof(in_column));
	memset(in_square, 0, sizeof(in_square));
	memcpy(filled, puzzle, FIELDS);
	for (size_t i = 0; i < FIELDS; i++)
		if (puzzle[i])
			flip(i, puzzle[i]);
	tries_left = TRIES;
	return fill_from(0) + tries_left;
}

/* ---- rooms of the heap, of all sizes, for some time ---- */

enum { HELD = 4096, MOVES = 120000 };

static unsigned char *held[HELD];
static uint32_t *moves;

static void make_moves(void)
{
	moves = make_room(sizeof(*moves) * MOVES);
	for (size_t i = 0; i < MOVES; i++)
		moves[i] = (uint32_t)next_number();
}

static size_t size_of(uint32_t move)
{
	uint32_t size = move >> 12 & 255;

	return move >> 28 ? size + 16 : 8 * size + 300;
}

static uint64_t move_in(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < MOVES; i++) {
		unsigned char **at = &held[moves[i] % HELD];

		if (*at) {
			sum += **at;
			free(*at);
		}
		*at = malloc(size_of(moves[i]));
		if (!*at)
			abort();
		**at = (unsigned char)i;
	}
	for (size_t i = 0; i < HELD; i++) {
		free(held[i]);
		held[i] = NULL;
	}
	return sum;
}

/* ---- a tree of keys that is a heap of chances as well (treap) ---- */

enum { KEYS = 40000 };

static struct node {
	struct node *child[2];
	uint32_t key, chance;
} * nodes;

static void make_nodes(void)
{
	nodes = make_room(sizeof(*nodes) * KEYS);
	for (size_t i = 0; i < KEYS; i++) {
		nodes[i].key = (uint32_t)next_number();
		nodes[i].chance = (uint32_t)next_number();
	}
}

static struct node *put_node(struct node *root, struct node *node)
{
	struct node *child;
	int side;

	if (!root)
		return node;
	side = node->key > root->key;
	root->child[side] = child = put_node(root->child[side], node);
	if (child->chance <= root->chance)
		return root;
	root->child[side] = child->child[!side];
	child->child[!side] = root;
	return child;
}

/* Each node by how deep it is, in the order of the keys. */
static uint64_t sum_depths(const struct node *node, uint64_t depth)
{
	uint64_t sum = 0;

	for (; node; node = node->child[1], depth++)
		sum += depth + sum_depths(node->child[0], depth + 1);
	return sum;
}

static uint64_t treap(void)
{
	struct node *root = NULL;

	for (size_t i = 0; i < KEYS; i++)
		nodes[i].child[0] = nodes[i].child[1] = NULL;
	for (size_t i = 0; i < KEYS; i++)
		root = put_node(root, &nodes[i]);
	return sum_depths(root, 0);
}

/* ---- where packets go: by 24 bits of their address, and by the others where these do
 * not tell ---- */

enum { PREFIXES = 40000, FURTHER = 4096, PACKETS = 250000, IS_FURTHER = 1 << 15 };

static uint16_t *by_24_bits, (*by_rest)[256];
static uint32_t *packets;

static void add_prefix(uint32_t address, unsigned bits, uint16_t way)
{
	size_t first = (size_t)address >> (32 - bits) << (24 - bits);

	for (size_t i = 0; i < (size_t)1 << (24 - bits); i++)
		by_24_bits[first + i] = way;
}

/* Longer prefixes come later.  Half of the packets go where 24 bits do not tell. */
static void make_routes(void)
{
	by_24_bits = make_room(sizeof(*by_24_bits) << 24);
	by_rest = make_room(sizeof(*by_rest) * FURTHER);
	packets = make_room(sizeof(*packets) * PACKETS);
	for (unsigned i = 0; i < PREFIXES; i++)
		add_prefix((uint32_t)next_number(), 14 + i / (PREFIXES / 10),
			(uint16_t)(next_number() % 64));
	for (size_t i = 0; i < PACKETS; i++)
		packets[i] = (uint32_t)next_number();
	for (size_t i = 0; i < FURTHER; i++) {
		by_24_bits[packets[2 * i] >> 8] = (uint16_t)(IS_FURTHER | i);
		for (size_t k = 0; k < 256; k++)
			by_rest[i][k] = (uint16_t)(next_number() % 64);
	}
	for (size_t i = (size_t)2 * FURTHER; i < PACKETS; i++)
		if (next_number() % 2)
			packets[i] =
				(packets[i] & 255) | (packets[i % FURTHER * 2] & ~255u);
}

static uint64_t route(void)
{
	static uint32_t count[64];

	for (size_t i = 0; i < PACKETS; i++) {
		uint16_t way = by_24_bits[packets[i] >> 8];

		if (way & IS_FURTHER)
			way = by_rest[way ^ IS_FURTHER][packets[i] & 255];
		count[way]++;
	}
	return count[7];
}

const struct kernel choice_kernels[] = {
	{"puzzle", make_puzzle, solve},
	{"rooms", make_moves, move_in},
	{"treap", make_nodes, treap},
	{"routes", make_routes, route},
	{NULL, NULL, NULL},
};
