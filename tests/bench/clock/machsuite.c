/* SPDX-License-Identifier: MIT
 *
 * The first of the kernels of MachSuite that are not here already, by their names there.
 */
#include <string.h>

#include "clock.h"

/* ---- aes: blocks of 16 bytes are made unreadable with a key of 256 bits, byte by byte,
 * or by words of tables that have three of the four steps of a round in one ---- */

enum { AES_BLOCKS = 260000, AES_ROUNDS = 14, KEY_WORDS = 8, BLOCK_BYTES = 16 };

static uint8_t substitute[256], *plain, *secret;
static uint8_t round_key[(AES_ROUNDS + 1) * BLOCK_BYTES];
static uint32_t round_word[(AES_ROUNDS + 1) * 4], aes_table[4][256];

/* Times x, of polynomials of bits. */
static inline uint8_t twice(uint8_t a)
{
	return (uint8_t)(a << 1 ^ (a >> 7) * 0x1b);
}

static uint8_t times(uint8_t a, uint8_t b)
{
	uint8_t product = 0;

	for (; b; b >>= 1, a = twice(a))
		if (b & 1)
			product ^= a;
	return product;
}

static uint8_t inverse(uint8_t a)
{
	uint8_t power = 1;

	for (int i = 0; i < 254; i++)
		power = times(power, a);
	return a ? power : 0;
}

static void make_substitutes(void)
{
	for (int i = 0; i < 256; i++) {
		unsigned one = inverse((uint8_t)i), turned = one | one << 8;

		substitute[i] = (uint8_t)(one ^ turned >> 4 ^ turned >> 5 ^ turned >> 6 ^
					  turned >> 7 ^ 0x63);
	}
}

static void make_round_keys(const uint8_t *key)
{
	uint8_t factor = 1, word[4];

	memcpy(round_key, key, (size_t)4 * KEY_WORDS);
	for (size_t i = KEY_WORDS; i < (AES_ROUNDS + 1) * 4; i++) {
		const uint8_t *last = round_key + 4 * (i - 1);
		size_t turn = i % KEY_WORDS == 0;

		for (size_t b = 0; b < 4; b++) {
			word[b] = last[(b + turn) % 4];
			if (i % 4 == 0)
				word[b] = substitute[word[b]];
		}
		if (turn) {
			word[0] ^= factor;
			factor = twice(factor);
		}
		for (size_t b = 0; b < 4; b++)
			round_key[4 * i + b] =
				round_key[4 * (i - KEY_WORDS) + b] ^ word[b];
	}
	memcpy(round_word, round_key, sizeof(round_word));
}

/* The sum that a byte in each of the four rows adds to in its column. */
static void make_tables(void)
{
	for (int i = 0; i < 256; i++) {
		uint32_t one = substitute[i], two = twice(substitute[i]);
		uint32_t column = two | one << 8 | one << 16 | (one ^ two) << 24;

		for (int row = 0; row < 4; row++) {
			aes_table[row][i] = column;
			column = column << 8 | column >> 24;
		}
	}
}

static void make_aes(void)
{
	uint8_t key[4 * KEY_WORDS];

	for (int i = 0; i < 4 * KEY_WORDS; i++)
		key[i] = (uint8_t)i;
	make_substitutes();
	make_round_keys(key);
	make_tables();
	plain = make_room((size_t)BLOCK_BYTES * AES_BLOCKS);
	secret = make_room((size_t)BLOCK_BYTES * AES_BLOCKS);
	for (size_t i = 0; i < (size_t)BLOCK_BYTES * AES_BLOCKS; i++)
		plain[i] = (uint8_t)next_number();
}

static void substitute_and_turn(uint8_t *state)
{
	uint8_t old[BLOCK_BYTES];

	memcpy(old, state, BLOCK_BYTES);
	for (int column = 0; column < 4; column++)
		for (int row = 0; row < 4; row++)
			state[4 * column + row] =
				substitute[old[(4 * column + 5 * row) % BLOCK_BYTES]];
}

static void mix_columns(uint8_t *state)
{
	for (uint8_t *s = state; s < state + BLOCK_BYTES; s += 4) {
		uint8_t all = s[0] ^ s[1] ^ s[2] ^ s[3], first = s[0];

		for (int row = 0; row < 3; row++)
			s[row] ^= all ^ twice(s[row] ^ s[row + 1]);
		s[3] ^= all ^ twice(s[3] ^ first);
	}
}

static void add_key(uint8_t *state, int round)
{
	for (int i = 0; i < BLOCK_BYTES; i++)
		state[i] ^= round_key[round * BLOCK_BYTES + i];
}

