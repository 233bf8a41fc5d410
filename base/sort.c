/* SPDX-License-Identifier: MIT */
#include "base/sort.h"

#include <stdint.h>
#include <string.h>

struct sorted {
	char *items;
	size_t size;
	cp_compare *compare;
};

static int compare_at(const struct sorted *s, size_t a, size_t b)
{
	return s->compare(s->items + a * s->size, s->items + b * s->size);
}

static void swap_items(const struct sorted *s, size_t a, size_t b)
{
	char item[CP_SORT_MOST];

	memcpy(item, s->items + a * s->size, s->size);
	memcpy(s->items + a * s->size, s->items + b * s->size, s->size);
	memcpy(s->items + b * s->size, item, s->size);
}

static void sift_down(const struct sorted *s, size_t root, size_t count)
{
	for (size_t child; (child = 2 * root + 1) < count; root = child) {
		if (child + 1 < count && compare_at(s, child, child + 1) < 0)
			child++;
		if (compare_at(s, root, child) >= 0)
			return;
		swap_items(s, root, child);
	}
}

void cp_sort_by(void *items, size_t count, size_t size, cp_compare *compare)
{
	const struct sorted sorted = {items, size, compare};

	for (size_t i = count / 2; i > 0; i--)
		sift_down(&sorted, i - 1, count);
	for (size_t end = count; end > 1; end--) {
		swap_items(&sorted, 0, end - 1);
		sift_down(&sorted, 0, end - 1);
	}
}

static int compare_keys(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

void cp_sort(void *items, size_t count, size_t size)
{
	cp_sort_by(items, count, size, compare_keys);
}
