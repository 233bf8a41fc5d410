/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/numa.h"
#include "model/cache.h"

#define FIRST_ROOM 4096
#define NOWHERE 0xff /* it was unmapped */

static uint64_t key_of(uint64_t page)
{
	return (page + 1) << 8;
}

static uint64_t find_slot(const struct numa *n, uint64_t key)
{
	uint64_t i = ((key >> 8) * 0x9e3779b97f4a7c15ull >> 24) & (n->room - 1);

	while (n->slots[i] && n->slots[i] >> 8 != key >> 8)
		i = (i + 1) & (n->room - 1);
	return i;
}

/* 0: no memory */
static int grow_table(struct numa *n)
{
	struct numa old = *n;

	n->room = old.room ? 2 * old.room : FIRST_ROOM;
	n->slots = host_alloc(n->room * sizeof(*n->slots));
	if (!n->slots) {
		*n = old;
		n->lost = 1;
		return 0;
	}
	for (uint64_t i = 0; i < old.room; i++)
		if (old.slots[i])
			n->slots[find_slot(n, old.slots[i])] = old.slots[i];
	numa_free(&old);
	return 1;
}

uint32_t numa_home(struct numa *n, uint64_t page, uint32_t socket)
{
	uint64_t i;

	if (2 * n->used >= n->room && !grow_table(n))
		return socket;
	i = find_slot(n, key_of(page));
	n->used += !n->slots[i];
	if (!n->slots[i] || (n->slots[i] & 0xff) == NOWHERE)
		n->slots[i] = key_of(page) | socket;
	return n->slots[i] & 0xff;
}

static void forget_slot(struct numa *n, uint64_t i)
{
	if (n->slots[i])
		n->slots[i] |= NOWHERE;
}

/* Goes through the pages or through the table, whichever is shorter. */
void numa_forget(struct numa *n, uint64_t page, uint64_t pages)
{
	if (!n->room)
		return;
	for (uint64_t p = page; pages <= n->room && p < page + pages; p++)
		forget_slot(n, find_slot(n, key_of(p)));
	for (uint64_t i = 0; pages > n->room && i < n->room; i++)
		if (n->slots[i] && (n->slots[i] >> 8) - 1 - page < pages)
			forget_slot(n, i);
}

void numa_free(struct numa *n)
{
	if (n->slots)
		host_free(n->slots, n->room * sizeof(*n->slots));
	n->slots = 0;
	n->room = n->used = 0;
}

uint32_t numa_socket_of(const struct sockets *s, uint32_t cores, uint32_t i)
{
	if (s->sockets <= 1)
		return 0;
	return (s->close ? i / (cores / s->sockets) : i) % s->sockets;
}

uint32_t numa_hops(const struct sockets *s, uint32_t from, uint32_t to)
{
	uint32_t apart = from > to ? from - to : to - from;

	if (!s->ring || apart == 0)
		return apart != 0;
	if (apart > s->sockets - apart)
		apart = s->sockets - apart;
	return apart > 1 ? 2 : 1;
}
