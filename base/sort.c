/* SPDX-License-Identifier: MIT */
#include "base/sort.h"

#include <stdint.h>
#include <string.h>

static uint64_t key_of(const char *items, size_t size, size_t i)
{
	uint64_t value;

	memcpy(&value, items + i * size, sizeof(value));
	return value;
}

static void swap_items(char *items, size_t size, size_t a, size_t b)
{
	char item[CP_SORT_MOST];

	memcpy(item, items + a * size, size);
	memcpy(items + a * size, items + b * size, size);
	memcpy(items + b * size, item, size);
}

static void sift_down(char *items, size_t size, size_t root, size_t count)
{
	for (size_t child; (child = 2 * root + 1) < count; root = child) {
		if (child + 1 < count &&
			key_of(items, size, child) < key_of(items, size, child + 1))
			child++;
		if (key_of(items, size, root) >= key_of(items, size, child))
			return;
		swap_items(items, size, root, child);
	}
}

void cp_sort(void *items, size_t count, size_t size)
{
	for (size_t i = count / 2; i > 0; i--)
		sift_down(items, size, i - 1, count);
	for (size_t end = count; end > 1; end--) {
		swap_items(items, size, 0, end - 1);
		sift_down(items, size, 0, end - 1);
	}
}
