/* SPDX-License-Identifier: MIT
 *
 * Heaps, runs that are merged, sets, lists with shortcuts, caches of keys, programs of
 * bytes, and text that repeats.
 */
#include <stdbool.h>
#include <string.h>

#include "clock.h"

/* ---- sorting ---- */

enum { NUMBERS = 150000 };

static uint32_t *numbers, *work, *spare;

static void make_numbers(void)
{
	numbers = make_room(sizeof(*numbers) * NUMBERS);
	work = make_room(sizeof(*work) * NUMBERS);
	spare = make_room(sizeof(*spare) * NUMBERS);
	for (size_t i = 0; i < NUMBERS; i++)
		numbers[i] = (uint32_t)next_number();
}

static void merge(
	const uint32_t *from, size_t first, size_t middle, size_t end, uint32_t *to)
{
	size_t left = first, right = middle;

	for (size_t i = first; i < end; i++)
		to[i] = right >= end || (left < middle && from[left] <= from[right])
				? from[left++]
				: from[right++];
}

static size_t smaller(size_t one, size_t other)
{
	return one < other ? one : other;
}

static uint64_t sort_merge(void)
{
	uint32_t *from = work, *to = spare;

	memcpy(work, numbers, sizeof(*work) * NUMBERS);
	for (size_t run = 1; run < NUMBERS; run *= 2) {
		uint32_t *kept = from;

		for (size_t first = 0; first < NUMBERS; first += 2 * run)
			merge(from, first, smaller(first + run, NUMBERS),
				smaller(first + 2 * run, NUMBERS), to);
		from = to;
		to = kept;
	}
	return from[7];
}

static void sift(size_t at, size_t n)
{
	uint32_t value = work[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= n)
			break;
		if (child + 1 < n && work[child + 1] > work[child])
			child++;
		if (work[child] <= value)
			break;
		work[at] = work[child];
		at = child;
	}
	work[at] = value;
}

static uint64_t sort_heap(void)
{
	memcpy(work, numbers, sizeof(*work) * NUMBERS);
	for (size_t i = NUMBERS / 2; i-- > 0;)
		sift(i, NUMBERS);
	for (size_t n = NUMBERS - 1; n > 0; n--) {
		uint32_t most = work[0];

		work[0] = work[n];
		work[n] = most;
		sift(0, n);
	}
	return work[7];
}

/* ---- sets that are united ---- */

enum { MEMBERS = 1 << 20, UNIONS = 400000 };

static uint32_t *parent, *pairs;

static void make_unions(uint32_t reach)
{
	parent = make_room(sizeof(*parent) * MEMBERS);
	pairs = make_room(sizeof(*pairs) * 2 * UNIONS);
	for (size_t i = 0; i < UNIONS; i++) {
		pairs[2 * i] = reach == MEMBERS ? (uint32_t)(next_number() % MEMBERS)
						: (uint32_t)(2 * i);
		pairs[2 * i + 1] =
			(uint32_t)((pairs[2 * i] + next_number() % reach) % MEMBERS);
	}
}

static void make_wild_unions(void)
{
	make_unions(MEMBERS);
}

static void make_near_unions(void)
{
	make_unions(64);
}

static uint32_t find_set(uint32_t member)
{
	while (parent[member] != member) {
		parent[member] = parent[parent[member]];
		member = parent[member];
	}
	return member;
}

static uint64_t unite(void)
{
	uint64_t sets = MEMBERS;

	for (uint32_t i = 0; i < MEMBERS; i++)
		parent[i] = i;
	for (size_t i = 0; i < UNIONS; i++) {
		uint32_t one = find_set(pairs[2 * i]), other = find_set(pairs[2 * i + 1]);

		if (one != other) {
			parent[one > other ? one : other] = one > other ? other : one;
			sets--;
		}
	}
	return sets;
}

/* ---- a list with shortcuts ---- */

enum { ENTRIES = 60000, LEVELS = 16, LOOKUPS = 30000 };

struct entry {
	uint32_t key, height;
	struct entry *next[];
};

