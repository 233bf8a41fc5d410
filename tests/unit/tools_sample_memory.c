/* SPDX-License-Identifier: MIT
 *
 * Blocks of the heap by time: whose is an address that two threads' blocks have, one
 * after the other, while both are asked for?
 */
#include "tests/tap/tap.h"
#include "tools/profile/samples/memory.h"

#define PAGE 4096
#define AT 0x10010 /* behind malloc's own words */

enum { NOBODY = 1, FIRST, SECOND };

static struct cp_samples_block block(
	uint64_t address, uint64_t pages, int32_t tid, uint64_t start, uint64_t there)
{
	return (struct cp_samples_block){.address = address,
		.size = pages * PAGE,
		.tid = tid,
		.start = start,
		.there = there};
}

/* The second thread asks for a block, and waits.  The first one asks for one, touches
 * malloc's words, has it from 30 to 40; then the second one gets the same place. */
static void test_same_place(struct cp_arena *arena)
{
	struct cp_memory memory = {.arena = arena};
	struct cp_samples_block first = block(AT, 2, FIRST, 20, 30),
				second = block(AT, 1, SECOND, 10, 60);

	first.end = 40;
	cp_memory_ask_block(&memory, &second);
	cp_memory_ask_block(&memory, &first);
	ok(cp_memory_block(&memory, AT - 8, FIRST, 25) == &first,
		"malloc's words of the first");
	ok(cp_memory_block(&memory, AT, NOBODY, 25) == NULL, "nobody else has it yet");
	cp_memory_add_block(&memory, &first);
	ok(cp_memory_block(&memory, AT + PAGE, FIRST, 30) == &first, "it is there");
	ok(cp_memory_block(&memory, AT, NOBODY, 39) == &first, "for others, too");
	ok(cp_memory_block(&memory, AT, NOBODY, 40) == NULL, "then it has gone");
	ok(cp_memory_block(&memory, AT - 16, SECOND, 50) == &second,
		"malloc's words of the second");
	cp_memory_add_block(&memory, &second);
	ok(cp_memory_block(&memory, AT, FIRST, 60) == &second, "which is there");
	ok(cp_memory_block(&memory, AT + PAGE, FIRST, 60) == NULL, "and no larger");
	is_u64(memory.nasked, 0, "nothing is asked for any more");
}

static void test_many(struct cp_arena *arena)
{
	enum { N = 100 };
	static struct cp_samples_block blocks[N], all;
	struct cp_memory memory = {.arena = arena};
	unsigned found = 0;

	for (unsigned i = 0; i < N; i++) {
		/* In an order that is neither up nor down. */
		unsigned k = i * 37 % N;

		blocks[k] = block(AT + (uint64_t)k * 2 * PAGE, 1, FIRST, i, i);
		cp_memory_add_block(&memory, &blocks[k]);
	}
	for (unsigned i = 0; i < N; i++)
		found += cp_memory_block(&memory, blocks[i].address + PAGE - 1, NOBODY,
				 N) == &blocks[i];
	is_u64(found, N, "each is found");
	ok(cp_memory_block(&memory, AT + PAGE, NOBODY, N) == NULL,
		"what is between is not");
	ok(cp_memory_block(&memory, AT + 2 * PAGE - 16, NOBODY, N) == &blocks[1],
		"16 bytes in front are of the block");
	ok(cp_memory_block(&memory, AT + 2 * PAGE - 17, NOBODY, N) == NULL, "17 are not");

	/* One that begins inside the tenth, and ends inside the twentieth. */
	all = block(blocks[10].address + 64, 20, SECOND, N, N);
	cp_memory_add_block(&memory, &all);
	is_u64(memory.nblocks, N - 11 + 1, "a later one takes the place of eleven");
	ok(cp_memory_block(&memory, blocks[10].address, NOBODY, N) == NULL,
		"the first of which has gone");
	ok(cp_memory_block(&memory, blocks[20].address, NOBODY, N) == &all,
		"as the last has");
	ok(cp_memory_block(&memory, blocks[9].address, NOBODY, N) == &blocks[9] &&
			cp_memory_block(&memory, blocks[21].address, NOBODY, N) ==
				&blocks[21],
		"those beside it have not");
}

/* The last bytes of a block may be where the next one's words are. */
static void test_words_in_a_block(struct cp_arena *arena)
{
	struct cp_memory memory = {.arena = arena};
	struct cp_samples_block low = block(AT, 1, FIRST, 0, 0),
				high = block(AT + PAGE + 8, 1, FIRST, 0, 0);

	cp_memory_add_block(&memory, &high);
	cp_memory_add_block(&memory, &low);
	ok(cp_memory_block(&memory, AT + PAGE - 1, FIRST, 0) == &low, "inside the lower");
	ok(cp_memory_block(&memory, AT + PAGE, FIRST, 0) == &high,
		"in front of the higher");
	low.end = 5;
	ok(cp_memory_block(&memory, AT + PAGE - 1, FIRST, 5) == &high,
		"so are these, once the lower has gone");
}

int main(void)
{
	struct cp_arena arena = {.give_up = tap_no_memory};

	plan(20);
	test_same_place(&arena);
	test_many(&arena);
	test_words_in_a_block(&arena);
	cp_arena_free(&arena);
	return 0;
}
