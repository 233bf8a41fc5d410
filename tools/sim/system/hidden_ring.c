/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * io_uring: what is asked of it lies in memory that the program shares with the kernel.
 * Where that is, is known from what io_uring_setup said and from the mappings of it.
 * Rings that the kernel looks at by itself (IORING_SETUP_SQPOLL) are not looked at.
 */
#include "base/syscall.h"
#include "pointers.h"
#include "system/hidden_parts.h"

#include "pub_tool_vki.h"

enum {
	RINGS = 32,
	OFFSET_QUEUE = 0,
	OFFSET_ENTRIES = 0x10000000,
	FIXED = 1, /* in an entry's flags: it is a number of registered files */
	SPLICE = 30,
	TEE = 33,
	WITHOUT_ARRAY = 1 << 16,
	LARGE = 1 << 10
};

/* struct io_uring_params; the headers may be older. */
struct params {
	UInt entries, completions, flags, cpu, idle, features, parent, unused[3];
	UInt head, tail, mask;
};

/* The rings that came last. */
static struct ring {
	Int fd;
	UInt flags, head, tail, mask, array;
	UWord queue, entries;
} rings[RINGS];
static UInt next_ring;

static struct ring *find_ring(UWord fd)
{
	for (UInt i = 0; i < RINGS; i++)
		if (fd && rings[i].fd == (Int)fd)
			return &rings[i];
	return NULL;
}

static void keep_ring(Int fd, const struct params *params)
{
	struct ring *ring = find_ring((UWord)fd);

	if (!ring)
		ring = &rings[next_ring++ % RINGS];
	*ring = (struct ring){.fd = fd,
		.flags = params->flags,
		.head = params->head,
		.tail = params->tail,
		.mask = params->mask,
		/* behind ring_entries, flags and dropped */
		.array = (&params->mask)[4]};
}

void hidden_ring_after(UInt number, const UWord *args, SysRes result)
{
	struct ring *ring;

	if (number == IO_URING_SETUP && can_read(args[1], 120))
		keep_ring((Int)sr_Res(result), (const struct params *)args[1]);
	if (number != __NR_mmap || (args[3] & VKI_MAP_ANONYMOUS) ||
		!(ring = find_ring(args[4])))
		return;
	if (args[5] == OFFSET_QUEUE)
		ring->queue = sr_Res(result);
	else if (args[5] == OFFSET_ENTRIES)
		ring->entries = sr_Res(result);
}

static void hide_in_entry(UChar *entry, struct hidden_call *call)
{
	if (!can_read((UWord)entry, 64))
		return;
	if (!(entry[1] & FIXED))
		hidden_word((Int *)(entry + 4), call);
	if (entry[0] == SPLICE || entry[0] == TEE)
		hidden_word((Int *)(entry + 44), call);
}

void hidden_in_ring(ThreadId tid, struct hidden_call *call)
{
	const struct ring *ring = find_ring(hidden_argument(tid, 0));
	UInt n = (UInt)hidden_argument(tid, 1), head, mask;
	UWord size;

	if (!ring || !ring->entries ||
		!can_read(ring->queue + ring->tail, sizeof(UInt)) ||
		!can_read(ring->queue + ring->mask, sizeof(UInt)))
		return;
	head = *(UInt *)(ring->queue + ring->head);
	mask = *(UInt *)(ring->queue + ring->mask);
	size = ring->flags & LARGE ? 128 : 64;
	for (; n && head != *(UInt *)(ring->queue + ring->tail); n--, head++) {
		UInt at = head & mask;

		if (!(ring->flags & WITHOUT_ARRAY))
			at = ((UInt *)(ring->queue + ring->array))[at] & mask;
		hide_in_entry((UChar *)(ring->entries + at * size), call);
	}
}