static struct entry *head;
static uint32_t *wanted;

static struct entry *make_entry(char **room, uint32_t key, uint32_t height)
{
	struct entry *entry = (struct entry *)(void *)*room;

	*room += sizeof(*entry) + height * sizeof(entry->next[0]);
	entry->key = key;
	entry->height = height;
	return entry;
}

static void insert_entry(char **room, uint32_t key)
{
	struct entry *at = head, *entry;
	uint32_t height = 1;

	while (height < LEVELS && next_number() % 4 == 0)
		height++;
	entry = make_entry(room, key, height);
	for (int level = LEVELS - 1; level >= 0; level--) {
		while (at->next[level] && at->next[level]->key < key)
			at = at->next[level];
		if (level < (int)height) {
			entry->next[level] = at->next[level];
			at->next[level] = entry;
		}
	}
}

static void make_skip_list(void)
{
	char *room = make_room(
		(ENTRIES + 1) * (sizeof(struct entry) + LEVELS * sizeof(struct entry *)));

	head = make_entry(&room, 0, LEVELS);
	wanted = make_room(sizeof(*wanted) * LOOKUPS);
	for (size_t i = 0; i < ENTRIES; i++)
		insert_entry(&room, (uint32_t)(next_number() >> 32));
	for (size_t i = 0; i < LOOKUPS; i++)
		wanted[i] = (uint32_t)(next_number() >> 32);
}

static uint64_t skip_list(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < LOOKUPS; i++) {
		const struct entry *at = head;

		for (int level = LEVELS - 1; level >= 0; level--)
			while (at->next[level] && at->next[level]->key < wanted[i])
				at = at->next[level];
		sum += at->key;
	}
	return sum;
}

/* ---- what was used last is kept ---- */

enum { KEPT = 1 << 15, BUCKETS = 1 << 15, REQUESTS = 200000 };

static struct kept {
	struct kept *before, *after, *same_bucket;
	uint64_t key;
} * kept, ring;
static struct kept **buckets;
static uint32_t *requests;

/* Most of the requests are for few of the keys. */
static void make_requests(void)
{
	kept = make_room(sizeof(*kept) * KEPT);
	buckets = make_room(sizeof(struct kept *) * BUCKETS);
	requests = make_room(sizeof(*requests) * REQUESTS);
	for (size_t i = 0; i < REQUESTS; i++)
		requests[i] =
			(uint32_t)(next_number() % (next_number() % (4 * KEPT) + 1));
}

static struct kept **bucket_of(uint64_t key)
{
	return &buckets[(key * 0x9e3779b97f4a7c15u) >> 49];
}

static void unlink_kept(struct kept *it)
{
	it->before->after = it->after;
	it->after->before = it->before;
}

static void put_first(struct kept *it)
{
	it->before = &ring;
	it->after = ring.after;
	ring.after->before = it;
	ring.after = it;
}

static void reuse(struct kept *it, uint64_t key)
{
	struct kept **at = bucket_of(it->key);

	while (*at && *at != it)
		at = &(*at)->same_bucket;
	if (*at)
		*at = it->same_bucket;
	it->key = key;
	at = bucket_of(key);
	it->same_bucket = *at;
	*at = it;
}

static uint64_t least_recently_used(void)
{
	uint64_t hits = 0;

	memset(buckets, 0, sizeof(struct kept *) * BUCKETS);
	ring.before = ring.after = &ring;
	for (size_t i = 0; i < KEPT; i++) {
		kept[i].key = 0;
		put_first(&kept[i]);
	}
	for (size_t i = 0; i < REQUESTS; i++) {
		uint64_t key = requests[i] + 1;
		struct kept *it = *bucket_of(key);

		while (it && it->key != key)
			it = it->same_bucket;
		if (it) {
			hits++;
		} else {
			it = ring.before;
			reuse(it, key);
		}
		unlink_kept(it);
		put_first(it);
	}
	return hits;
}

/* ---- numbers that nothing divides ---- */

enum { MOST = 4000000 };

static unsigned char *divided;

static void make_sieve(void)
{
	divided = make_room(MOST);
}

