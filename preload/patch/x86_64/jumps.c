/* SPDX-License-Identifier: MIT */
#include "preload/patch/jumps.h"

#include <string.h>

/* A bit for each byte from low on: a patch takes it, and not as its first one. */
struct inside {
	uintptr_t low, size;
	uint8_t *bits;
	struct cp_target *targets;
	size_t count;
};

static uintptr_t end_of(const struct cp_target *target)
{
	return target->plan.at + target->plan.replaced;
}

static bool mark_targets(struct inside *inside, struct cp_store *store)
{
	uintptr_t high = 0;

	inside->low = ~0ul;
	for (size_t i = 0; i < inside->count; i++) {
		const struct cp_target *t = &inside->targets[i];

		inside->low = t->plan.at < inside->low ? t->plan.at : inside->low;
		high = end_of(t) > high ? end_of(t) : high;
	}
	if (!inside->count)
		return false;
	inside->size = high - inside->low;
	inside->bits = cp_store_take(store, inside->size / 8 + 1);
	if (!inside->bits)
		return false;
	for (size_t i = 0; i < inside->count; i++)
		for (uintptr_t at = inside->targets[i].plan.at + 1;
			at < end_of(&inside->targets[i]); at++)
			inside->bits[(at - inside->low) / 8] |=
				(uint8_t)(1u << (at - inside->low) % 8);
	return true;
}

static void note_jump(const struct inside *inside, uintptr_t to)
{
	for (size_t i = 0; i < inside->count; i++)
		if (to > inside->targets[i].plan.at && to < end_of(&inside->targets[i]))
			inside->targets[i].jumped_into = true;
}

static inline void look_at(const struct inside *inside, uintptr_t to)
{
	uintptr_t offset = to - inside->low;

	if (offset < inside->size && inside->bits[offset / 8] & 1u << offset % 8)
		note_jump(inside, to);
}

/* Does it end in a distance of four bytes, as call, jmp, branches, lea and xbegin do? */
static inline bool may_end_in_distance(const uint8_t *at)
{
	return at[-1] == 0xe8 || at[-1] == 0xe9 ||
	       (at[-2] == 0x0f && (at[-1] & 0xf0) == 0x80) ||
	       (at[-2] == 0x8d && (at[-1] & 0xc7) == 0x05) ||
	       (at[-2] == 0xc7 && at[-1] == 0xf8);
}

/* Or an address, in a program at a fixed place: mov, push. */
static inline bool may_end_in_address(const uint8_t *at)
{
	return (at[-1] & 0xf8) == 0xb8 || at[-1] == 0x68;
}

static void scan_code(const struct inside *inside, uintptr_t low, uintptr_t end)
{
	bool short_addresses = inside->low + inside->size <= UINT32_MAX;

	for (uintptr_t at = low + 2; at + 4 <= end; at++) {
		uint32_t word;

		memcpy(&word, (const void *)at, sizeof(word));
		if (may_end_in_distance((const uint8_t *)at))
			look_at(inside, at + 4 + (uintptr_t)(intptr_t)(int32_t)word);
		if (short_addresses && may_end_in_address((const uint8_t *)at))
			look_at(inside, word);
	}
}

/* Addresses, and what will be some: of a library that has just come the relocations have
 * them. */
static void scan_data(
	const struct inside *inside, uintptr_t low, uintptr_t end, uintptr_t bias)
{
	uintptr_t before = 0, value;

	for (uintptr_t at = (low + 7) & ~7ul; at + 8 <= end; at += 8, before = value) {
		memcpy(&value, (const void *)at, sizeof(value));
		look_at(inside, value);
		if (before == R_X86_64_RELATIVE)
			look_at(inside, value + bias);
	}
}

void cp_find_jumps(const struct dl_phdr_info *info, struct cp_target *targets,
	size_t count, struct cp_store *store)
{
	struct inside inside = {.targets = targets, .count = count};

	if (!mark_targets(&inside, store)) {
		for (size_t i = 0; i < count; i++)
			targets[i].jumped_into = true;
		return;
	}
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *s = &info->dlpi_phdr[i];
		uintptr_t low = info->dlpi_addr + s->p_vaddr;

		if (s->p_type != PT_LOAD || !(s->p_flags & PF_R))
			continue;
		if (s->p_flags & PF_X)
			scan_code(&inside, low, low + s->p_filesz);
		else
			scan_data(&inside, low, low + s->p_filesz, info->dlpi_addr);
	}
}
