/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/huge.h"
#include "model/model.h"

#define FIRST_SLOTS 1024
#define SELDOM (1u << 30)

struct huge huge;

static uint64_t table_size(uint64_t slots)
{
	return slots * sizeof(struct huge_area);
}

int huge_init(enum huge_answer (*ask)(uint64_t address, int load))
{
	huge.areas = host_alloc(table_size(FIRST_SLOTS));
	if (!huge.areas)
		return -1;
	huge.slots = FIRST_SLOTS;
	huge.used = huge.seen = 0;
	huge.ask = ask;
	return 0;
}

void huge_free(void)
{
	host_free(huge.areas, table_size(huge.slots));
	huge = (struct huge){.areas = 0};
}

void huge_add(struct uncore *u)
{
	u->next = huge.uncores;
	huge.uncores = u;
}

void huge_remove(struct uncore *u)
{
	struct uncore **at = &huge.uncores;

	while (*at && *at != u)
		at = &(*at)->next;
	if (*at)
		*at = u->next;
}

/* ---- the table ---- */

/* The slot of an area, or the free one where it would be. */
static struct huge_area *slot_of(uint64_t area)
{
	uint64_t i = area;

	while (huge.areas[i & (huge.slots - 1)].name &&
		(huge.areas[i & (huge.slots - 1)].name & ~HUGE_MARK) != area + 1)
		i++;
	return &huge.areas[i & (huge.slots - 1)];
}

/* Without memory to grow it stays as it is, and new areas are small. */
static int grow_table(void)
{
	struct huge_area *old = huge.areas, *new;
	uint64_t slots = huge.slots;

	if (huge.used < slots / 2)
		return 1;
	new = host_alloc(table_size(2 * slots));
	if (!new)
		return 0;
	huge.areas = new;
	huge.slots = 2 * slots;
	for (uint64_t i = 0; i < slots; i++)
		if (old[i].name)
			*slot_of((old[i].name & ~HUGE_MARK) - 1) = old[i];
	host_free(old, table_size(slots));
	return 1;
}

static struct huge_area *add_area(uint64_t area)
{
	struct huge_area *a;

	if (!grow_table())
		return 0;
	a = slot_of(area);
	*a = (struct huge_area){area + 1, 1, 1};
	huge.used++;
	return a;
}

/* ---- what changes ---- */

static void tell_cores(void (*what)(struct core *core, uint64_t area), uint64_t area)
{
	for (struct uncore *u = huge.uncores; u; u = u->next)
		for (struct core *core = u->cores; core; core = core->next)
			if (core->area_shift)
				what(core, area);
}

static void become_one(struct huge_area *a, uint64_t area)
{
	a->name = (area + 1) | HUGE_MARK;
	huge.seen++;
	tell_cores(core_drop_small, area);
}

static void become_small(struct huge_area *a, uint64_t area)
{
	a->name = area + 1;
	tell_cores(core_drop_huge, area);
}

/* Returns whether it is one page. */
static int ask_kernel(struct huge_area *a, uint64_t area, uint64_t address, int load)
{
	int was_one = (a->name & HUGE_MARK) != 0;
	enum huge_answer answer = huge.ask(address, load);

	a->left = answer == HUGE_ABSENT ? 1 : a->next;
	if (answer != HUGE_ABSENT && a->next < SELDOM)
		a->next *= 2;
	if (answer == HUGE_ONE && !was_one)
		become_one(a, area);
	else if (answer != HUGE_ONE && was_one)
		become_small(a, area);
	return answer == HUGE_ONE;
}

int huge_ask_again(uint64_t area, uint64_t address, int load)
{
	struct huge_area *a = slot_of(area);
	int at_home = a == &huge.areas[area & (huge.slots - 1)];

	if (a->name & HUGE_MARK)
		return 1;
	if (!a->name) {
		a = add_area(area);
		return a && ask_kernel(a, area, address, load);
	}
	if (!at_home)
		a->left--;
	return a->left == 0 && ask_kernel(a, area, address, load);
}

int huge_is_still(uint64_t area, uint64_t address, int load)
{
	struct huge_area *a = slot_of(area);

	return --a->left || ask_kernel(a, area, address, load);
}

int huge_is_known(uint64_t area)
{
	return huge.seen && (slot_of(area)->name & HUGE_MARK) != 0;
}

static void forget_area(struct huge_area *a)
{
	if (a->name & HUGE_MARK)
		become_small(a, (a->name & ~HUGE_MARK) - 1);
	a->left = a->next = 1;
}

void huge_forget_all(void)
{
	for (uint64_t i = 0; i < huge.slots; i++)
		if (huge.areas[i].name)
			forget_area(&huge.areas[i]);
}

static void forget_within(uint64_t first, uint64_t last)
{
	for (uint64_t i = 0; i < huge.slots; i++) {
		uint64_t area = (huge.areas[i].name & ~HUGE_MARK) - 1;

		if (huge.areas[i].name && area >= first && area <= last)
			forget_area(&huge.areas[i]);
	}
}

void huge_forget(uint64_t address, uint64_t size)
{
	uint64_t first = address >> HUGE_SHIFT;
	uint64_t last = size ? (address + size - 1) >> HUGE_SHIFT : first;

	if (!huge.areas)
		return;
	if (last - first >= huge.used) {
		forget_within(first, last);
		return;
	}
	for (uint64_t area = first; area <= last; area++) {
		struct huge_area *a = slot_of(area);

		if (a->name)
			forget_area(a);
	}
}