static void encrypt_bytes(const uint8_t *from, uint8_t *to)
{
	memcpy(to, from, BLOCK_BYTES);
	add_key(to, 0);
	for (int round = 1; round < AES_ROUNDS; round++) {
		substitute_and_turn(to);
		mix_columns(to);
		add_key(to, round);
	}
	substitute_and_turn(to);
	add_key(to, AES_ROUNDS);
}

static inline uint32_t mixed(const uint32_t *state, int column)
{
	return aes_table[0][state[column] & 255] ^
	       aes_table[1][state[(column + 1) % 4] >> 8 & 255] ^
	       aes_table[2][state[(column + 2) % 4] >> 16 & 255] ^
	       aes_table[3][state[(column + 3) % 4] >> 24];
}

static inline uint32_t unmixed(const uint32_t *state, int column)
{
	return substitute[state[column] & 255] |
	       (uint32_t)substitute[state[(column + 1) % 4] >> 8 & 255] << 8 |
	       (uint32_t)substitute[state[(column + 2) % 4] >> 16 & 255] << 16 |
	       (uint32_t)substitute[state[(column + 3) % 4] >> 24] << 24;
}

static void encrypt_words(const uint8_t *from, uint8_t *to)
{
	uint32_t state[4], next[4];

	memcpy(state, from, BLOCK_BYTES);
	for (int column = 0; column < 4; column++)
		state[column] ^= round_word[column];
	for (int round = 1; round < AES_ROUNDS; round++) {
		for (int column = 0; column < 4; column++)
			next[column] =
				mixed(state, column) ^ round_word[4 * round + column];
		memcpy(state, next, BLOCK_BYTES);
	}
	for (int column = 0; column < 4; column++)
		next[column] =
			unmixed(state, column) ^ round_word[4 * AES_ROUNDS + column];
	memcpy(to, next, BLOCK_BYTES);
}

static uint64_t aes(void (*encrypt)(const uint8_t *from, uint8_t *to))
{
	uint64_t sum = 0;

	for (size_t i = 0; i < AES_BLOCKS; i++) {
		encrypt(plain + i * BLOCK_BYTES, secret + i * BLOCK_BYTES);
		sum = sum * 31 + secret[i * BLOCK_BYTES];
	}
	return sum;
}

static uint64_t aes_bytes(void)
{
	return aes(encrypt_bytes);
}

static uint64_t aes_words(void)
{
	return aes(encrypt_words);
}

/* ---- kmp: where a text has a pattern, by how much of the pattern can still be right
 * when a letter is not (Knuth, Morris, Pratt) ---- */

enum { TEXT_BYTES = 11000000, LETTERS = 4 };

static const char pattern[] = "abacabab";
static unsigned still_right[sizeof(pattern)];
static char *text;

static void make_text(void)
{
	const size_t length = sizeof(pattern) - 1;
	unsigned k = 0;

	text = make_room(TEXT_BYTES);
	for (size_t i = 0; i < TEXT_BYTES; i++)
		text[i] = (char)('a' + (next_number() >> 20) % LETTERS);
	for (size_t i = 1; i < length; i++) {
		while (k > 0 && pattern[k] != pattern[i])
			k = still_right[k - 1];
		k += pattern[k] == pattern[i];
		still_right[i] = k;
	}
}

static uint64_t kmp(void)
{
	const unsigned length = sizeof(pattern) - 1;
	uint64_t sum = 0;
	unsigned k = 0;

	for (size_t i = 0; i < TEXT_BYTES; i++) {
		while (k > 0 && pattern[k] != text[i])
			k = still_right[k - 1];
		k += pattern[k] == text[i];
		if (k == length) {
			sum += i;
			k = still_right[k - 1];
		}
	}
	return sum;
}

/* ---- md: forces between each atom and its nearest ones, of which it has a list; atoms
 * are stored as it came, or those of a cell side by side ---- */

enum { CELLS = 34, PER_CELL = 3, MD_ATOMS = CELLS * CELLS * CELLS * PER_CELL };
enum { NEAREST = 16, MD_TIMES = 6, AROUND = 27 * PER_CELL };

static double *at_x, *at_y, *at_z, *force_x, *force_y, *force_z;
static uint32_t *nearest, *atom_of; /* by cell and place in it */

static void put_atoms(void)
{
	for (uint32_t place = 0; place < MD_ATOMS; place++) {
		uint32_t cell = place / PER_CELL, atom = atom_of[place];

		at_x[atom] = cell % CELLS + (double)(next_number() % 1024) / 1024;
		at_y[atom] = cell / CELLS % CELLS + (double)(next_number() % 1024) / 1024;
		at_z[atom] = cell / CELLS / CELLS + (double)(next_number() % 1024) / 1024;
	}
}

