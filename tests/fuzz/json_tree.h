/* SPDX-License-Identifier: MIT
 *
 * Mutations of JSON documents as trees: bytes that change anywhere are refused by
 * the parser of JSON, nearly all of them, and the reader behind it sees nothing.
 */
#ifndef CACHEPEEK_TESTS_FUZZ_JSON_TREE_H
#define CACHEPEEK_TESTS_FUZZ_JSON_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* ---- how many runs get beyond the check of the schema ---- */

static struct {
	unsigned long runs, beyond;
} fuzz_depth;

static inline void fuzz_say_depth(void)
{
	fprintf(stderr, "stat::beyond_the_first_check: %lu of %lu\n", fuzz_depth.beyond,
		fuzz_depth.runs);
}

static inline void fuzz_count_run(bool beyond)
{
	if (!fuzz_depth.runs)
		atexit(fuzz_say_depth);
	fuzz_depth.runs++;
	fuzz_depth.beyond += beyond;
}

/* ---- nodes ---- */

/* Objects keep no order but that of their hashes: the same in each run. */
static inline __attribute__((constructor)) void tree_seed(void)
{
	json_object_seed(1);
}

static uint64_t tree_state;

static inline unsigned tree_random(unsigned below)
{
	tree_state = tree_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(tree_state >> 33) % below;
}

struct tree_slot {
	json_t *parent; /* NULL: the root */
	const char *key;
	size_t index;
	json_t *value;
};

/* Counts nodes; the one with the number *wanted is put into slot. */
static inline unsigned tree_walk(json_t *node, unsigned at, unsigned wanted,
	struct tree_slot here, struct tree_slot *slot)
{
	const char *key;
	json_t *value;
	size_t index;

	here.value = node;
	if (at++ == wanted)
		*slot = here;
	json_object_foreach(node, key, value) at = tree_walk(
		value, at, wanted, (struct tree_slot){node, key, 0, NULL}, slot);
	json_array_foreach(node, index, value) at = tree_walk(
		value, at, wanted, (struct tree_slot){node, NULL, index, NULL}, slot);
	return at;
}

static inline struct tree_slot tree_pick(json_t *root)
{
	struct tree_slot slot = {NULL, NULL, 0, root}, none = slot;
	unsigned nodes = tree_walk(root, 0, UINT32_MAX, none, &slot);

	tree_walk(root, 0, tree_random(nodes), none, &slot);
	return slot;
}

/* ---- values ---- */

static inline json_t *tree_string(void)
{
	static const char *const texts[] = {"", "exact", "estimated", "scaled",
		"unavailable", "simulated", "sampled", "/", "a/b", "<script>",
		"\xe2\x80\xae", "\x1b[2J", "%s%n", "[]", "cachepeek-report/1",
		"cachepeek-report/2", "usual", "cachepeek-repeat/1",
		"cachepeek-profile/1", "0", "-1"};
	char text[600];
	size_t length = tree_random(sizeof(text));

	if (tree_random(4))
		return json_string(texts[tree_random(sizeof(texts) / sizeof(texts[0]))]);
	memset(text, 'a' + (int)tree_random(26), length);
	return json_stringn(text, length);
}

static inline json_t *tree_number(void)
{
	static const json_int_t integers[] = {0, 1, -1, 2, 63, 64, 65, 255, 4096,
		INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN, INT64_MAX - 7,
		1ll << 53};
	static const double reals[] = {
		0.0, -0.0, 0.5, -1.5, 1e308, -1e308, 5e-324, 1e19, 1.8e19, 0.1};

	if (tree_random(2))
		return json_real(reals[tree_random(sizeof(reals) / sizeof(reals[0]))]);
	return json_integer(
		integers[tree_random(sizeof(integers) / sizeof(integers[0]))]);
}

static inline json_t *tree_any(void)
{
	switch (tree_random(8)) {
	case 0:
		return json_null();
	case 1:
		return json_boolean(tree_random(2));
	case 2:
		return json_array();
	case 3:
		return json_object();
	case 4:
		return tree_string();
	default:
		return tree_number();
	}
}

/* A value of the same type, mostly: one of another type is not looked at further. */
static inline json_t *tree_like(const json_t *value)
{
	if (json_is_string(value))
		return tree_string();
	if (json_is_integer(value) && tree_random(2))
		return json_integer((json_int_t)((uint64_t)json_integer_value(value) *
							 (1 + tree_random(3)) +
						 tree_random(3) - 1));
	return json_is_number(value) ? tree_number() : tree_any();
}

/* ---- changes ---- */

static inline void tree_set(const struct tree_slot *slot, json_t *value)
{
	if (json_is_object(slot->parent))
		json_object_set_new(slot->parent, slot->key, value);
	else if (json_is_array(slot->parent))
		json_array_set_new(slot->parent, slot->index, value);
	else
		json_decref(value);
}

static inline void tree_remove(const struct tree_slot *slot)
{
	if (json_is_object(slot->parent))
		json_object_del(slot->parent, slot->key);
	else if (json_is_array(slot->parent))
		json_array_remove(slot->parent, slot->index);
}

static inline void tree_repeat(const struct tree_slot *slot)
{
	json_t *copy = json_deep_copy(slot->value);

	if (json_is_array(slot->parent))
		json_array_insert_new(slot->parent, slot->index, copy);
	else
		json_decref(copy);
}

static inline void tree_change(json_t *root)
{
	struct tree_slot slot = tree_pick(root);

	/* Another document altogether is what bytes are changed for. */
	if (slot.parent == root && slot.key && strcmp(slot.key, "schema") == 0 &&
		tree_random(50))
		return;
	switch (tree_random(8)) {
	case 0:
		tree_remove(&slot);
		break;
	case 1:
		tree_repeat(&slot);
		break;
	case 2:
		tree_set(&slot, json_deep_copy(tree_pick(root).value));
		break;
	case 3:
		tree_set(&slot, tree_any());
		break;
	default:
		tree_set(&slot, tree_like(slot.value));
	}
}

static inline size_t tree_write(const json_t *root, uint8_t *data, size_t max_size)
{
	char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
	size_t length = text ? strlen(text) : 0;

	if (length > max_size)
		length = 0;
	if (length)
		memcpy(data, text, length);
	free(text);
	return length;
}

size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	json_t *root = json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);
	size_t length = 0;

	tree_state = seed;
	if (!root || !tree_random(20)) {
		json_decref(root);
		return LLVMFuzzerMutate(data, size, max_size);
	}
	for (unsigned n = 1 + tree_random(4); n > 0; n--)
		tree_change(root);
	length = tree_write(root, data, max_size);
	json_decref(root);
	return length ? length : LLVMFuzzerMutate(data, size, max_size);
}

#endif