static uint64_t sieve(void)
{
	uint64_t count = 0;

	memset(divided, 0, MOST);
	for (size_t i = 2; i < MOST; i++) {
		if (divided[i])
			continue;
		count++;
		for (size_t j = i * i; j < MOST; j += i)
			divided[j] = 1;
	}
	return count;
}

/* ---- a program of bytes ---- */

enum { PUSH, ADD, MULTIPLY, XOR, SWAP, COPY, DROP, SHIFT, CODES, CODE = 4096 };

static unsigned char *code;

/* The stack has two numbers at least and eight at most. */
static void make_code(void)
{
	int depth = 2;

	code = make_room(CODE);
	for (size_t i = 0; i < CODE; i++) {
		do
			code[i] = (unsigned char)(next_number() % CODES);
		while ((depth >= 8 && (code[i] == PUSH || code[i] == COPY)) ||
			(depth <= 2 && (code[i] == ADD || code[i] == MULTIPLY ||
					       code[i] == XOR || code[i] == DROP)));
		depth += code[i] == PUSH || code[i] == COPY;
		depth -= code[i] == ADD || code[i] == MULTIPLY || code[i] == XOR ||
			 code[i] == DROP;
	}
}

static uint64_t run_code(uint64_t start)
{
	uint64_t stack[16] = {start, 1}, *top = &stack[1], other;

	for (size_t i = 0; i < CODE; i++)
		switch (code[i]) {
		case PUSH:
			*++top = i;
			break;
		case ADD:
			top--;
			*top += top[1];
			break;
		case MULTIPLY:
			top--;
			*top *= top[1];
			break;
		case XOR:
			top--;
			*top ^= top[1];
			break;
		case SWAP:
			other = top[0];
			top[0] = top[-1];
			top[-1] = other;
			break;
		case COPY:
			top++;
			*top = top[-1];
			break;
		case DROP:
			top--;
			break;
		default:
			*top >>= 3;
		}
	return *top;
}

static uint64_t interpreter(void)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 200; i++)
		sum += run_code(i);
	return sum;
}

/* ---- repeats in a text, by a table of what was where ---- */

enum { TEXT = 1 << 19, LAST = 1 << 14 };

static unsigned char *text;
static uint32_t *last;

static void make_repeats(void)
{
	text = make_room(TEXT + 64);
	last = make_room(sizeof(*last) * LAST);
	for (size_t i = 0; i < TEXT;) {
		size_t length = next_number() % 24 + 4, from = 0;
		bool repeat = i > 4096 && next_number() % 2;

		if (repeat)
			from = next_number() % (i - 32);
		for (size_t k = 0; k < length && i < TEXT; k++, i++)
			text[i] = repeat ? text[from + k]
					 : (unsigned char)('a' + next_number() % 16);
	}
}

static uint32_t four_bytes(size_t at)
{
	uint32_t word;

	memcpy(&word, text + at, sizeof(word));
	return word;
}

static uint64_t repeats(void)
{
	uint64_t matched = 0;

	memset(last, 0, sizeof(*last) * LAST);
	for (size_t i = 1; i < TEXT;) {
		uint32_t word = four_bytes(i), slot = word * 2654435761u >> 18;
		size_t before = last[slot], length = 0;

		last[slot] = (uint32_t)i;
		if (before && four_bytes(before) == word)
			while (i + length < TEXT &&
				text[before + length] == text[i + length])
				length++;
		matched += length;
		i += length ? length : 1;
	}
	return matched;
}

const struct kernel structure_kernels[] = {
	{"sort-merge", make_numbers, sort_merge},
	{"sort-heap", make_numbers, sort_heap},
	{"unite-wild", make_wild_unions, unite},
	{"unite-near", make_near_unions, unite},
	{"skip-list", make_skip_list, skip_list},
	{"least-recently-used", make_requests, least_recently_used},
	{"sieve", make_sieve, sieve},
	{"interpreter", make_code, interpreter},
	{"repeats", make_repeats, repeats},
	{NULL, NULL, NULL},
};