static double square_between(uint32_t one, uint32_t other)
{
	double x = at_x[one] - at_x[other], y = at_y[one] - at_y[other];
	double z = at_z[one] - at_z[other];

	return x * x + y * y + z * z;
}

/* Lists those of a cell and of the cells around it, which at the sides are not all there.
 */
static size_t list_around(uint32_t cell, uint32_t *list)
{
	int x = (int)cell % CELLS, y = (int)cell / CELLS % CELLS;
	int z = (int)cell / CELLS / CELLS;
	size_t n = 0;

	for (int k = z - 1; k <= z + 1; k++)
		for (int j = y - 1; j <= y + 1; j++)
			for (int i = x - 1; i <= x + 1; i++) {
				if (i < 0 || j < 0 || k < 0 || i == CELLS || j == CELLS ||
					k == CELLS)
					continue;
				for (int p = 0; p < PER_CELL; p++)
					list[n++] =
						atom_of[((k * CELLS + j) * CELLS + i) *
								PER_CELL +
							p];
			}
	return n;
}

static void keep_nearest(uint32_t atom, const uint32_t *list, size_t n)
{
	uint32_t *kept = nearest + (size_t)atom * NEAREST;
	double square[NEAREST + 1];
	size_t have = 0;

	for (size_t i = 0; i < n; i++) {
		double here = square_between(atom, list[i]);
		size_t to = have;

		if (list[i] == atom || (have == NEAREST && here >= square[have - 1]))
			continue;
		if (have == NEAREST)
			to--;
		else
			have++;
		for (; to > 0 && square[to - 1] > here; to--) {
			square[to] = square[to - 1];
			kept[to] = kept[to - 1];
		}
		square[to] = here;
		kept[to] = list[i];
	}
}

static void make_md(void)
{
	double **room[] = {&at_x, &at_y, &at_z, &force_x, &force_y, &force_z};
	uint32_t list[AROUND];

	for (size_t i = 0; i < sizeof(room) / sizeof(room[0]); i++)
		*room[i] = make_room(sizeof(double) * MD_ATOMS);
	nearest = make_room(sizeof(*nearest) * MD_ATOMS * NEAREST);
	put_atoms();
	for (uint32_t cell = 0; cell < MD_ATOMS / PER_CELL; cell++) {
		size_t n = list_around(cell, list);

		for (uint32_t p = 0; p < PER_CELL; p++)
			keep_nearest(atom_of[cell * PER_CELL + p], list, n);
	}
}

static void make_md_by_chance(void)
{
	atom_of = make_room(sizeof(*atom_of) * MD_ATOMS);
	shuffle(atom_of, MD_ATOMS);
	make_md();
}

/* The same atoms at the same places. */
static void make_md_by_cell(void)
{
	atom_of = make_room(sizeof(*atom_of) * MD_ATOMS);
	shuffle(atom_of, MD_ATOMS);
	for (uint32_t i = 0; i < MD_ATOMS; i++)
		atom_of[i] = i;
	make_md();
}

/* Lennard-Jones, of atoms that are never quite at the same place. */
static void add_forces(size_t atom)
{
	const uint32_t *list = nearest + atom * NEAREST;
	double sum_x = 0, sum_y = 0, sum_z = 0;

	for (int i = 0; i < NEAREST; i++) {
		double x = at_x[atom] - at_x[list[i]], y = at_y[atom] - at_y[list[i]];
		double z = at_z[atom] - at_z[list[i]];
		double by = 1 / (x * x + y * y + z * z + 0.1), sixth = by * by * by;
		double force = by * sixth * (1.5 * sixth - 2);

		sum_x += x * force;
		sum_y += y * force;
		sum_z += z * force;
	}
	force_x[atom] = sum_x;
	force_y[atom] = sum_y;
	force_z[atom] = sum_z;
}

static uint64_t md(void)
{
	double sum = 0;

	for (int time = 0; time < MD_TIMES; time++)
		for (size_t atom = 0; atom < MD_ATOMS; atom++)
			add_forces(atom);
	for (size_t atom = 0; atom < MD_ATOMS; atom++)
		sum += force_x[atom] * force_x[atom] + force_y[atom] * force_z[atom];
	return (uint64_t)(1e-3 * sum);
}

const struct kernel machsuite_kernels[] = {
	{"aes-bytes", make_aes, aes_bytes},
	{"aes-words", make_aes, aes_words},
	{"kmp", make_text, kmp},
	{"md-by-chance", make_md_by_chance, md},
	{"md-by-cell", make_md_by_cell, md},
	{NULL, NULL, NULL},
};
