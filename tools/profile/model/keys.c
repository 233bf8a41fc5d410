/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/keys.h"

#include "base/probe.h"

/* Open addressing; number 0: free. */
struct cp_keys {
	struct cp_arena *arena;
	struct key {
		size_t a, b, number;
	} * slot;
	size_t n, room;
};

struct cp_keys *cp_keys_new(struct cp_arena *arena)
{
	struct cp_keys *keys = cp_arena_alloc(arena, sizeof(*keys));

	keys->arena = arena;
	return keys;
}

static struct key *find_key(const struct cp_keys *keys, size_t a, size_t b)
{
	struct key *slot = keys->slot;

	return &slot[CP_PROBE(keys->room, cp_hash_word(a ^ b * 0xff51afd7ed558ccdu) >> 24,
		i, !slot[i].number || (slot[i].a == a && slot[i].b == b))];
}

static void make_room(struct cp_keys *keys)
{
	struct cp_keys old = *keys;

	if (2 * keys->n < keys->room)
		return;
	keys->room = old.room ? 2 * old.room : 256;
	keys->slot = cp_arena_alloc(keys->arena, keys->room * sizeof(*keys->slot));
	for (size_t i = 0; i < old.room; i++)
		if (old.slot[i].number)
			*find_key(keys, old.slot[i].a, old.slot[i].b) = old.slot[i];
}

size_t *cp_keys_number(struct cp_keys *keys, size_t a, size_t b)
{
	struct key *key;

	make_room(keys);
	key = find_key(keys, a, b);
	if (!key->number) {
		key->a = a;
		key->b = b;
		keys->n++;
	}
	return &key->number;
}
