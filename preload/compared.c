/* SPDX-License-Identifier: MIT */
#include "preload/compared.h"

#include <string.h>

#include "base/text.h"
#include "base/engine/simclient.h"
#include "base/env.h"
#include "preload/planned.h"
#include "preload/runtime.h"

static bool copy_name(char *to, size_t size, const char *name, size_t length)
{
	if (length == 0 || length >= size)
		return false;
	memcpy(to, name, length);
	to[length] = '\0';
	return true;
}

bool cp_compared_first(char *name, size_t size)
{
	const char *list = cp_env_get(CP_COMPARED), *piece;
	size_t length;

	return list && (piece = cp_next_piece(&list, ',', &length)) &&
	       copy_name(name, size, piece, length);
}

unsigned cp_compared_find(
	struct cp_machine machines[CP_MAX_MACHINES], void (*complain)(const char *line))
{
	const char *list = cp_env_get(CP_COMPARED), *piece;
	char name[CP_COMPARED_SIZE], error[256];
	unsigned count = 1;
	size_t length;

	if (list)
		cp_next_piece(&list, ',', &length);
	while (list && count < CP_MAX_MACHINES &&
		(piece = cp_next_piece(&list, ',', &length))) {
		if (!copy_name(name, sizeof(name), piece, length))
			continue;
		if (cp_machine_find(&machines[count], name, error, sizeof(error)) < 0) {
			complain(error);
			break; /* the others would have its number */
		}
		count++;
	}
	return count;
}

/* The first one's counts are in the header, but for the parts of a sample. */
static bool bind_item(struct cp_machine_item *item, uint32_t number)
{
	item->number = number;
	if (number && !cp_sim_bind_machine(number, item->process))
		return false;
	if (!cp_plan.sample.sets)
		return true;
	item->parts = CP_SAMPLE_WORDS;
	return cp_sim_bind_machine_sample(number, item + 1);
}

/* One after the other, until the tool has no more. */
void cp_compared_bind(void)
{
	bool sampled = cp_plan.sample.sets != 0;
	size_t parts = sampled ? CP_SAMPLE_WORDS * sizeof(uint64_t) : 0;
	struct cp_machine_item *item;

	if (!cp_env_get(CP_COMPARED))
		return;
	for (uint32_t number = !sampled; number < CP_MAX_MACHINES; number++) {
		item = cp_record_reserve(&cp_runtime.record, sizeof(*item) + parts);
		if (!item)
			return;
		if (!bind_item(item, number)) {
			cp_item_publish(item, CP_ITEM_PAD);
			return;
		}
		cp_item_publish(item, CP_ITEM_MACHINE);
	}
}
